/// What a person asks of a filter, free of any sample rate.
public indirect enum FilterSpecification: Sendable, Equatable {
    /// Pass-through.
    case none
    /// A digital Butterworth filter (bilinear transform, prewarped corners).
    case butterworth(ButterworthSpecification)
    /// One of Apple's first-order filters.
    case simple(SimpleSpecification)
    /// A filter of the app Shake, by its name.
    case shake(ShakeFilter)
    /// Several filters in series, first to last; at most 8.
    case chain([FilterSpecification])
}

/// Which frequencies a filter lets through.
public enum FilterBand: String, Sendable, CaseIterable {
    case lowpass, highpass, bandpass, bandstop
}

/// How a filter's delays are filled before the first sample and after a gap.
public enum FilterStart: String, Sendable, CaseIterable {
    /// All delays are zero.
    case zero
    /// As if the first sample had been the input for ever: no transient for a constant input.
    case steady
}

/// A Butterworth filter: the prototype's order, so that band filters have twice as many poles.
public struct ButterworthSpecification: Sendable, Equatable {
    public var band: FilterBand
    /// Corner frequencies in Hz, −3 dB points, rising: one for low and high pass, two for band filters.
    public var corners: [Double]
    /// Order of the analogue prototype, 1 to 10.
    public var order: Int
    public var start: FilterStart

    public init(band: FilterBand, corners: [Double], order: Int, start: FilterStart = .zero) {
        self.band = band
        self.corners = corners
        self.order = order
        self.start = start
    }
}
