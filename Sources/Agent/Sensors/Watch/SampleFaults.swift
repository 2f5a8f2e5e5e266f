/// Faults in the samples of a sensor that does send some.
public struct SampleFaults: OptionSet, Sendable, Equatable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// All axes have given the same values for so long that no sensor with noise does: the numbers say nothing.
    public static let stuck = SampleFaults(rawValue: 1)
    /// One or two axes have, while another moves.
    public static let axisStuck = SampleFaults(rawValue: 2)
    /// A good part of each second is at full scale.
    public static let saturated = SampleFaults(rawValue: 4)
    /// At rest something else than gravity, or no numbers at all: the numbers say nothing.
    public static let implausible = SampleFaults(rawValue: 8)
}
