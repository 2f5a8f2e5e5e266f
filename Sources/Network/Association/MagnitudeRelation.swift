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
    private static let between = 0.2

    /// Standard deviation of a station within one earthquake, in units of magnitude: what the relation's own scatter leaves. It
    /// counts as much as the scatter of so many stations.
    private static let within = ((s.sigma / s.a) * (s.sigma / s.a) - between * between).squareRoot()
    private static let believed = 3.0

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

    /// Whether a peak is within two standard deviations of what is expected.
    /// - Parameters:
    ///   - peak: m/s².
    ///   - distance: from the source, km.
    static func isUsual(_ peak: Double, magnitude: Double, distance: Double, phase: Phase) -> Bool {
        guard peak > 0, distance <= reach else { return false }
        let expected = logPeak(magnitude: magnitude, distance: distance, phase: phase)
        return abs(log10(peak * 100) - expected) <= 2 * of(phase).sigma
    }

    /// Median of the stations' magnitudes with its standard deviation, and never more than the station says that was shaken
    /// most; nil for fewer than four.
    static func estimate(_ peaks: [(peak: Double, distance: Double, phase: Phase)]) -> (value: Double, sigma: Double)? {
        let used = peaks.filter { $0.peak > 0 && $0.distance <= reach }
        guard used.count >= 4, let strongest = used.max(by: { $0.peak < $1.peak }) else { return nil }
        let each = used.map { magnitude(peak: $0.peak, distance: $0.distance, phase: $0.phase) }.sorted()
        let limit = magnitude(peak: strongest.peak, distance: strongest.distance, phase: strongest.phase)
        let middle = min(limit, median(each))
        let spread = each.map { abs($0 - middle) }.sorted()[each.count / 2] * 1.4826
        // The scatter of few stations says little of the relation's.
        let others = Double(each.count - 1)
        let square = (others * spread * spread + believed * within * within) / (others + believed)
        return (middle, (between * between + square * 1.57 / Double(each.count)).squareRoot())
    }

    /// A station's peak, and where the station is.
    struct Observation {
        var place: Place
        /// m/s².
        var peak: Double
        var phase: Phase
    }

    /// - Parameter sorted: at least one.
    private static func median(_ sorted: [Double]) -> Double {
        (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// Stations whose magnitudes are computed for each source that is possible.
    private static let mostStations = 40

    /// Standard deviation that the magnitude has because the earthquake may have been at any of some sources instead of at the
    /// one that it is computed with.
    static func sigma(of observations: [Observation], at candidates: [Location.Candidate]) -> Double {
        let peaks = observations.filter { $0.peak > 0 }
        let step = max(1, (peaks.count + mostStations - 1) / mostStations)
        let used = stride(from: 0, to: peaks.count, by: step).map { peaks[$0] }
        return Locator.sigma(
            candidates.compactMap { one in
                let each = used.compactMap { station -> Double? in
                    let distance = station.place.distance(to: one.place)
                    let slant = (distance * distance + one.depth * one.depth).squareRoot()
                    return slant <= reach ? magnitude(peak: station.peak, distance: slant, phase: station.phase) : nil
                }.sorted()
                return each.isEmpty ? nil : median(each)
            })
    }
}
