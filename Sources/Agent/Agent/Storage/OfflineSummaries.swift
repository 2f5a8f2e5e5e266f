import Messages

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
