import Messages
import Settings
import Values

/// An event that a run of this station before the present one left open, as the broker has it on `event/current`: nothing
/// of it is believed that is not as this station writes it.
public struct LeftOpenEvent: Sendable, Equatable {
    /// Bytes of the longest message that is looked at; the agent's own are shorter.
    public static let limit = 32 << 10

    public let id: String
    /// The run that it is of, and the number of its newest message.
    public let boot: String
    public let number: Int64
    /// Time of the onset (ns of UTC).
    public let onset: Int64
    /// The message: an onset or an update.
    public let payload: [UInt8]

    /// Nil: it is not one of this station, not open, or of the present run.
    /// - Parameters:
    ///   - topics: of this station.
    ///   - boot: of the present run.
    public init?(_ message: InboundMessage, topics: Topics, boot: String) {
        guard message.topic == topics.current, !message.isTooLarge, (1...Self.limit).contains(message.payload.count),
            let tree = try? JSONReader.read(message.payload), case .object = tree,
            let event = StationEventReading(tree), event.station == topics.id,
            event.kind == .onset || event.kind == .update, event.eventID == topics.eventID(onset: event.onset),
            let run = tree["boot"]?.rawText, run != boot,
            Self.isID(run), let number = tree["seq"]?.integer, (0..<1 << 53).contains(number)
        else { return nil }
        (id, self.boot, self.number, onset) = (event.eventID, run, number, event.onset)
        payload = message.payload
    }

    /// Whether a message is the end of this very event, and not older than what is known of it.
    public func isEnded(by end: [UInt8]) -> Bool {
        guard let tree = try? JSONReader.read(end), tree["event_type"]?.rawText == "end", tree["boot"]?.rawText == boot,
            let last = tree["seq"]?.integer
        else { return false }
        return last > number
    }

    /// As runs are named: 32 hexadecimal digits and four hyphens.
    private static func isID(_ text: String) -> Bool {
        text.isMade(36...36) { $0.isDigit || (0x61...0x66).contains($0) || $0 == 0x2D }
    }
}
