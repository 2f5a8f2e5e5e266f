import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The frequencies that velocity is measured in, from a lower to an upper corner in Hz. The band of a standard is a value;
/// see ``all``.
public struct VibrationBand: Sendable, Equatable {
    /// As in the settings; nil: corners of one's own.
    public var name: String?
    /// Hz. Between 1.4 times the lower and 0.67 times the upper the amplitude of a sine is within 5 %.
    public var lower: Double
    public var upper: Double
    /// Corners (−3 dB) of the high pass and of the low pass, Butterworth of second order, Hz.
    public var highpass: Double
    public var lowpass: Double
    /// Where it is from.
    public var source: String

    /// All that have names.
    public static let all: [VibrationBand] = [.din, .din315, .machine]

    /// A band of one's own, whose filters are a third of an octave outside, as those of DIN 45669-1.
    public init(lower: Double, upper: Double) {
        self.init(
            name: nil, lower: lower, upper: upper, highpass: 0.8 * lower, lowpass: 1.25 * upper,
            source: "corners of the settings")
    }

    init(name: String?, lower: Double, upper: Double, highpass: Double, lowpass: Double, source: String) {
        (self.name, self.lower, self.upper, self.source) = (name, lower, upper, source)
        (self.highpass, self.lowpass) = (highpass, lowpass)
    }

    /// Samples per second that the band needs: its upper corner is at most 0.4 of the rate.
    public var rateNeeded: Double { upper / 0.4 }

    /// The three filters at a rate: high pass, low pass, and high pass with integration in one.
    /// - Throws: when the rate does not carry the band, or the corners are none.
    func design(rate: Double) throws(VibrationError) -> Design {
        guard rate.isFinite, rate > 0 else { throw .rate(rate) }
        guard lower > 0, lower < upper, upper.isFinite else { throw .corners(lower, upper) }
        // (A rate that was measured, 199.998 Hz, is as good as the nominal one.)
        guard rate >= rateNeeded * 0.995 else { throw .band(self, rate: rate) }
        let quality = 0.5.squareRoot()
        let high = AnalogueSection.highpass(highpass, quality: quality).bilinear(rate: rate)
        return Design(
            highpass: high, lowpass: AnalogueSection.lowpass(lowpass, quality: quality).matched(rate: rate),
            integral: high.integrated(rate: rate))
    }

    struct Design {
        var highpass: Section
        var lowpass: Section
        var integral: Section
    }
}

extension Section {
    /// A high pass of second order and the integral over time in one section. The integral is T (z + c)/((1 + c) (z − 1)), of
    /// the family of Al-Alaoui (Novel digital integrator and differentiator, Electronics Letters 29, 1993, with c = 1/7);
    /// c is such that the gain is exact at 0 and at 0.32 of the rate, and between them within 0.9 %, where the trapezoid
    /// alone is up to 36 % low. The pole of the integral and a zero of the high pass are the same and fall away, so that
    /// nothing can drift.
    fileprivate func integrated(rate: Double) -> Section {
        let half = 0.32 * Double.pi
        let (sine, ratio) = (sin(half), sin(half) / half)
        let q = (1 - ratio * ratio) / (4 * sine * sine)
        let c = (1 - 2 * q - (1 - 4 * q).squareRoot()) / (2 * q)
        return Section(b0: b0 / ((1 + c) * rate), beta1: b0 / rate, beta2: 0, e1: e1, e2: e2)
    }
}

/// Reason why vibration cannot be measured as it is asked for.
public enum VibrationError: Error, Sendable, Equatable {
    case rate(Double)
    /// Hz.
    case corners(Double, Double)
    /// The rate is too low for the band.
    case band(VibrationBand, rate: Double)
    /// The rate is too low for the weightings.
    case weighting(rate: Double)
    /// Seconds.
    case interval(Int)

    /// A sentence for people.
    public var message: String {
        switch self {
        case .rate(let rate): "\(shortText(rate)) is no sample rate."
        case .corners(let lower, let upper):
            "A band from \(shortText(lower)) to \(shortText(upper)) Hz does not rise."
        case .band(let band, let rate):
            "The band to \(shortText(band.upper)) Hz needs at least \(shortText(band.rateNeeded)) samples a second, and "
                + "this sensor has \(shortText(rate)): take a lower band, or raise sensor.rate_hz."
        case .weighting(let rate):
            "Weightings need at least \(shortText(FrequencyWeighting.leastRate)) samples a second, and this sensor has "
                + "\(shortText(rate)): raise sensor.rate_hz."
        case .interval(let seconds): "Intervals of \(seconds) s do not divide an hour from 10 s on."
        }
    }
}

extension VibrationBand {
    /// DIN 45669-1 (2010), range 1 to 80 Hz: what DIN 4150-2 and -3 are judged in.
    public static let din = VibrationBand(
        name: "din", lower: 1, upper: 80, highpass: 0.8, lowpass: 100, source: "DIN 45669-1, 1 to 80 Hz")

    /// DIN 45669-1 (2010), range 1 to 315 Hz, for blasting and fast rails.
    public static let din315 = VibrationBand(
        name: "din315", lower: 1, upper: 315, highpass: 0.8, lowpass: 400, source: "DIN 45669-1, 1 to 315 Hz")
}

extension VibrationBand {
    /// ISO 20816-1 and -3: velocity of machines from 10 to 1000 Hz, for those that turn faster than 600 a minute.
    public static let machine = VibrationBand(
        name: "machine", lower: 10, upper: 1000, highpass: 8, lowpass: 1250, source: "ISO 20816-3, 10 to 1000 Hz")
}
