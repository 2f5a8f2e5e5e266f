import Messages
import Settings
import Spool
import Values

/// Messages that a reader has missed, on their way into the outbox once more. What is kept are the messages of events.
struct Resending: StorageTask {
    /// Events that are looked at in a round.
    static let eventsInARound = 32

    private let boot: String
    private let wanted: ClosedRange<Int>
    private let stream: String
    private let topics: Topics
    /// The newest first; nil before the beginning.
    private var events: ArraySlice<String>?
    /// Numbers that have been sent.
    private var sent: Set<Int> = []
    /// Events before the first that is wanted: their ends may have come later than its onset.
    private var before = 0

    init(stream: String, boot: String, wanted: ClosedRange<Int>, topics: Topics) {
        (self.stream, self.boot, self.wanted, self.topics) = (stream, boot, wanted, topics)
    }

    var topic: String? { sendsTo }

    private var sendsTo: String { topics.history(of: "\(topics.base)/\(stream)") }

    /// Whether anything of the stream is kept.
    private var isKept: Bool { topics.trigger == "\(topics.base)/\(stream)" }

    /// The number of a message of this run; nil: it is of another.
    private func number(of message: StoredMessage) -> Int? {
        guard let tree = try? JSONReader.read(message.payload), tree["boot"] == .string(boot) else { return nil }
        return tree["seq"]?.integer.flatMap { Int(exactly: $0) }
    }

    /// Returns the header of a message that is sent once more.
    private func header(_ message: StoredMessage) -> PublicationHeader {
        var header = message.header
        header.topic = topics.history(of: header.topic)
        (header.isHistory, header.expiry, header.event) = (true, nil, nil)
        // It can be asked for again.
        header.priority = .trace
        return header
    }

    /// - Parameter waiting: messages on the disk that the broker has yet to take.
    private func result(waiting: Int) -> Value {
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
            "topic": .string(sendsTo), "sent": .int(Int64(sent.count)), "gone": .array(gone),
            "waiting": .int(Int64(waiting)),
        ]
    }

    mutating func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        if events == nil { events = isKept ? try outbox.spool.events()[...] : [] }
        for _ in 0..<Self.eventsInARound {
            guard let event = events?.popFirst() else { break }
            guard let first = try outbox.spool.messages(of: event, .onset ... .end, count: 1).first,
                let begin = number(of: first), begin <= wanted.upperBound
            else { continue }
            if begin <= wanted.lowerBound { before += 1 }
            var key: Int64 = 0
            while let message = try outbox.spool.messages(of: event, .onset ... .end, after: key, count: 1).first {
                key = message.key
                guard let number = self.number(of: message), wanted.contains(number),
                    sent.insert(number).inserted
                else { continue }
                let header = self.header(message)
                _ = try message.payload.withBytes { bytes throws(SpoolError) in
                    try outbox.spool.put(header, bytes, made: wall)
                }
            }
            if before >= 3 || sent.count == wanted.count { events = [] }
        }
        try outbox.spool.commit()
        guard events?.isEmpty ?? true else { return nil }
        // (In two steps: Swift 6.0.3 ends where it is read in one.)
        let statistics = outbox.spool.statistics
        return .done(result(waiting: statistics.messages.total))
    }
}
