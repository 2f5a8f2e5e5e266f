import Glibc
import Propagation

/// Peak acceleration by magnitude and distance: Cua and Heaton (2009), "Characterizing average properties of southern
/// California ground motion amplitudes and envelopes", horizontal motion on soil, magnitudes 2 to 8, up to 200 km.
public enum MagnitudeRelation {
    static let name = "cua-heaton-2009-soil"
    static let range = 1.0...9.0
    /// Distances that the relation was made for, km.
    static let reach = 300.0

    private struct Coefficients {
        var a, b, c1, c2, d, e: Double
        /// Standard deviation of the logarithm (base 10) of the peak.
        var sigma: Double
    }

    private static let p = Coefficients(a: 0.74, b: 3.3e-3, c1: 2.41, c2: 0.95, d: 1.26, e: -1.05, sigma: 0.29)
    private static let s = Coefficients(
        a: 0.709, b: 2.3878e-3, c1: 1.722, c2: 0.956, d: 1.4386, e: -2.4525e-2, sigma: 0.3261)
    /// Standard deviation of the average of one earthquake, in units of magnitude; more stations do not reduce it.
    private static let between = 0.25

    private static func of(_ phase: Phase) -> Coefficients { phase == .p ? p : s }

    /// Logarithm (base 10) of the peak acceleration in cm/s².
    /// - Parameters:
    ///   - phase: P before the S wave has come, else S.
    ///   - distance: from the source, km.
    public static func logPeak(magnitude: Double, distance: Double, phase: Phase) -> Double {
        let k = of(phase)
        let near = k.c1 * exp(k.c2 * (magnitude - 5)) * (atan(magnitude - 5) + 1.4)
        let r = max(3, distance) + near
        return k.a * magnitude - k.b * r - k.d * log10(r) + k.e
    }

    /// The magnitude with which a peak is expected at a distance; the peak grows with the magnitude everywhere.
    /// - Parameter peak: m/s².
    static func magnitude(peak: Double, distance: Double, phase: Phase) -> Double {
        let wanted = log10(peak * 100)
        var (low, high) = (range.lowerBound, range.upperBound)
        for _ in 0..<40 {
            let middle = (low + high) / 2
            if logPeak(magnitude: middle, distance: distance, phase: phase) < wanted {
                low = middle
            } else {
                high = middle
            }
        }
        return (low + high) / 2
    }

    /// Median of the stations' magnitudes with its standard deviation, and never more than the station says that was shaken
    /// most; nil for fewer than four.
    static func estimate(_ peaks: [(peak: Double, distance: Double, phase: Phase)]) -> (value: Double, sigma: Double)? {
        let used = peaks.filter { $0.peak > 0 && $0.distance <= reach }
        guard used.count >= 4, let strongest = used.max(by: { $0.peak < $1.peak }) else { return nil }
        let each = used.map { magnitude(peak: $0.peak, distance: $0.distance, phase: $0.phase) }.sorted()
        let limit = magnitude(peak: strongest.peak, distance: strongest.distance, phase: strongest.phase)
        let median = min(limit, (each[(each.count - 1) / 2] + each[each.count / 2]) / 2)
        let spread = each.map { abs($0 - median) }.sorted()[each.count / 2] * 1.4826
        // The relation's own scatter is about 0.33 / 0.71 units of magnitude a station.
        let one = max(spread, s.sigma / s.a)
        return (median, (between * between + one * one * 1.57 / Double(each.count)).squareRoot())
    }
}
