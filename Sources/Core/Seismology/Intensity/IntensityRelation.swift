/// A published relation from ground motion to intensity. Each is a value; see ``allCases``.
public struct IntensityRelation: Sendable, Equatable, CaseIterable, RawRepresentable {
    /// The closed list of those that the agent computes.
    public static let allCases: [IntensityRelation] = [
        gutenbergRichter,
        wald99,
        worden12,
        atkinsonKaka07,
        faenzaMichelini10,
        cwa,
        jma,
    ]

    /// Its key in the settings and its name in messages.
    public let rawValue: String
    /// The scale that the values belong to.
    public let scale: IntensityScale
    private let of: @Sendable (IntensityPeaks) -> IntensityEstimate?

    /// - Parameter peaks: the intensity of a peak acceleration (m/s²) and a peak velocity (m/s) of the horizontals; nil
    ///   where peaks are not enough.
    init(
        _ name: String, _ scale: IntensityScale,
        _ peaks: @escaping @Sendable (_ pga: Double, _ pgv: Double) -> IntensityEstimate?
    ) {
        self.init(name, scale) { peaks($0.pga, $0.pgv) }
    }

    /// - Parameter of: the intensity of peaks that the relation defines itself.
    init(_ name: String, _ scale: IntensityScale, of: @escaping @Sendable (IntensityPeaks) -> IntensityEstimate?) {
        (rawValue, self.scale, self.of) = (name, scale, of)
    }

    public init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    /// Intensity of some peaks; nil where peaks are not enough.
    public func estimate(_ peaks: IntensityPeaks) -> IntensityEstimate? { of(peaks) }
}

/// Peaks of the ground motion that relations start from, none negative.
public struct IntensityPeaks: Sendable, Equatable {
    /// Peak acceleration of the horizontals, m/s², and peak velocity, m/s.
    public var pga: Double
    public var pgv: Double
    /// Peak of ``CentralWeatherAdministration/Acceleration``, m/s².
    public var cwa: Double
    /// Peak velocity of the 3-D vector, m/s.
    public var vectorPGV: Double

    public init(pga: Double, pgv: Double, cwa: Double, vectorPGV: Double) {
        (self.pga, self.pgv, self.cwa, self.vectorPGV) = (pga, pgv, cwa, vectorPGV)
    }

    /// Motion along one horizontal axis, slower than 10 Hz.
    public init(pga: Double, pgv: Double) { self.init(pga: pga, pgv: pgv, cwa: pga, vectorPGV: pgv) }
}

/// One relation's answer.
public struct IntensityEstimate: Sendable, Equatable {
    /// Value that the relation's authors, or ShakeMap, prefer.
    public var value: Double
    /// From peak acceleration alone and from peak velocity alone, where the relation has both.
    public var fromPGA: Double?
    public var fromPGV: Double?
    /// Standard deviation of the value in the scale's steps, where one has been published: that of the paper for the
    /// lines without terms of magnitude and distance.
    public var sigma: Double?

    public init(value: Double, fromPGA: Double? = nil, fromPGV: Double? = nil, sigma: Double? = nil) {
        self.value = value
        self.fromPGA = fromPGA
        self.fromPGV = fromPGV
        self.sigma = sigma
    }

    /// ShakeMap takes the value from PGV where a relation has both and no rule of its own.
    static func preferringVelocity(_ fromPGA: Double, _ fromPGV: Double, sigma: Double) -> IntensityEstimate {
        IntensityEstimate(value: fromPGV, fromPGA: fromPGA, fromPGV: fromPGV, sigma: sigma)
    }
}
