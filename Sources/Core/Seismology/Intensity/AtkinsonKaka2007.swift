import SignalProcessing

extension IntensityRelation {
    /// Atkinson and Kaka (2007), MMI from PGA and PGV; deviation 1.01 (PGA) and 0.80 (PGV), table 4.
    public static let atkinsonKaka07 = IntensityRelation("atkinson_kaka07", .mmi) { pga, pgv in
        .preferringVelocity(AtkinsonKaka2007.mmi(pga: pga), AtkinsonKaka2007.mmi(pgv: pgv), sigma: 0.80)
    }
}

/// Modified Mercalli Intensity from peak acceleration and velocity (Atkinson and Kaka, Relationships between felt
/// intensity and instrumental ground motion in the central United States and California, Bull. Seismol. Soc. Am. 97,
/// 2007), without terms of distance or magnitude. ShakeMap prefers the value from velocity. The lines do not meet
/// exactly at their break points; nothing is smoothed.
public enum AtkinsonKaka2007 {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 10.
    public static func mmi(pga: Double) -> Double {
        line(pga, breakpoint: 1.69, low: (1.39, 2.65), high: (4.09, -1.91))
    }

    /// - Parameter pgv: m/s.
    /// - Returns: 1 to 10.
    public static func mmi(pgv: Double) -> Double {
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
