import Values

/// How accelerations become the integers of miniSEED: counts = round(acceleration / `unitPerCount`), halves away from 0.
///
/// The unit is the sensor's own smallest step, so that what the sensor had comes back without loss; where that is not
/// known, 1 µm/s², a tenth of a millionth of g. It is doubled until the full scale fits into the 30 bits of a Steim2
/// difference. Numbers beyond 32 bits saturate, NaN becomes 0.
public struct CountScale: Sendable, Equatable {
    /// m/s² of one count.
    public let unitPerCount: Double

    /// Where the sensor does not say.
    public static let defaultUnit = 1e-6
    /// Full scale in m/s² that always fits.
    public static let leastFullScale = 200.0

    /// - Parameters:
    ///   - resolution: smallest step of the sensor in m/s²; nil when not known.
    ///   - range: full scale of the sensor in m/s²; nil when not known.
    public init(resolution: Double? = nil, range: Double? = nil) {
        var unit = Self.defaultUnit
        if let resolution, resolution.isFinite, resolution > 0 { unit = resolution }
        var fullScale = Self.leastFullScale
        if let range, range.isFinite { fullScale = max(fullScale, range) }
        while fullScale / unit > Double(1 << 29) { unit *= 2 }
        unitPerCount = unit
    }

    /// A scale of this very unit.
    package init(unit: Double) { unitPerCount = unit }

    /// The count of an acceleration in m/s².
    public func count(_ acceleration: Double) -> Int32 {
        let counts = (acceleration / unitPerCount).rounded()
        guard counts == counts else { return 0 }
        return Int32(min(max(counts, Double(Int32.min)), Double(Int32.max)))
    }

    /// The member of miniSEED 3's extra headers that says what a count is.
    package var extraHeaders: [UInt8] {
        Value.object([
            .init(
                "seismote", .object([.init("unit", .string("m/s^2")), .init("unit_per_count", .double(unitPerCount))]))
        ]).json()
    }
}
