/// The published relations from ground motion to intensity that the agent computes.
public enum IntensityRelation: String, Sendable, CaseIterable {
    /// Gutenberg and Richter (1942, 1956), MMI from PGA.
    case gutenbergRichter = "gutenberg_richter"
    /// Wald et al. (1999), MMI from PGA and PGV, blended as in ShakeMap.
    case wald99
    /// Worden et al. (2012), MMI from PGA and PGV.
    case worden12

    /// The scale that the values belong to.
    public var scale: IntensityScale { .mmi }

    /// Intensity of a peak acceleration (m/s²) and a peak velocity (m/s), neither negative.
    public func estimate(pga: Double, pgv: Double) -> IntensityEstimate {
        switch self {
        case .gutenbergRichter:
            IntensityEstimate(value: GutenbergRichter.mmi(pga: pga))
        case .wald99:
            IntensityEstimate(
                value: Wald1999.mmi(pga: pga, pgv: pgv), fromPGA: Wald1999.mmi(pga: pga),
                fromPGV: Wald1999.mmi(pgv: pgv))
        case .worden12:
            IntensityEstimate(
                value: Worden2012.mmi(pgv: pgv), fromPGA: Worden2012.mmi(pga: pga), fromPGV: Worden2012.mmi(pgv: pgv))
        }
    }
}

/// One relation's answer.
public struct IntensityEstimate: Sendable, Equatable {
    /// What the relation's authors, or ShakeMap, prefer.
    public var value: Double
    /// From peak acceleration alone and from peak velocity alone, where the relation has both.
    public var fromPGA: Double?
    public var fromPGV: Double?

    public init(value: Double, fromPGA: Double? = nil, fromPGV: Double? = nil) {
        self.value = value
        self.fromPGA = fromPGA
        self.fromPGV = fromPGV
    }
}
