import Messages

/// While there is no connection, one summary a minute is kept for later: the others only ever replace each other.
struct OfflineSummaries {
    private static let minute: Int64 = 60_000_000_000

    private let topic: String
    private let history: String
    private var lastMinute: Int64?

    init(topics: Topics) {
        topic = topics.summary
        history = topics.history(of: topics.summary)
    }

    /// The header under which to send a message again as history; nil: it is not to be kept.
    /// - Parameter now: of the monotonic clock (ns).
    mutating func header(
        for header: PublicationHeader, isConnected: @autoclosure () -> Bool, now: Int64
    ) -> PublicationHeader? {
        guard header.topic == topic else { return nil }
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
