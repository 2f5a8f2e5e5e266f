import Exchange
import Glibc
import Messages
import Values

/// Query to an FDSN web service (fdsnws 1.2): one line of channels and times, and the parameters of all lines.
public struct FDSNQuery: Sendable, Equatable {
    /// Channels and a time, with `*` and `?`.
    public struct Line: Sendable, Equatable {
        public var network = "*", station = "*", location = "*", channel = "*"
        /// Nanoseconds of UTC; nil: open.
        public var begin: Int64?
        public var end: Int64?

        public init() {}

        public func matches(_ network: String, _ station: String) -> Bool {
            FDSNQuery.matches(self.network, network) && FDSNQuery.matches(self.station, station)
        }

        public func matches(location: String, channel: String) -> Bool {
            FDSNQuery.matches(self.location, location) && FDSNQuery.matches(self.channel, channel)
        }
    }

    public var lines: [Line] = []
    /// All other parameters, by their long names.
    public var other: [String: String] = [:]

    /// A mistake of the client.
    public struct Problem: Error, Sendable, Equatable {
        public var words: String
        public init(words: String) { self.words = words }
    }

    private static let longNames = [
        "net": "network", "sta": "station", "loc": "location", "cha": "channel", "start": "starttime",
        "end": "endtime", "minlat": "minlatitude", "maxlat": "maxlatitude", "minlon": "minlongitude",
        "maxlon": "maxlongitude", "lat": "latitude", "lon": "longitude", "minmag": "minmagnitude",
        "maxmag": "maxmagnitude",
    ]
    private static let ofLine = ["network", "station", "location", "channel", "starttime", "endtime"]
    static let mostLines = 2000

    /// - Parameters:
    ///   - text: what stands behind the question mark.
    ///   - allowed: names of parameters that this service has besides those of channels and times.
    public init(query text: some StringProtocol, allowed: Set<String>) throws(Problem) {
        var line = Line()
        for pair in text.split(separator: "&") where !pair.isEmpty {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            try take(String(parts[0]), Self.decoded(parts.count == 2 ? String(parts[1]) : ""), &line, allowed)
        }
        lines = [line]
    }

