/// A published relation from ground motion to intensity. Each is a value in a file of its own.
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
    private let peaks: @Sendable (_ pga: Double, _ pgv: Double) -> IntensityEstimate?

    /// - Parameter peaks: the intensity of a peak acceleration (m/s²) and a peak velocity (m/s); nil where peaks are not
    ///   enough.
    init(
        _ name: String, _ scale: IntensityScale,
        _ peaks: @escaping @Sendable (_ pga: Double, _ pgv: Double) -> IntensityEstimate?
    ) {
        (rawValue, self.scale, self.peaks) = (name, scale, peaks)
    }

    public init?(rawValue: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = known
    }

    /// Intensity of a peak acceleration (m/s²) and a peak velocity (m/s), neither negative; nil where peaks are not
    /// enough.
    public func estimate(pga: Double, pgv: Double) -> IntensityEstimate? { peaks(pga, pgv) }
}

/// One relation's answer.
public struct IntensityEstimate: Sendable, Equatable {
    /// What the relation's authors, or ShakeMap, prefer.
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
