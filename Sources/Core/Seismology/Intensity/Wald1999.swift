import SignalProcessing

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
public enum Wald1999 {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 10.
    public static func mmi(pga: Double) -> Double {
        line(pga, breakpoint: 1.82, upper: (3.66, -1.66), lower: (2.20, 1.00))
    }

    /// - Parameter pgv: m/s.
    /// - Returns: 1 to 10.
    public static func mmi(pgv: Double) -> Double {
        line(pgv, breakpoint: 0.76, upper: (3.47, 2.35), lower: (2.10, 3.40))
    }

    /// By acceleration up to V, by velocity from VII, between them in proportion; above 9.5 it is 10.
    public static func mmi(pga: Double, pgv: Double) -> Double {
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
