import Seismology

/// The on-site estimate of an event, in SI units.
public struct OnsiteMessage: Sendable, Equatable {
    /// Seconds after the onset.
    public var time: Int
    /// Largest velocity and displacement of the vertical; nil where they do not stand out of the noise.
    public var pv: Double?
    public var pd: Double?
    public var tauC: Double?
    /// Predicted.
    public var mmi: Double
    public var pgv: Double
    /// Within which 80 % of the true values are.
    var pgvLow: Double
    var pgvHigh: Double
    public var saturated = false
    public var level: Int?

    init(time: Int, mmi: Double, pgv: Double) {
        (self.time, self.mmi, self.pgv, pgvLow, pgvHigh) = (time, mmi, pgv, pgv, pgv)
    }

    /// - Parameter soFar: largest horizontal velocity until now, m/s: less is not predicted.
    /// - Returns: nil where nothing stands out of the noise.
    public init?(_ estimate: OnsiteEstimate, soFar: Double) {
        guard let predicted = estimate.pgv else { return nil }
        let pgv = max(predicted, soFar)
        self.init(time: estimate.time, mmi: Worden2012.mmi(pgv: pgv), pgv: pgv)
        let range = estimate.range(around: pgv)
        (pgvLow, pgvHigh) = (max(soFar, range.low), range.high)
        saturated = estimate.isSaturated
        pv = estimate.pvIsValid ? estimate.pv : nil
        if estimate.pdIsValid { (pd, tauC, level) = (estimate.pd, estimate.tauC, estimate.level) }
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.integer("t_s", time, unit: "s", "Seconds after the onset that it is made of: 1, 2, 3, 5 or 8.")
        f.visit(
            Field(
                "pv", "Largest vertical velocity (from 0.4 Hz); null where it does not stand out of the noise.",
                .nullable,
                unit: "m/s"), pv)
        f.visit(
            Field(
                "pd", "Largest vertical displacement (from 0.075 Hz); null where it does not stand out of the noise.",
                .nullable, unit: "m"), pd)
        f.visit(
            Field("tau_c", "Characteristic period; null where `pd` is.", .nullable, unit: "s"), tauC)
        f.number("pgv_predicted", pgv, unit: "m/s", "Predicted peak ground velocity, at least that so far.")
        f.number("mmi_predicted", mmi, unit: "1", "Predicted intensity, `worden12` of it.")
        f.number("pgv_low", pgvLow, unit: "m/s", "The peak ground velocity is not below this, nine times of ten.")
        f.number("pgv_high", pgvHigh, unit: "m/s", "The peak ground velocity is not above this, nine times of ten.")
        f.flag("saturated", saturated, "Whether the rupture goes on, so that the first seconds do not know its size.")
        f.visit(
            Field(
                "level",
                "Of the first 3 s: 3 near and large, 2 far and large, 1 near and small, 0 (Zollo and others, 2010); null where `pd` is.",
                .nullable, unit: "1"), level)
    }
}

extension EventClass {
    package func fields(_ f: inout some FieldVisitor) {
        f.choice(
            "likely", likely,
            "What it is taken for at the last judgings, so that it may change back; one station cannot be sure.")
        f.number(
            "p", probability, unit: "1", "Probability of an earthquake at the last judging; left out before the first.")
        f.number("t_s", time, unit: "s", "When that was, seconds of samples after the onset.")
        f.flag("certain", isCertain, "Whether it is taken for an earthquake with a probability of 0.8 or more.")
        f.flag("moved", moved, "Whether the sensor was turned or carried.")
        f.flag("final", isFinal, "Whether it is judged no more, unless another trigger begins in the same event.")
    }
}
