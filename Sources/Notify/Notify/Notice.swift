/// A message for somebody, ready to be sent.
public struct Notice: Sendable, Equatable {
    public enum Priority: Int, Sendable { case low = 2, ordinary = 3, high = 4, urgent = 5 }

    /// Name of the recipient.
    public var recipient: String
    /// Its subject; a later edition takes the place of an earlier one.
    public var key: String
    public var edition: Int
    public var title: String
    public var text: String
    public var priority: Priority
    /// Address that a click opens; empty: nothing.
    public var click: String

    public init(
        recipient: String, key: String, edition: Int, title: String, text: String, priority: Priority, click: String
    ) {
        (self.recipient, self.key, self.edition) = (recipient, key, edition)
        (self.title, self.text, self.priority, self.click) = (title, text, priority, click)
    }
}

/// When something that could not be sent is tried again.
public enum RetryPolicy {
    /// Longest time for which delivery is tried, ns.
    public static let longest: Int64 = 86_400_000_000_000

    /// The pause after so many attempts that failed, ns: 30 s, twice the one before, at most 30 minutes.
    public static func pause(after attempts: Int) -> Int64 {
        min(1800, 30 << Int64(min(max(attempts - 1, 0), 10))) * 1_000_000_000
    }

    /// - Returns: the time of the next attempt; nil when it is given up.
    public static func next(first: Int64, attempts: Int, now: Int64) -> Int64? {
        let due = now + pause(after: attempts)
        return due - first > longest ? nil : due
    }
}
