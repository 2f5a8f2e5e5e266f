import MiniSEED
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
    static let leastFullScale = 200.0

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

/// Codes of a station's channels in miniSEED, by FDSN's rules (Source Identifiers 1.0; SEED manual, appendix A).
///
/// - **Band** from the sample rate. A MEMS accelerometer answers down to 0 Hz, so always the letter for a corner of
///   10 s or longer: `J` from 5000 Hz, `F` from 1000, `C` from 250, `H` from 80, `B` from 10, `M` above 1, `L` to 0.3,
///   `V` below.
/// - **Source** (instrument) `N`, accelerometer. Traces that are computed from it: `X` filtered (derived channel),
///   `Y` RMS.
/// - **Orientation** `E`, `N`, `Z` when the station's y axis points within 5° of north, else `1`, `2`, `Z` for x, y, z.
public struct ChannelCodes: Sendable, Equatable {
    /// Content of a channel.
    public enum Content: String, Sendable, CaseIterable { case acceleration = "N", filtered = "X", rms = "Y" }

    public var network: String
    public var station: String
    public var location: String
    /// Whether x is east and y is north.
    public var aligned: Bool

    /// - Parameters:
    ///   - station: FDSN station code; when empty, the first five letters and digits of `id` in capitals.
    ///   - id: the station's id in topics.
    ///   - north: bearing of the y axis in degrees clockwise from true north.
    public init(network: String, station: String, location: String, id: String, north: Double = 0) {
        self.network = network
        self.station = station.isEmpty ? Self.stationCode(id: id) : station
        self.location = location
        let turned = abs(north.remainder(dividingBy: 360))
        aligned = turned <= 5
    }

    /// The name of one channel; axis 0, 1, 2 is x, y, z.
    public func source(_ content: Content, axis: Int, rate: Double) -> SourceIdentifier {
        let orientation = axis == 2 ? "Z" : aligned ? (axis == 0 ? "E" : "N") : (axis == 0 ? "1" : "2")
        return SourceIdentifier(
            network: network, station: station, location: location, band: Self.band(rate: rate),
            source: content.rawValue, subsource: orientation)
    }

    /// The band code of a rate in Hz.
    public static func band(rate: Double) -> String {
        switch rate {
        case 5000...: "J"
        case 1000...: "F"
        case 250...: "C"
        case 80...: "H"
        case 10...: "B"
        case 1.001...: "M"
        case 0.3...: "L"
        default: "V"
        }
    }

    static func stationCode(id: String) -> String {
        var code: [UInt8] = []
        for byte in id.utf8 where code.count < 5 {
            if byte.isAlphanumeric { code.append(byte.isSmallLetter ? byte - 32 : byte) }
        }
        return code.isEmpty ? "STA" : String(decoding: code, as: UTF8.self)
    }
}
