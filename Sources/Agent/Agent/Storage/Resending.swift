import MQTT
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
        guard let stamp = (try? JSONReader.read(message.payload)).map(MessageStamp.init), stamp.boot == boot else {
            return nil
        }
        return stamp.number
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

/// Which messages on disk the link has in memory, and up to where it has been offered the others. Pure.
struct Backfill {
    /// Bytes of each message that is on disk and in memory, by its key.
    private var inMemory: [Int64: Int] = [:]
    private var essentialCursor: Int64 = 0
    private var restCursor: Int64 = 0
    /// The first of those that are not to be offered now.
    private var heldEssential = Int64.max
    private var heldRest = Int64.max
    /// Number of connections that ended over each message.
    private var strikes: [Int64: Int] = [:]
    private(set) var bytes = 0

    /// Messages that are in memory as well.
    var count: Int { inMemory.count }

    func isInMemory(_ key: Int64) -> Bool { inMemory[key] != nil }

    /// Key after which to look for messages that have not been offered.
    func cursor(_ line: SpoolLine) -> Int64 {
        switch line {
        case .essential: essentialCursor
        case .rest: restCursor
        }
    }

    /// A live message has been written down and waits in memory.
    mutating func took(_ key: Int64, bytes: Int) {
        if inMemory.updateValue(bytes, forKey: key) == nil { self.bytes += bytes }
    }

    /// A message on disk was taken by the link.
    mutating func offered(_ key: Int64, _ line: SpoolLine, bytes: Int) {
        took(key, bytes: bytes)
        passed(key, line)
    }

    /// A message on disk needs no offer.
    mutating func passed(_ key: Int64, _ line: SpoolLine) {
        switch line {
        case .essential: essentialCursor = max(essentialCursor, key)
        case .rest: restCursor = max(restCursor, key)
        }
    }

    /// Offers all messages again that are not in memory.
    mutating func beginAnew() {
        (essentialCursor, restCursor) = (0, 0)
        (heldEssential, heldRest) = (.max, .max)
    }

    /// A message on disk is not to be offered until `rewind`.
    mutating func held(_ key: Int64, _ line: SpoolLine) {
        passed(key, line)
        switch line {
        case .essential: heldEssential = min(heldEssential, key)
        case .rest: heldRest = min(heldRest, key)
        }
    }

    /// Looks at held messages again.
    mutating func rewind() {
        // (Keys begin above 0.)
        if heldEssential < .max { essentialCursor = min(essentialCursor, heldEssential - 1) }
        if heldRest < .max { restCursor = min(restCursor, heldRest - 1) }
        (heldEssential, heldRest) = (.max, .max)
    }

    /// A connection ended over this message.
    /// - Returns: false when that has happened too often, or to too many.
    mutating func struck(_ key: Int64) -> Bool {
        let count = strikes[key, default: 0] + 1
        guard count < 10, strikes.count < 64 || count > 1 else {
            strikes[key] = nil
            return false
        }
        strikes[key] = count
        return true
    }

    func isStruck(_ key: Int64) -> Bool { strikes[key] != nil }

    /// Memory has let a message go.
    /// - Parameter isDisplaced: it was not delivered, and is to be offered again.
    mutating func settled(_ key: Int64, isDisplaced: Bool) {
        if let size = inMemory.removeValue(forKey: key) { bytes -= size }
        guard isDisplaced else { return }
        // Which line it belongs to the disk knows: both look again.
        essentialCursor = min(essentialCursor, key - 1)
        restCursor = min(restCursor, key - 1)
    }
}

/// While there is no connection, one summary a minute is kept for later: the others only ever replace each other.
struct OfflineSummaries {
    private static let minute: Int64 = 60_000_000_000

    private let topics: Topics
    /// End of the topic of summaries, below any root.
    private let ending: String
    private var topic: String
    private var history: String
    private var lastMinute: Int64?

    init(topics: Topics) {
        self.topics = topics
        ending = "/\(topics.id)/state/summary"
        topic = topics.summary
        history = topics.history(of: topics.summary)
    }

    /// The header under which to send a message again as history; nil: it is not to be kept.
    /// - Parameter now: of the monotonic clock (ns).
    mutating func header(
        for header: PublicationHeader, isConnected: @autoclosure () -> Bool, now: Int64
    ) -> PublicationHeader? {
        if header.topic != topic {
            guard header.retain, header.topic.hasSuffix(ending) else { return nil }
            // The root has changed.
            topic = header.topic
            history = topics.history(of: topic)
        }
        if isConnected() {
            lastMinute = nil
            return nil
        }
        if let last = lastMinute, now < last + Self.minute { return nil }
        // The first one of an outage is of no use for a blip: it comes with the first full minute.
        defer { lastMinute = now }
        guard lastMinute != nil else { return nil }
        var late = header
        late.topic = history
        late.retain = false
        late.qos = 1
        late.isHistory = true
        return late
    }
}

/// How messages ended with a broker that is on trial: it counts when the change of settings that named the broker is
/// confirmed, and never did when it is taken back. Until then all of them stay on the disk. Pure.
struct TrialDeliveries {
    /// So many are remembered; what is more is sent again after the trial, whatever becomes of it.
    static let limit = 4096

    enum Verdict: Equatable {
        /// It ended so.
        case counts(Settlement.Outcome)
        /// The outcome is open until the end of the trial.
        case waits
        /// It never happened: to be sent again.
        case isVoid
    }

    /// Number of the change that is on trial; 0: none is.
    private(set) var trial = 0
    /// Number of the trial that was confirmed last.
    private var confirmed = 0
    private var held: [Int64: Settlement.Outcome] = [:]

    var isFull: Bool { held.count >= Self.limit }

    /// The broker on trial has had this one.
    func holds(_ key: Int64) -> Bool { held[key] != nil }

    /// A message has ended with the broker of a trial.
    mutating func take(_ key: Int64, _ outcome: Settlement.Outcome, trial number: Int) -> Verdict {
        if number == confirmed { return .counts(outcome) }
        guard number == trial else { return .isVoid }
        if !isFull { held[key] = outcome }
        return .waits
    }

    /// - Returns: nil: nothing has changed; else what counts now: everything else that is on the disk and not in memory is to
    ///   be sent again.
    mutating func change(trial new: Int, confirmed number: Int) -> [Settlement]? {
        confirmed = number
        guard new != trial else { return nil }
        defer { (trial, held) = (new, [:]) }
        guard trial != 0 else { return nil }
        return trial == number ? held.sorted { $0.key < $1.key }.map { Settlement(key: $0.key, outcome: $0.value) } : []
    }
}
