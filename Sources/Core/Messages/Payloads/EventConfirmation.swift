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

    /// Whether this can be the id of a network event.
    public static func isName(_ text: String) -> Bool {
        text.hasPrefix("net-") && (5...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
            }
    }
}
