#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A notch of second order: gain 0 at one frequency, 1 far from it, 3 dB down at the edges of a band that is as wide as
/// that frequency divided by the quality. Frequency and width are
/// exact at any sample rate (Orfanidis, Introduction to Signal Processing, 1996), as in SciPy's `iirnotch`.
public struct NotchSpecification: FilterKind {
    public static let name = "notch"
    public static let title = "Notch"
    public static let help = "Takes out one frequency, such as the 50 or 60 Hz of the mains."

    /// Hz.
    public var frequency = 50.0
    /// The frequency divided by the width of what is at least 3 dB down. A narrow notch takes long to settle: about as many
    /// periods as this says.
    public var quality = 30.0
    public var start = FilterStart.zero

    public init() {}

    public init(frequency: Double, quality: Double = 30, start: FilterStart = .zero) {
        (self.frequency, self.quality, self.start) = (frequency, quality, start)
    }

    public mutating func parameters(_ p: inout FilterParameters) {
        p.frequency("frequency_hz", &frequency, "The frequency", "The frequency that is taken out.")
        p.number(
            "quality", &quality, .from(2, to: 1000), required: false,
            "That frequency divided by the width of the notch, where it is 3 dB down.")
        p.word("start", &start, only: FilterStart.allCases, required: false, FilterStart.help)
    }

    /// With s = 4 sin²(ω/2), tan of half of the bandwidth t and g = 1/(1 + t) the section is
    /// g (δ² + sδ + s) / (δ² + g(2t + s)δ + gs): no digit is lost however low the frequency is.
    public func design(rate: Double) throws(FilterDesignError) -> FilterSpecification.Design {
        try FilterDesignError.check(corner: frequency, rate: rate)
        let t = tan(Double.pi * frequency / quality / rate)
        let half = sin(Double.pi * frequency / rate)
        let (g, s) = (1 / (1 + t), 4 * half * half)
        return .init([Section(b0: g, beta1: g * s, beta2: g * s, e1: g * (2 * t + s), e2: g * s)], start: start)
    }
}
