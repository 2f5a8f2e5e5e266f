import SignalProcessing

/// How strongly people feel vibration of each frequency: the transfer function of ISO 2631-1 with the parameters of one
/// weighting, which is a value; see ``all``.
///
/// H = high pass (f₁, Q₁) · low pass (f₂, Q₁) · (1 + s/ω₃)/(1 + s/(Q₄ω₄) + s²/ω₄²) ·
/// K (s² + s ω₅/Q₅ + ω₅²)/(s² + s ω₆/Q₆ + ω₆²).
public struct FrequencyWeighting: Sendable, Equatable {
    /// As in the settings: `wk`.
    public var name: String
    /// As in the standard: `Wk`.
    public var title: String
    /// Band limits, Hz, and their quality.
    var f1: Double
    var f2: Double
    var quality1: Double
    /// Transition from acceleration to velocity, Hz.
    var f3: Double
    var f4: Double
    var quality4: Double
    /// Upward step; nil where there is none.
    public var step: Step?
    /// Where it is from.
    public var source: String

    public struct Step: Sendable, Equatable {
        /// Hz.
        var f5: Double
        var quality5: Double
        var f6: Double
        var quality6: Double
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

extension FrequencyWeighting {
    /// Vertical, of people who sit, stand or lie: ISO 2631-1:1997, table A.1.
    public static let wk = FrequencyWeighting(
        name: "wk", title: "Wk", f1: 0.4, f2: 100, quality1: 0.71, f3: 12.5, f4: 12.5, quality4: 0.63,
        step: .init(f5: 2.37, quality5: 0.91, f6: 3.35, quality6: 0.91, gain: 1), source: "ISO 2631-1:1997, table A.1")
}

extension FrequencyWeighting {
    /// Horizontal, of people who sit, stand or lie: ISO 2631-1:1997, table A.1.
    public static let wd = FrequencyWeighting(
        name: "wd", title: "Wd", f1: 0.4, f2: 100, quality1: 0.71, f3: 2, f4: 2, quality4: 0.63, step: nil,
        source: "ISO 2631-1:1997, table A.1")
}

extension FrequencyWeighting {
    /// Vertical, of people in buildings and on rails: BS 6841:1987, BS 6472-1:2008. The gain far above its step is 1.024, so
    /// that it is K = 0.4 far below it, as the standard writes it: 1.024 · (2.5/4)² = 0.4.
    public static let wb = FrequencyWeighting(
        name: "wb", title: "Wb", f1: 0.4, f2: 100, quality1: 0.71, f3: 16, f4: 16, quality4: 0.55,
        step: .init(f5: 2.5, quality5: 0.9, f6: 4, quality6: 0.95, gain: 1.024), source: "BS 6841:1987, table 3")
}

extension FrequencyWeighting {
    /// In buildings, whichever way people sit or lie: ISO 2631-2:2003, annex A.
    public static let wm = FrequencyWeighting(
        name: "wm", title: "Wm", f1: 0.7943, f2: 100, quality1: 0.71, f3: 5.684, f4: 5.684, quality4: 0.5, step: nil,
        source: "ISO 2631-2:2003, annex A")
}
