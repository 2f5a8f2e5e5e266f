/// Where the event is that a command has asked for: what an event would be without shaking, from onset to end with its
/// waveform, marked as a test. Its numbers are those of the ground. It uses up no dead time, an open event keeps it from
/// beginning, and a real one that begins ends it at once.
public enum TestEvent: Sendable, Equatable {
    /// Seconds from onset to end, unless events have to be shorter.
    public static let seconds = 5.0

    case none
    /// Begins with the next sample.
    case wanted
    /// It lasts for so many samples more.
    case on(_ id: String, left: Int)
    case over(_ id: String)
    /// A real event was first, or the samples ended.
    case refused

    var isOn: Bool { if case .on = self { true } else { false } }
    var isWanted: Bool { self == .wanted }
}
