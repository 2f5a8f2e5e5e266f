/// Number of messages that are taken together, so that a batch takes no longer than a wanted time: a service looks at its
/// signals, its timers and its health socket only between two batches.
///
/// A batch begins at the largest number, where one commit of the database serves many messages. A batch that took too long
/// makes the next one smaller in proportion; a fast one lets it grow by half at most.
public struct BatchLimit: Sendable {
    /// Most messages of the next batch, from 1 to ``largest``.
    public private(set) var count: Int
    private let largest: Int
    private let wanted: Double

    /// - Parameters:
    ///   - largest: messages that are never exceeded, at least 1.
    ///   - wanted: seconds that a batch may take, above 0.
    public init(largest: Int, wanted: Double) {
        (count, self.largest, self.wanted) = (largest, largest, wanted)
    }

    /// Takes what the last batch has cost.
    ///
    /// - Parameters:
    ///   - messages: how many there were.
    ///   - seconds: time that they took.
    public mutating func took(_ messages: Int, seconds: Double) {
        guard messages > 0, seconds > 0 else { return }
        let fitting = Double(messages) * wanted / seconds
        // (A small batch tells little of a large one.)
        let most = max(Double(count), 1.5 * Double(messages))
        count = max(1, min(largest, Int(min(fitting, most))))
    }
}
