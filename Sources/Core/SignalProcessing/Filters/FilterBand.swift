/// Which frequencies a filter lets through.
public enum FilterBand: String, Sendable, CaseIterable {
    case lowpass, highpass, bandpass, bandstop

    /// Whether it has two corners.
    public var hasTwoCorners: Bool { self == .bandpass || self == .bandstop }
}

/// How a filter's delays are filled before the first sample and after a gap.
public enum FilterStart: String, Sendable, CaseIterable {
    /// All delays are zero.
    case zero
    /// As if the first sample had been the input for ever: no transient for a constant input.
    case steady

    /// For people.
    static let help = "The delays before the first sample: zero, or as if that sample had been the input for ever."
}
