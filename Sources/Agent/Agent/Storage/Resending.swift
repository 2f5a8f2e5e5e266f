import Messages
import Settings
import Spool

/// Messages that a reader has missed, on their way into the outbox once more. What is kept are the messages of events.
struct Resending {
    /// Events that are looked at in a round.
    static let eventsInARound = 32

    let number: Int
    let boot: String
    let wanted: ClosedRange<Int>
    private let stream: String
    private let topics: Topics
    /// The newest first; nil before the beginning.
    var events: ArraySlice<String>?
    /// Numbers that have been sent.
    var sent: Set<Int> = []
    /// Events before the first that is wanted: their ends may have come later than its onset.
    var before = 0

    init(number: Int, stream: String, boot: String, wanted: ClosedRange<Int>, topics: Topics) {
        (self.number, self.stream, self.boot, self.wanted, self.topics) = (number, stream, boot, wanted, topics)
    }

    var topic: String { topics.history(of: "\(topics.base)/\(stream)") }

    /// Whether anything of the stream is kept.
    var isKept: Bool { topics.trigger == "\(topics.base)/\(stream)" }

    /// The number of a message of this run; nil: it is of another.
    func number(of message: StoredMessage) -> Int? {
        guard let tree = try? JSONReader.read(message.payload), tree["boot"] == .string(boot) else { return nil }
        return tree["seq"]?.integer.flatMap { Int(exactly: $0) }
    }

    /// How a message travels once more.
    func header(_ message: StoredMessage) -> PublicationHeader {
        var header = message.header
        header.topic = topics.history(of: header.topic)
        (header.isHistory, header.expiry, header.event) = (true, nil, nil)
        // It can be asked for again.
        header.priority = .trace
        return header
    }

    /// - Parameter waiting: messages on the disk that the broker has yet to take.
    func result(waiting: Int) -> Value {
        var gone: [Value] = []
        var first: Int?
        for number in wanted.lowerBound...wanted.upperBound + 1 {
            let isMissing = wanted.contains(number) && !sent.contains(number)
            if isMissing {
                first = first ?? number
            } else if let begin = first {
                gone.append([.int(Int64(begin)), .int(Int64(number - 1))])
                first = nil
            }
        }
        return [
            "topic": .string(topic), "sent": .int(Int64(sent.count)), "gone": .array(gone),
            "waiting": .int(Int64(waiting)),
        ]
    }
}

extension Outbox {
    /// Goes on with it.
    mutating func step(_ one: inout Resending, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        if one.events == nil { one.events = one.isKept ? try spool.events()[...] : [] }
        for _ in 0..<Resending.eventsInARound {
            guard let event = one.events?.popFirst() else { break }
            guard let first = try spool.messages(of: event, .onset ... .end, count: 1).first,
                let begin = one.number(of: first), begin <= one.wanted.upperBound
            else { continue }
            if begin <= one.wanted.lowerBound { one.before += 1 }
            var key: Int64 = 0
            while let message = try spool.messages(of: event, .onset ... .end, after: key, count: 1).first {
                key = message.key
                guard let number = one.number(of: message), one.wanted.contains(number),
                    one.sent.insert(number).inserted
                else { continue }
                let header = one.header(message)
                _ = try message.payload.withBytes { bytes throws(SpoolError) in
                    try spool.put(header, bytes, made: wall)
                }
            }
            if one.before >= 3 || one.sent.count == one.wanted.count { one.events = [] }
        }
        try spool.commit()
        guard one.events?.isEmpty ?? true else { return nil }
        // (In two steps: Swift 6.0.3 ends where it is read in one.)
        let statistics = spool.statistics
        return .done(one.result(waiting: statistics.messages.total))
    }
}
