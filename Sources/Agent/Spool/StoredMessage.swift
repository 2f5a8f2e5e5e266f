import Messages
import MiniSEED
import Values

/// A message as it was put into the spool.
public struct StoredMessage: Sendable, Equatable {
    /// Its number in the spool: rises for ever, and is never used again.
    public var key: Int64
    public var header: PublicationHeader
    public var payload: [UInt8]
    /// When it was made, nanoseconds of UTC.
    public var made: Int64

    /// Nil when the row is not what was written.
    init?(_ row: borrowing Statement) {
        guard let message = Self.read(row) else { return nil }
        self = message.message
    }

    /// A row, and what became of it by its checksum; nil: it is not what was written.
    static func read(_ row: borrowing Statement) -> (message: StoredMessage, state: Int)? {
        let fields = Fields(
            made: row.int64(1), topic: row.text(2), qos: row.int(3), retain: row.int(4) != 0, history: row.int(5) != 0,
            content: row.text(6), expiry: row.isNull(7) ? nil : row.int64(7),
            event: row.isNull(8) ? nil : (row.text(8), row.int(9)), sum: row.int64(10))
        return read(row.int64(0), fields, row.blob(11))
    }

    /// The same of a row as it stands in its page.
    /// - Parameter isOld: checksums do not tell what became of it.
    static func read(_ row: PageRecord, isOld: Bool) -> (message: StoredMessage, state: Int)? {
        guard row.isInt(2), row.isInt(4), row.isInt(5), row.isInt(6) else { return nil }
        let fields = Fields(
            made: row.int64(2), topic: row.text(3), qos: row.int(4), retain: row.int(5) != 0, history: row.int(6) != 0,
            content: row.text(7), expiry: row.isNull(8) ? nil : row.int64(8),
            event: row.isNull(9) ? nil : (row.text(9), row.int(10)), sum: row.int64(11))
        guard var found = row.blob(12).withUnsafeBytes({ read(row.key, fields, $0) }) else { return nil }
        if isOld { found.state = (0...2).contains(row.int(1)) ? row.int(1) : 0 }
        return found
    }

    private struct Fields {
        var made: Int64
        var topic: String
        var qos: Int
        var retain: Bool
        var history: Bool
        var content: String
        var expiry: Int64?
        var event: (id: String, part: Int)?
        var sum: Int64
    }

    private static func read(
        _ key: Int64, _ fields: Fields, _ payload: UnsafeRawBufferPointer
    ) -> (message: StoredMessage, state: Int)? {
        guard let table = Table(rawValue: Int(key & 3)), let content = StoredContent(fields.content) else { return nil }
        var header = PublicationHeader(
            topic: fields.topic, qos: fields.qos, retain: fields.retain, contentType: content.type,
            expiry: fields.expiry.map { UInt32(clamping: $0) }, priority: table.priority)
        header.correlation = content.correlation
        header.isHistory = fields.history
        if let event = fields.event, let part = EventMark.Part(rawValue: event.part) {
            header.event = EventMark(id: event.id, part: part)
        }
        let sum = checksum(key, header, payload, made: fields.made)
        guard let state = (0...2).first(where: { sum ^ mark(state: $0) == fields.sum }) else { return nil }
        return (StoredMessage(key: key, header: header, payload: [UInt8](payload), made: fields.made), state)
    }

    private init(key: Int64, header: PublicationHeader, payload: [UInt8], made: Int64) {
        (self.key, self.header, self.payload, self.made) = (key, header, payload, made)
    }

    /// Part of the checksum for a message's state (0 waits, 1 delivered, 2 refused), by exclusive or: a flipped bit
    /// does not make a waiting message a delivered one.
    static func mark(state: Int) -> Int64 { Int64(state) * 0x2A5A_5A5B }

    static func checksum(
        _ key: Int64, _ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, made: Int64
    ) -> Int64 {
        var sum = RowSum(key: key)
        sum.mix(made)
        sum.mix(UInt64(truncatingIfNeeded: header.qos) << 2 | (header.retain ? 2 : 0) | (header.isHistory ? 1 : 0))
        sum.mix(header.expiry.map { UInt64($0) + 1 } ?? 0)
        sum.mix(UInt64(checksum(StoredContent.text(header))))
        sum.mix(UInt64(checksum(header.topic)))
        if let event = header.event { sum.mix(UInt64(checksum(event.id)) << 3 | UInt64(event.part.rawValue) + 1) }
        sum.mix(payload)
        return sum.value
    }

    private static func checksum(_ text: String) -> UInt32 {
        var text = text
        return text.withUTF8 { CRC32C.checksum(UnsafeRawBufferPointer($0)) }
    }

    /// Checksum of a name and the value under it.
    static func checksum(_ name: String, _ value: UnsafeRawBufferPointer) -> Int64 {
        Int64(checksum(name) ^ CRC32C.checksum(value))
    }

    /// Size of a message for the budget.
    static func size(_ header: PublicationHeader, _ payload: Int) -> Int {
        payload + header.topic.utf8.count + Schema.overhead
    }
}

/// Which messages are asked for.
public enum SpoolLine: Sendable {
    /// Class 0: life cycle, replies, events and their waveforms.
    case essential
    /// Classes 1 and 2 together.
    case rest
}

/// Outcome of a message. (The link has more outcomes: whatever is not delivered and shall not be tried again is refused
/// here.)
public enum MessageFate: Sendable, Equatable {
    /// The broker has it.
    case delivered
    /// The broker does not want it, or never can have it.
    /// - Parameter reason: MQTT 5 reason code.
    case refused(reason: Int)
}

/// The content type of a message as it stands in a file: with the correlation data of a reply behind it, as a parameter
/// of the media type: `application/json;correlation=616263`.
struct StoredContent {
    private static let parameter = ";correlation="

    var type: ContentType
    var correlation: [UInt8]?

    /// Nil when the text is none.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else {
            guard let type = ContentType(rawValue: text) else { return nil }
            self.type = type
            return
        }
        let digits = bytes[end...].dropFirst(Self.parameter.utf8.count)
        guard let type = ContentType(rawValue: String(decoding: bytes[..<end], as: UTF8.self)),
            bytes[end...].starts(with: Self.parameter.utf8), digits.count % 2 == 0
        else { return nil }
        var correlation: [UInt8] = []
        var index = digits.startIndex
        while index < digits.endIndex {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else { return nil }
            correlation.append(high << 4 | low)
            index += 2
        }
        self.type = type
        self.correlation = correlation
    }

    static func text(_ header: PublicationHeader) -> String {
        guard let correlation = header.correlation else { return header.contentType.rawValue }
        var bytes = Array(header.contentType.rawValue.utf8) + Array(parameter.utf8)
        let digits = Array("0123456789abcdef".utf8)
        for byte in correlation {
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

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
