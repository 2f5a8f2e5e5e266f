/// How old messages are at least, in time that the agent has measured by a clock that never jumps, while it ran. The clock
/// of the day has no part in it: one that is years ahead (the week number of GPS starts anew every 19.6 years), that was
/// never set, or that is put right later makes no message older or younger. Pure.
///
/// Now and then a mark says which number the next message was to get; every message below it was there at that time.
struct MessageAges: Equatable {
    private struct Mark: Equatable {
        var number: Int64
        /// Value of `ran` (ns).
        var ran: Int64
    }

    /// More are not needed for ages that are right to a fiftieth of what is asked for.
    private static let most = 64
    static let hour: Int64 = 3_600_000_000_000

    /// Nanoseconds that the agent has run since the file was begun.
    private(set) var ran: Int64 = 0
    private var marks: [Mark] = []
    /// When it was looked at last, by that clock; nil: not by this process.
    private var looked: Int64?
    /// `ran` as the file has it.
    private var saved: Int64 = 0

    init() {}

    /// As ``numbers`` says; without any, and with such as make no sense, all begins anew.
    init(_ numbers: [Int64]) {
        guard let first = numbers.first, first >= 0, numbers.count % 2 == 1 else { return }
        var found: [Mark] = []
        for index in stride(from: 1, to: numbers.count, by: 2) {
            let mark = Mark(number: numbers[index], ran: numbers[index + 1])
            let last = found.last ?? Mark(number: 0, ran: 0)
            guard mark.number >= last.number, mark.ran >= last.ran, mark.ran <= first else { return }
            found.append(mark)
        }
        (ran, saved, marks) = (first, first, found)
    }

    var numbers: [Int64] { [ran] + marks.flatMap { [$0.number, $0.ran] } }

    /// The agent has run so long at least (ns), as something else in the file says.
    mutating func goOn(from ran: Int64) { self.ran = max(self.ran, ran) }

    /// - Parameters:
    ///   - now: of a clock that never jumps (ns); what it was when the process before this one ended is of no interest.
    ///   - next: the number of the next message.
    ///   - keep: the age that will be asked for (ns).
    /// - Returns: whether it is to be saved.
    mutating func look(now: Int64, next: Int64, keep: Int64) -> Bool {
        if let looked, now > looked {
            let (passed, overflow) = now.subtractingReportingOverflow(looked)
            ran = overflow ? .max : ran &+ min(passed, .max - ran)
        }
        looked = max(now, looked ?? now)
        let isDue = marks.last.map { ran - $0.ran >= (keep > 0 ? keep / 48 : Self.hour) } ?? true
        if isDue {
            marks.append(Mark(number: next, ran: ran))
            // Of those that are old enough the youngest says it all.
            while marks.count > 1, ran - marks[1].ran >= keep { marks.removeFirst() }
            if marks.count > Self.most { marks.remove(at: 1) }
        }
        guard isDue || ran - saved >= Self.hour else { return false }
        saved = ran
        return true
    }

    /// Messages below this number are that old; nil: none is known to be.
    func limit(age: Int64) -> Int64? { age > 0 ? marks.last { ran - $0.ran >= age }?.number : .max }

    /// How old the message of a number is at least (ns).
    func age(of number: Int64) -> Int64 { marks.first { $0.number > number }.map { ran - $0.ran } ?? 0 }
}
