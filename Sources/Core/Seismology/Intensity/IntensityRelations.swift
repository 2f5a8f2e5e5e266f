import SignalProcessing

extension IntensityRelation {
    /// Gutenberg and Richter (1942, 1956), MMI from PGA.
    public static let gutenbergRichter = IntensityRelation("gutenberg_richter", .mmi) { pga, _ in
        IntensityEstimate(value: GutenbergRichter.mmi(pga: pga))
    }
}

/// Modified Mercalli Intensity from peak acceleration: log a = I/3 − 1/2, a in gal (Gutenberg and Richter, Earthquake
/// magnitude, intensity, energy, and acceleration, Bull. Seismol. Soc. Am. 32, 1942, and 46, 1956).
enum GutenbergRichter {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 12.
    static func mmi(pga: Double) -> Double {
        guard pga > 0 else { return 1 }
        return min(12, max(1, 3 * decimalLogarithm(pga * 100) + 1.5))
    }
}

extension IntensityRelation {
    /// Wald et al. (1999), MMI from PGA and PGV, blended as in ShakeMap. No deviation has been published for the blend
    /// between V and VII.
    public static let wald99 = IntensityRelation("wald99", .mmi) { pga, pgv in
        let (a, v) = (Wald1999.mmi(pga: pga), Wald1999.mmi(pgv: pgv))
        return IntensityEstimate(
            value: Wald1999.mmi(pga: pga, pgv: pgv), fromPGA: a, fromPGV: v, sigma: a <= 5 ? 1.08 : a >= 7 ? 0.98 : nil)
    }
}

/// Modified Mercalli Intensity from peak acceleration and velocity (Wald, Quitoriano, Heaton and Kanamori, Earthquake
/// Spectra 15, 1999), with the lower lines and the blend of ShakeMap. The lines do not meet exactly at their break
/// points; nothing is smoothed.
enum Wald1999 {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 10.
    static func mmi(pga: Double) -> Double {
        line(pga, breakpoint: 1.82, upper: (3.66, -1.66), lower: (2.20, 1.00))
    }

    /// - Parameter pgv: m/s.
    /// - Returns: 1 to 10.
    static func mmi(pgv: Double) -> Double {
        line(pgv, breakpoint: 0.76, upper: (3.47, 2.35), lower: (2.10, 3.40))
    }

    /// By acceleration up to V, by velocity from VII, between them in proportion; above 9.5 it is 10.
    static func mmi(pga: Double, pgv: Double) -> Double {
        let (a, v) = (mmi(pga: pga), mmi(pgv: pgv))
        let weight = min(1, max(0, (a - 5) / 2))
        let value = min(10, max(1, a * (1 - weight) + v * weight))
        return value > 9.5 ? 10 : value
    }

    private static func line(
        _ value: Double, breakpoint: Double, upper: (slope: Double, offset: Double),
        lower: (slope: Double, offset: Double)
    ) -> Double {
        guard value > 0 else { return 1 }
        let logarithm = decimalLogarithm(value * 100)
        let (slope, offset) = logarithm >= breakpoint ? upper : lower
        return min(10, max(1, slope * logarithm + offset))
    }
}

extension IntensityRelation {
    /// Worden et al. (2012), MMI from PGA and PGV; deviation 0.73 (PGA) and 0.65 (PGV), table 1.
    public static let worden12 = IntensityRelation("worden12", .mmi) { pga, pgv in
        .preferringVelocity(Worden2012.mmi(pga: pga), Worden2012.mmi(pgv: pgv), sigma: 0.65)
    }
}

/// Modified Mercalli Intensity from peak acceleration and velocity (Worden, Gerstenberger, Rhoades and Wald, Bull.
/// Seismol. Soc. Am. 102, 2012), without terms of distance or magnitude; the lowest line of each is ShakeMap's.
/// ShakeMap prefers the value from velocity. The lines do not meet exactly at their break points; nothing is smoothed.
public enum Worden2012 {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 10.
    public static func mmi(pga: Double) -> Double {
        line(pga, breakpoints: (0.14, 1.57), low: (2.08, 1.71), middle: (1.55, 1.78), high: (3.70, -1.60))
    }

