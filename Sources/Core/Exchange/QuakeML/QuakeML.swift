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
    public mutating func add(_ station: String, _ event: Value, info: Value?) {
        guard let event = StationEventReading(event) else { return }
        let id = Self.identifier(event.eventID)
        func code(_ key: String, _ standard: String) -> String {
            let text = info?["station"]?[key]?.rawText ?? ""
            return text.isEmpty ? standard : text
        }
        let waveform = [
            ("networkCode", code("network", "XX")), ("stationCode", code("code", station)),
            ("locationCode", code("location", "00")),
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
