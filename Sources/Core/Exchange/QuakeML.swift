import Messages
import Values

/// Events as QuakeML 1.2 (basic event description). Of a station's event: a pick, the onset, and an amplitude, the peak
/// ground acceleration; a station does not locate. Of a network's: origin, magnitude, and a pick of each station.
public struct QuakeML: Sendable {
    var xml = XMLText()

    public init() {
        xml.begin(
            "q:quakeml",
            [("xmlns:q", "http://quakeml.org/xmlns/quakeml/1.2"), ("xmlns", "http://quakeml.org/xmlns/bed/1.2")])
        xml.begin("eventParameters", [("publicID", "smi:local/seismote")])
    }

    /// The whole document.
    public var text: String {
        var xml = xml
        xml.end()
        xml.end()
        return xml.text
    }

    /// Adds an event of a station.
    /// - Parameters:
    ///   - station: its id.
    ///   - event: the message of an event's end.
    ///   - info: the station's `state/info`.
    public mutating func add(_ station: String, _ event: Value, info: InfoReading?) {
        guard let event = StationEventReading(event) else { return }
        let id = Self.identifier(event.eventID)
        func code(_ text: String?, _ standard: String) -> String {
            guard let text, !text.isEmpty else { return standard }
            return text
        }
        let codes = info?.station
        let waveform = [
            ("networkCode", code(codes?.network, "XX")), ("stationCode", code(codes?.code, station)),
            ("locationCode", code(codes?.location, "00")),
        ]
        let likely = event.likely
        xml.begin("event", [("publicID", "smi:local/event/\(id)")])
        if likely == "earthquake" { suspectEarthquake() }
        var words = "station \(station), event \(event.eventID)"
        if let likely { words += ", likely \(likely)" }
        if let mmi = event.mmi {
            words += ", MMI \(Self.tenths(mmi))"
            if !event.isMercalliCertain { words += " (not certain: samples are missing)" }
        }
        if event.pga?.isFinite == true, !event.isAccelerationValid {
            words += ", PGA not certain: samples are missing"
        }
        if event.isTest { words += ", a test" }
        xml.begin("description")
        xml.leaf("text", words)
        xml.end()
        pick("smi:local/pick/\(id)", event.onset, waveform)
        if let pga = event.pga, pga.isFinite {
            xml.begin("amplitude", [("publicID", "smi:local/amplitude/\(id)")])
            quantity("genericAmplitude", "\(pga)")
            xml.leaf("type", "A")
            xml.leaf("category", "point")
            xml.leaf("unit", "m/(s*s)")
            xml.leaf("pickID", "smi:local/pick/\(id)")
            xml.leaf("waveformID", "", waveform)
            xml.leaf("evaluationMode", "automatic")
            xml.end()
        }
        xml.end()
    }

    // MARK: Elements of all events

    mutating func suspectEarthquake() {
        xml.leaf("type", "earthquake")
        xml.leaf("typeCertainty", "suspected")
    }

    mutating func pick(_ id: String, _ time: Int64?, _ waveform: [(String, String)]) {
        xml.begin("pick", [("publicID", id)])
        quantity("time", Self.time(time))
        xml.leaf("waveformID", "", waveform)
        xml.leaf("evaluationMode", "automatic")
        xml.end()
    }

    /// A value, and its uncertainty where it is known.
    mutating func quantity(_ name: String, _ value: String, uncertainty: Double? = nil) {
        xml.begin(name)
        xml.leaf("value", value)
        if let uncertainty { xml.leaf("uncertainty", uncertainty) }
        xml.end()
    }

    /// To the microsecond, which is what readers keep.
    static func time(_ nanoseconds: Int64?) -> String {
        "\(Timestamp(nanoseconds: nanoseconds ?? 0).description.dropLast(4))Z"
    }

    static func identifier(_ text: String) -> String {
        String(
            text.unicodeScalars.map {
                $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0) || $0 == "-" ? Character($0) : "_"
            })
    }

    /// With one decimal.
    private static func tenths(_ number: Double) -> String {
        let tenths = Int64(max(-1e9, min(1e9, (number * 10).rounded())))
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
}

extension QuakeML {
    private static let kilometresPerDegree = 111.195