    /// - Parameter pgv: m/s.
    /// - Returns: 1 to 10.
    public static func mmi(pgv: Double) -> Double {
        line(pgv, breakpoints: (-1.21, 0.53), low: (2.17, 4.62), middle: (1.47, 3.78), high: (3.16, 2.89))
    }

    private typealias Line = (slope: Double, offset: Double)

    private static func line(
        _ value: Double, breakpoints: (Double, Double), low: Line, middle: Line, high: Line
    ) -> Double {
        guard value > 0 else { return 1 }
        let logarithm = decimalLogarithm(value * 100)
        let (slope, offset) =
            logarithm < breakpoints.0 ? low : logarithm < breakpoints.1 ? middle : high
        return min(10, max(1, slope * logarithm + offset))
    }
}

extension IntensityRelation {
    /// Atkinson and Kaka (2007), MMI from PGA and PGV; deviation 1.01 (PGA) and 0.80 (PGV), table 4.
    static let atkinsonKaka07 = IntensityRelation("atkinson_kaka07", .mmi) { pga, pgv in
        .preferringVelocity(AtkinsonKaka2007.mmi(pga: pga), AtkinsonKaka2007.mmi(pgv: pgv), sigma: 0.80)
    }
}

/// Modified Mercalli Intensity from peak acceleration and velocity (Atkinson and Kaka, Relationships between felt
/// intensity and instrumental ground motion in the central United States and California, Bull. Seismol. Soc. Am. 97,
/// 2007), without terms of distance or magnitude. ShakeMap prefers the value from velocity. The lines do not meet
/// exactly at their break points; nothing is smoothed.
enum AtkinsonKaka2007 {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 10.
    static func mmi(pga: Double) -> Double {
        line(pga, breakpoint: 1.69, low: (1.39, 2.65), high: (4.09, -1.91))
    }

    /// - Parameter pgv: m/s.
    /// - Returns: 1 to 10.
    static func mmi(pgv: Double) -> Double {
        line(pgv, breakpoint: 0.48, low: (1.32, 4.37), high: (3.03, 3.54))
    }

    private static func line(
        _ value: Double, breakpoint: Double, low: (slope: Double, offset: Double), high: (slope: Double, offset: Double)
    ) -> Double {
        guard value > 0 else { return 1 }
        let logarithm = decimalLogarithm(value * 100)
        let (slope, offset) = logarithm < breakpoint ? low : high
        return min(10, max(1, slope * logarithm + offset))
    }
}

extension IntensityScale {
    /// Mercalli-Cancani-Sieberg, Italy's, 1 to 12; Italy's ShakeMap draws it in the colours of the modified Mercalli scale.
    public static let mcs = mercalli("mcs")
}

extension IntensityRelation {
    /// Faenza and Michelini (2010), MCS from PGA and PGV; deviation 0.35 (PGA) and 0.26 (PGV) as published. (ShakeMap's
    /// code has 0.18 and 0.14 in their place.)
    static let faenzaMichelini10 = IntensityRelation("faenza_michelini10", .mcs) { pga, pgv in
        .preferringVelocity(FaenzaMichelini2010.mcs(pga: pga), FaenzaMichelini2010.mcs(pgv: pgv), sigma: 0.26)
    }
}

/// Mercalli-Cancani-Sieberg intensity from peak acceleration and velocity of the larger horizontal (Faenza and Michelini,
/// Regression analysis of MCS intensity and ground motion parameters in Italy and its application in ShakeMap, Geophys. J.
/// Int. 180, 2010). ShakeMap prefers the value from velocity and keeps it within 1 to 10.
enum FaenzaMichelini2010 {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 10.
    static func mcs(pga: Double) -> Double { line(pga, slope: 2.58, offset: 1.68) }

    /// - Parameter pgv: m/s.
    /// - Returns: 1 to 10.
    static func mcs(pgv: Double) -> Double { line(pgv, slope: 2.35, offset: 5.11) }

    private static func line(_ value: Double, slope: Double, offset: Double) -> Double {
        guard value > 0 else { return 1 }
        return min(10, max(1, slope * decimalLogarithm(value * 100) + offset))
    }
}