    /// The body of a POST: `name=value` lines, then `NET STA LOC CHA START END`.
    public init(body: String, allowed: Set<String>) throws(Problem) {
        var common = Line()
        for text in body.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }) {
            if let equals = text.firstIndex(of: "=") {
                try take(String(text[..<equals]), String(text[text.index(after: equals)...]), &common, allowed)
                continue
            }
            let words = text.split(separator: " ").map(String.init)
            if words.isEmpty { continue }
            guard words.count == 6 else { throw Problem(words: "a line needs six words: NET STA LOC CHA START END") }
            var line = common
            for (name, word) in zip(Self.ofLine, words) where word != "*" || !name.hasSuffix("time") {
                try take(name, word, &line, allowed)
            }
            lines.append(line)
            if lines.count > Self.mostLines { throw Problem(words: "more than \(Self.mostLines) lines") }
        }
        if lines.isEmpty { lines = [common] }
    }

    private mutating func take(
        _ name: String, _ value: String, _ line: inout Line, _ allowed: Set<String>
    ) throws(Problem) {
        let short = name.lowercased()
        let name = Self.longNames[short] ?? short
        guard value.utf8.count <= 1000 else { throw Problem(words: "the value of \(name) is too long") }
        switch name {
        case "network": line.network = value
        case "station": line.station = value
        case "location": line.location = value
        case "channel": line.channel = value
        case "starttime": line.begin = try Self.time(value)
        case "endtime": line.end = try Self.time(value)
        default:
            guard allowed.contains(name) else {
                throw Problem(
                    words: "there is no parameter \(String(name.prefix(40).filter { $0.isASCII && $0.isLetter }))")
            }
            // (Without a value it is not said.)
            if !value.isEmpty { other[name] = value }
        }
    }

    /// A number among the other parameters.
    public func number(_ name: String) throws(Problem) -> Double? {
        guard let text = other[name] else { return nil }
        guard let number = Double(text), number.isFinite else { throw Problem(words: "\(name) is no number") }
        return number
    }

    /// A number among the other parameters that has to be in a range.
    func number(_ name: String, in range: ClosedRange<Double>) throws(Problem) -> Double? {
        guard let number = try number(name) else { return nil }
        guard range.contains(number) else {
            throw Problem(
                words: "\(name) is \(Self.short(number)); allowed is \(Self.short(range.lowerBound)) to "
                    + Self.short(range.upperBound))
        }
        return number
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
    }

    /// Range that a pair of parameters such as `minmagnitude` and `maxmagnitude` allows; nil: neither is given.
    func range(_ name: String) throws(Problem) -> ClosedRange<Double>? {
        let (least, most) = (try number("min\(name)"), try number("max\(name)"))
        if least == nil, most == nil { return nil }
        let (low, high) = (least ?? -.infinity, most ?? .infinity)
        guard low <= high else { throw Problem(words: "min\(name) is above max\(name)") }
        return low...high
    }

    /// A time among the other parameters, nanoseconds of UTC.
    func time(named name: String) throws(Problem) -> Int64? {
        guard let text = other[name] else { return nil }
        return try Self.time(text)
    }

    /// A whole number among the other parameters.
    func whole(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = other[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(words: "\(name) is no whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// `true` or `false` among the other parameters; without it false.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch other[name]?.lowercased() {
        case nil, "false", "0": return false
        case "true", "1": return true
        default: throw Problem(words: "\(name) is true or false")
        }
    }

    /// Date, or date and time; without zone it is UTC.
    static func time(_ text: String) throws(Problem) -> Int64? {
        if text.isEmpty { return nil }
        let time = Int64.time(of: text) { text in
            [text, "\(text)Z", "\(text)T00:00:00Z"].lazy.compactMap { Timestamp($0)?.nanoseconds }.first
        }
        if let time { return time }
        throw Problem(words: "this is no time: write 2026-01-05T00:00:00")
    }

    /// A list of patterns with commas between them; `--` is no location.
    static func matches(_ patterns: String, _ code: String) -> Bool {
        if patterns.isEmpty { return true }
        return patterns.split(separator: ",", omittingEmptySubsequences: false).contains { pattern in
            let isBlank = pattern == "--" || pattern.allSatisfy { $0 == " " }
            return isBlank ? code.isEmpty : Glob.matches(String(pattern), code)
        }
    }

    /// Percent coding.
    static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.count >= 2
            {
                rest = rest.dropFirst(2)
                bytes.append(value)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// A part of the Earth's surface between two latitudes and two longitudes, in degrees.
public struct GeoBox: Sendable, Equatable {
    var south = -90.0, north = 90.0, west = -180.0, east = 180.0

    public init() {}

    init?(_ query: FDSNQuery) throws(FDSNQuery.Problem) {
        var isAsked = false
        for (name, path, most) in [
            ("minlatitude", \GeoBox.south, 90.0), ("maxlatitude", \GeoBox.north, 90),
            ("minlongitude", \GeoBox.west, 180), ("maxlongitude", \GeoBox.east, 180),
        ] {
            guard let number = try query.number(name, in: -most...most) else { continue }
            self[keyPath: path] = number
            isAsked = true
        }
        if !isAsked { return nil }
    }

    /// A place that is not known (NaN) is in no box.
    public func contains(_ latitude: Double, _ longitude: Double) -> Bool {
        guard latitude >= south, latitude <= north else { return false }
        if west > east { return longitude >= west || longitude <= east }
        return longitude >= west && longitude <= east
    }
}

/// A part of the Earth's surface around a place: a circle, or the ring between two.
public struct GeoCircle: Sendable, Equatable {
    public var latitude: Double
    public var longitude: Double
    /// Degrees of a great circle.
    public var radius: ClosedRange<Double>

    public init(latitude: Double, longitude: Double, radius: ClosedRange<Double>) {
        (self.latitude, self.longitude, self.radius) = (latitude, longitude, radius)
    }

    init?(_ query: FDSNQuery) throws(FDSNQuery.Problem) {
        let latitude = try query.number("latitude", in: -90...90)
        let longitude = try query.number("longitude", in: -180...180)
        let least = try query.number("minradius", in: 0...180)
        let most = try query.number("maxradius", in: 0...180)
        if latitude == nil, longitude == nil, least == nil, most == nil { return nil }
        let (low, high) = (least ?? 0, most ?? 180)
        guard low <= high else { throw .init(words: "minradius is above maxradius") }
        self.init(latitude: latitude ?? 0, longitude: longitude ?? 0, radius: low...high)
    }

    /// A place that is not known (NaN) is in no circle.
    public func contains(_ latitude: Double, _ longitude: Double) -> Bool {
        let radian = Double.pi / 180
        let (a, b) = (self.latitude * radian, latitude * radian)
        let half = (sin((b - a) / 2), sin((longitude - self.longitude) * radian / 2))
        // The haversine formula, which is exact at short distances.
        let square = half.0 * half.0 + cos(a) * cos(b) * half.1 * half.1
        guard square.isFinite else { return false }
        return radius.contains(2 * asin(min(1, square.squareRoot())) / radian)
    }
}

/// The format `text` of the FDSN web services (fdsnws 1.2): a line of names, and a line of fields each, with `|` between.
struct FDSNText: Sendable {
    public enum Table: Sendable {
        case networks, stations, channels, events
    }

    public private(set) var text: String

    public init(_ table: Table) {
        text =
            switch table {
            case .networks: "#Network | Description | StartTime | EndTime | TotalStations\n"
            case .stations: "#Network | Station | Latitude | Longitude | Elevation | SiteName | StartTime | EndTime\n"
            case .channels:
                "#Network | Station | Location | Channel | Latitude | Longitude | Elevation | Depth | Azimuth | Dip | "
                    + "SensorDescription | Scale | ScaleFreq | ScaleUnits | SampleRate | StartTime | EndTime\n"
            case .events:
                "#EventID | Time | Latitude | Longitude | Depth/km | Author | Catalog | Contributor | ContributorID | "
                    + "MagType | Magnitude | MagAuthor | EventLocationName\n"
            }
    }

    public mutating func add(network: String, stations: Int, begin: Int64?) {
        line([network, "", Self.time(begin), "", "\(stations)"])
    }

    public mutating func add(_ station: DescribedStation) {
        let identity = station.identity
        line([
            identity.network, identity.code, Self.number(identity.latitude), Self.number(identity.longitude),
            Self.number(identity.elevation), identity.description, Self.time(station.begin), "",
        ])
    }

    public mutating func add(_ channel: DescribedChannel, of station: DescribedStation) {
        let identity = station.identity
        line([
            identity.network, identity.code, channel.source.location, channel.source.channel,
            Self.number(identity.latitude), Self.number(identity.longitude), Self.number(identity.elevation), "0",
            Self.number(channel.azimuth), Self.number(channel.dip), station.chip, Self.number(channel.sensitivity), "1",
            "m/s**2", Self.number(channel.rate), Self.time(station.begin), "",
        ])
    }

    /// - Parameter event: of a network, with a place, or the end of a station's, without.
    public mutating func add(_ event: Value, station: String) {
        if let quake = NetworkEventReading(event), quake.origin != nil {
            let magnitude = quake.magnitude?.value
            line([
                quake.eventID, Self.time(quake.origin), Self.number(quake.latitude), Self.number(quake.longitude),
                Self.number(quake.depth), "network", "Seismote", "", "", magnitude == nil ? "" : "M",
                Self.number(magnitude), "", "",
            ])
        } else if let own = StationEventReading(event) {
            line([own.eventID, Self.time(own.onset), "", "", "", station, "Seismote", "", "", "", "", "", ""])
        }
    }

    private mutating func line(_ fields: [String]) {
        let clean = fields.map { field in
            String(field.unicodeScalars.map { $0 == "|" || $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
        }
        text += clean.joined(separator: "|") + "\n"
    }

    /// To the microsecond, without zone.
    private static func time(_ nanoseconds: Int64?) -> String {
        guard let nanoseconds else { return "" }
        return String(Timestamp(nanoseconds: nanoseconds).description.dropLast(4))
    }

    private static func number(_ number: Double?) -> String { number.map { "\($0)" } ?? "" }
}
