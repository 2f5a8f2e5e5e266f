import SignalProcessing

extension IntensityRelation {
    /// Gutenberg and Richter (1942, 1956), MMI from PGA.
    public static let gutenbergRichter = IntensityRelation("gutenberg_richter", .mmi) { pga, _ in
        IntensityEstimate(value: GutenbergRichter.mmi(pga: pga))
    }
}

/// Modified Mercalli Intensity from peak acceleration: log a = I/3 − 1/2, a in gal (Gutenberg and Richter, Earthquake
/// magnitude, intensity, energy, and acceleration, Bull. Seismol. Soc. Am. 32, 1942, and 46, 1956).
public enum GutenbergRichter {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 12.
    public static func mmi(pga: Double) -> Double {
        guard pga > 0 else { return 1 }
        return min(12, max(1, 3 * decimalLogarithm(pga * 100) + 1.5))
    }
}
