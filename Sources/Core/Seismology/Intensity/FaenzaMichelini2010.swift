import SignalProcessing

extension IntensityScale {
    /// Mercalli-Cancani-Sieberg, Italy's, 1 to 12; Italy's ShakeMap draws it in the colours of the modified Mercalli scale.
    public static let mcs = mercalli("mcs")
}

extension IntensityRelation {
    /// Faenza and Michelini (2010), MCS from PGA and PGV; deviation 0.35 (PGA) and 0.26 (PGV) as published. (ShakeMap's
    /// code has 0.18 and 0.14 in their place.)
    public static let faenzaMichelini10 = IntensityRelation("faenza_michelini10", .mcs) { pga, pgv in
        .preferringVelocity(FaenzaMichelini2010.mcs(pga: pga), FaenzaMichelini2010.mcs(pgv: pgv), sigma: 0.26)
    }
}

/// Mercalli-Cancani-Sieberg intensity from peak acceleration and velocity of the larger horizontal (Faenza and Michelini,
/// Regression analysis of MCS intensity and ground motion parameters in Italy and its application in ShakeMap, Geophys. J.
/// Int. 180, 2010). ShakeMap prefers the value from velocity and keeps it within 1 to 10.
public enum FaenzaMichelini2010 {
    /// - Parameter pga: m/s².
    /// - Returns: 1 to 10.
    public static func mcs(pga: Double) -> Double { line(pga, slope: 2.58, offset: 1.68) }

    /// - Parameter pgv: m/s.
    /// - Returns: 1 to 10.
    public static func mcs(pgv: Double) -> Double { line(pgv, slope: 2.35, offset: 5.11) }

    private static func line(_ value: Double, slope: Double, offset: Double) -> Double {
        guard value > 0 else { return 1 }
        return min(10, max(1, slope * decimalLogarithm(value * 100) + offset))
    }
}