    /// Adds an earthquake that several stations have seen; a version without a place is left out.
    /// - Parameters:
    ///   - event: the newest version on `network/event`.
    ///   - codes: network and station codes by the stations' ids; what is not there is named `XX` and the id.
    public mutating func add(network event: Value, codes: (String) -> (network: String, station: String)?) {
        guard let event = NetworkEventReading(event), let latitude = event.latitude, let longitude = event.longitude
        else { return }
        let id = Self.identifier(event.eventID)
        let stations = event.stations ?? []
        xml.begin("event", [("publicID", "smi:local/event/\(id)")])
        xml.leaf("preferredOriginID", "smi:local/origin/\(id)")
        if event.magnitude != nil { xml.leaf("preferredMagnitudeID", "smi:local/magnitude/\(id)") }
        suspectEarthquake()
        for words in Self.remarks(event) {
            xml.begin("comment")
            xml.leaf("text", words)
            xml.end()
        }
        for (index, station) in stations.enumerated() {
            let code = codes(station.id) ?? ("XX", station.id)
            pick(
                "smi:local/pick/\(id)-\(index)", station.onset,
                [("networkCode", code.network), ("stationCode", code.station)])
        }
        xml.begin("origin", [("publicID", "smi:local/origin/\(id)")])
        quantity("time", Self.time(event.origin))
        quantity("latitude", "\(latitude)")
        quantity("longitude", "\(longitude)")
        // Metres.
        if let depth = event.depth { quantity("depth", "\(depth * 1000)") }
        ellipse(of: event)
        for (index, station) in stations.enumerated() {
            xml.begin("arrival", [("publicID", "smi:local/arrival/\(id)-\(index)")])
            xml.leaf("pickID", "smi:local/pick/\(id)-\(index)")
            xml.leaf("phase", station.phase ?? "P")
            if let distance = station.distance {
                xml.leaf("distance", distance / Self.kilometresPerDegree)
            }
            if let residual = station.residual { xml.leaf("timeResidual", residual) }
            xml.end()
        }
        xml.leaf("evaluationMode", "automatic")
        xml.end()
        if let magnitude = event.magnitude {
            xml.begin("magnitude", [("publicID", "smi:local/magnitude/\(id)")])
            quantity("mag", "\(magnitude.value)", uncertainty: magnitude.sigma)
            xml.leaf("originID", "smi:local/origin/\(id)")
            xml.leaf("evaluationMode", "automatic")
            xml.end()
        }
        xml.end()
    }

    /// Remarks for facts that QuakeML has no elements for: how well the place is known, the region of 90 % as
    /// well-known text (OGC 06-103r4; longitude before latitude, degrees), and that the event is disputed.
    private static func remarks(_ event: NetworkEventReading) -> [String] {
        var remarks: [String] = []
        if let quality = event.quality {
            var words = "place: \(quality)"
            if quality == .outside, let azimuth = event.azimuth {
                words += ", towards \(azimuth) degrees from the middle of the stations"
            }
            remarks.append(words)
        }
        if !event.region.isEmpty { remarks.append("region of 90 %: \(text(event.region))") }
        if let dispute = event.dispute {
            let isLone = dispute == .loneOperator
            remarks.append(
                "disputed: " + (isLone ? "one operator's stations alone report it" : "stations nearby are silent"))
        }
        return remarks
    }

    private static func text(_ region: [NetworkEventMessage.Location.Ring]) -> String {
        let polygons = region.map { ring in
            var points = zip(ring.longitude, ring.latitude).map { "\($0) \($1)" }
            if points.first != points.last { points.append(points[0]) }
            return "((\(points.joined(separator: ", "))))"
        }
        return "MULTIPOLYGON (\(polygons.joined(separator: ", ")))"
    }

    /// The ellipse that has the epicentre in it with 68 %.
    private mutating func ellipse(of event: NetworkEventReading) {
        guard let major = event.semiMajor, let minor = event.semiMinor else { return }
        xml.begin("originUncertainty")
        xml.leaf("maxHorizontalUncertainty", major * 1000)
        xml.leaf("minHorizontalUncertainty", minor * 1000)
        if let azimuth = event.ellipseAzimuth { xml.leaf("azimuthMaxHorizontalUncertainty", azimuth) }
        xml.leaf("preferredDescription", "uncertainty ellipse")
        xml.leaf("confidenceLevel", 68)
        xml.end()
    }
}
