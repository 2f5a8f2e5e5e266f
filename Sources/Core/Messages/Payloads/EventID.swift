import Values

/// The rule for ids of events: a station's begins with the station's id and `-`, a network's with `net-`.
public enum EventID {
    /// 1 to 128 letters A-Z and a-z, digits, `_` and `-`.
    public static func isValid(_ text: String) -> Bool { text.isMade(1...128) { $0.isOfID } }

    public static func isOfNetwork(_ text: String) -> Bool {
        (5...64).contains(text.utf8.count) && text.utf8.starts(with: "net-".utf8) && isValid(text)
    }

    /// - Parameter station: its id.
    public static func isOf(station: String, _ text: String?) -> Bool {
        guard let text, isValid(text), text.utf8.starts(with: station.utf8) else { return false }
        return text.utf8.dropFirst(station.utf8.count).first == UInt8(ascii: "-")
    }
}

/// A network's confirmation of a station's event: others have seen the same earthquake, or it was none after all.
public struct EventConfirmation: Sendable, Equatable {
    /// The station's own id of its event.
    public var eventID: String
    public var networkEvent: String
    /// False when the network event turned out to be none, or not to have this event in it.
    public var isConfirmed: Bool

    public init(eventID: String, networkEvent: String, isConfirmed: Bool = true) {
        (self.eventID, self.networkEvent, self.isConfirmed) = (eventID, networkEvent, isConfirmed)
    }
}
