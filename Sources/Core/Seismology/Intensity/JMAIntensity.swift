import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension IntensityScale {
    /// Japan Meteorological Agency, 0 to 7, with 5 and 6 in two halves, by the bounds of the notification of 1996; the
    /// agency's own colours for its maps, which have none for 0.
    public static let jma = IntensityScale(
        "jma", grades: japaneseGrades,
        colors: [
            nil, "#f2f2ff", "#00aaff", "#0041ff", "#fae696", "#ffe600", "#ff9900", "#ff2800", "#a50021", "#b40068",
        ]
    ) { gradeStep($0, halfBelow: 0.5) }

    static let japaneseGrades = ["0", "1", "2", "3", "4", "5-", "5+", "6-", "6+", "7"]

    /// Grades 1 to 4 begin at whole numbers less `halfBelow`; 5-, 5+, 6-, 6+ and 7 each half a step apart from there.
    static func gradeStep(_ value: Double, halfBelow: Double) -> Int {
        let x = value + halfBelow
        guard x >= 1 else { return 0 }
        return x < 5 ? Int(x) : min(9, Int(2 * min(x, 7)) - 5)
    }
}

extension IntensityRelation {
    /// The Japan Meteorological Agency's instrumental intensity, from the waveform; see ``JMAIntensity``.
    public static let jma = IntensityRelation("jma", .jma) { _, _ in nil }
}

/// Instrumental seismic intensity of the Japan Meteorological Agency (notification no. 4 of 1996-02-15): each component's
/// Fourier transform is weighted by ``gain(_:)``, the three are put together as a vector, a₀ is the amplitude that is
/// exceeded for 0.3 s in total, and I = 2 log₁₀ a₀ + 0.94 with a₀ in gal.
public enum JMAIntensity {
    /// Shorter than this there is no intensity, s.
    public static let shortest = 3.0

    /// The weight of a frequency (Hz): effect of period, high cut, low cut.
    public static func gain(_ frequency: Double) -> Double {
        guard frequency > 0 else { return 0 }
        let y = frequency * frequency / 100
        let high = 1 + y * (0.694 + y * (0.241 + y * (0.0557 + y * (0.009664 + y * (0.00134 + y * 0.000155)))))
        let low = -expm1(-8 * frequency * frequency * frequency)
        return (low / (frequency * high)).squareRoot()
    }

    /// How many samples of the vector are as large as a₀ or larger: round(0.3 s × rate), at least 1.
    public static func rank(rate: Double) -> Int { max(1, Int((0.3 * rate).rounded())) }

    /// The intensity before it is rounded; motion below 10⁻⁵ gal, which no sensor shows, counts as that.
    /// - Parameter a0: m/s².
    public static func raw(a0: Double) -> Double { 2 * decimalLogarithm(max(1e-7, a0) * 100) + 0.94 }

    /// The intensity as it is reported: the third decimal rounded, then the second cut.
    public static func reported(_ raw: Double) -> Double { ((raw * 100).rounded() / 10).rounded(.down) / 10 }
}
