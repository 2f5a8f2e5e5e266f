import SignalProcessing

/// How strongly people feel vibration of each frequency: the transfer function of ISO 2631-1 with the parameters of one
/// weighting, which is a value in a file of its own; see ``all``.
///
/// H = high pass (f₁, Q₁) · low pass (f₂, Q₁) · (1 + s/ω₃)/(1 + s/(Q₄ω₄) + s²/ω₄²) ·
/// K (s² + s ω₅/Q₅ + ω₅²)/(s² + s ω₆/Q₆ + ω₆²).
public struct FrequencyWeighting: Sendable, Equatable {
    /// As in the settings: `wk`.
    public var name: String
    /// As in the standard: `Wk`.
    public var title: String
    /// Band limits, Hz, and their quality.
    public var f1: Double
    public var f2: Double
    public var quality1: Double
    /// Transition from acceleration to velocity, Hz.
    public var f3: Double
    public var f4: Double
    public var quality4: Double
    /// Upward step; nil where there is none.
    public var step: Step?
    /// Where it is from.
    public var source: String

    public struct Step: Sendable, Equatable {
        /// Hz.
        public var f5: Double
        public var quality5: Double
        public var f6: Double
        public var quality6: Double
        /// Gain far above the step.
        public var gain: Double
    }

    /// Samples a second.
    public static let leastRate = 20.0

    /// All weightings.
    public static let all: [FrequencyWeighting] = [.wk, .wd, .wb, .wm]

    /// The analogue filter's parts, and how each becomes digital.
    private var parts: [(section: AnalogueSection, isMatched: Bool)] {
        let (w3, w4) = (2 * Double.pi * f3, 2 * Double.pi * f4)
        var parts = [
            (AnalogueSection.highpass(f1, quality: quality1), false),
            (AnalogueSection.lowpass(f2, quality: quality1), true),
            (AnalogueSection(n2: 0, n1: w4 * w4 / w3, n0: w4 * w4, frequency: f4, quality: quality4), true),
        ]
        if let step {
            let w = 2 * Double.pi * step.f5
            let analogue = AnalogueSection(
                n2: step.gain, n1: step.gain * w / step.quality5, n0: step.gain * w * w, frequency: step.f6,
                quality: step.quality6)
            parts.append((analogue, false))
        }
        return parts
    }

    /// The gain of the analogue filter at a frequency in Hz.
    public func gain(at f: Double) -> Double { parts.reduce(1) { $0 * $1.section.power(at: f).squareRoot() } }

    /// Second-order sections at a rate, whose gain is within 1.4 % of the analogue filter's to a third of the rate, from 50
    /// samples a second on; at 25 within 6 %.
    public func sections(rate: Double) throws(VibrationError) -> [Section] {
        guard rate.isFinite, rate >= Self.leastRate else { throw .weighting(rate: rate) }
        return parts.map { $0.isMatched ? $0.section.matched(rate: rate) : $0.section.bilinear(rate: rate) }
    }
}
