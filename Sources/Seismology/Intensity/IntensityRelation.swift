/// The published relations from ground motion to intensity that the agent computes.
public enum IntensityRelation: String, Sendable, CaseIterable {
    /// Gutenberg and Richter (1942, 1956), MMI from PGA.
    case gutenbergRichter = "gutenberg_richter"
    /// Wald et al. (1999), MMI from PGA and PGV, blended as in ShakeMap.
    case wald99
    /// Worden et al. (2012), MMI from PGA and PGV.
    case worden12
    /// Atkinson and Kaka (2007), MMI from PGA and PGV.
    case atkinsonKaka07 = "atkinson_kaka07"
    /// Taiwan's scale of 2020, from PGA and PGV.
    case cwa
    /// The Japan Meteorological Agency's instrumental intensity, from the waveform; see ``JMAIntensity``.
    case jma

    /// The scale that the values belong to.
    public var scale: IntensityScale { self == .cwa ? .cwa : self == .jma ? .jma : .mmi }

    /// Intensity of a peak acceleration (m/s²) and a peak velocity (m/s), neither negative; nil where peaks are not
    /// enough.
    ///
    /// The standard deviations are those of the papers for the lines without terms of magnitude and distance: Worden et
    /// al. 0.73 (PGA) and 0.65 (PGV), their table 1; Wald et al. 1.08 and 0.98; Atkinson and Kaka 1.01 and 0.80, their
    /// table 4. ShakeMap takes the value from PGV where a relation has both and no rule of its own.
    public func estimate(pga: Double, pgv: Double) -> IntensityEstimate? {
        switch self {
        case .jma: return nil
        case .gutenbergRichter:
            return IntensityEstimate(value: GutenbergRichter.mmi(pga: pga))
        case .wald99:
            let (a, v) = (Wald1999.mmi(pga: pga), Wald1999.mmi(pgv: pgv))
            // No deviation has been published for the blend between V and VII.
            return IntensityEstimate(
                value: Wald1999.mmi(pga: pga, pgv: pgv), fromPGA: a, fromPGV: v,
                sigma: a <= 5 ? 1.08 : a >= 7 ? 0.98 : nil)
        case .worden12:
            return preferringVelocity(Worden2012.mmi(pga: pga), Worden2012.mmi(pgv: pgv), sigma: 0.65)
        case .atkinsonKaka07:
            return preferringVelocity(AtkinsonKaka2007.mmi(pga: pga), AtkinsonKaka2007.mmi(pgv: pgv), sigma: 0.80)
        case .cwa:
            return IntensityEstimate(value: CentralWeatherAdministration.intensity(pga: pga, pgv: pgv))
        }
    }

    private func preferringVelocity(_ a: Double, _ v: Double, sigma: Double) -> IntensityEstimate {
        IntensityEstimate(value: v, fromPGA: a, fromPGV: v, sigma: sigma)
    }
}

/// One relation's answer.
public struct IntensityEstimate: Sendable, Equatable {
    /// What the relation's authors, or ShakeMap, prefer.
    public var value: Double
    /// From peak acceleration alone and from peak velocity alone, where the relation has both.
    public var fromPGA: Double?
    public var fromPGV: Double?
    /// Standard deviation of the value in the scale's steps, where one has been published.
    public var sigma: Double?

    public init(value: Double, fromPGA: Double? = nil, fromPGV: Double? = nil, sigma: Double? = nil) {
        self.value = value
        self.fromPGA = fromPGA
        self.fromPGV = fromPGV
        self.sigma = sigma
    }
}
