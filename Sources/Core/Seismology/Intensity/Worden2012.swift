import SignalProcessing

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
