/// The published relations from ground motion to intensity that the agent computes.
public enum IntensityRelation: String, Sendable, CaseIterable {
    /// Gutenberg and Richter (1942, 1956), MMI from PGA.
    case gutenbergRichter = "gutenberg_richter"
    /// Wald et al. (1999), MMI from PGA and PGV, blended as in ShakeMap.
    case wald99
    /// Worden et al. (2012), MMI from PGA and PGV.
    case worden12
}
