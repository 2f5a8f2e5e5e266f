import MQTT

/// How long a detector waits for messages.
enum Pause {
    /// Seconds at most.
    private static let longest = 0.2

    /// Seconds until there is something to do without a message.
    /// - Parameter due: when time alone brings something next, nanoseconds of UTC; nil: not before another message.
    static func until(_ due: Int64?) -> Double {
        guard let due else { return longest }
        // (A millisecond later, so that it is due then.)
        return min(longest, max(0, Double(due - realNanoseconds()) / 1e9) + 0.001)
    }
}
