import Messages
import Values

extension QuakeML {
    private static let kilometresPerDegree = 111.195

    /// Adds an earthquake that several stations have seen; a version without a place is left out.
    /// - Parameters:
    ///   - event: the newest version on `network/event`.
    ///   - codes: network and station codes by the stations' ids; what is not there is named `XX` and the id.
    public mutating func add(network event: Value, codes: (String) -> (network: String, station: String)?) {
        guard let latitude = event["latitude"]?.number, let longitude = event["longitude"]?.number else { return }
        let id = Self.identifier(event["event_id"]?.rawText ?? "event")
        let magnitude = event["magnitude"]?["value"]?.number
        var stations: [Value] = []
        if case .array(let list)? = event["stations"] { stations = list }
        xml.begin("event", [("publicID", "smi:local/event/\(id)")])
        xml.leaf("preferredOriginID", "smi:local/origin/\(id)")
        if magnitude != nil { xml.leaf("preferredMagnitudeID", "smi:local/magnitude/\(id)") }
        suspectEarthquake()
        for words in Self.remarks(event) {
            xml.begin("comment")
            xml.leaf("text", words)
            xml.end()
        }
        for (index, station) in stations.enumerated() {
            let name = station["id"]?.rawText ?? ""
            let code = codes(name) ?? ("XX", name)
            pick(
                "smi:local/pick/\(id)-\(index)", station["onset"],
                [("networkCode", code.network), ("stationCode", code.station)])
        }
        xml.begin("origin", [("publicID", "smi:local/origin/\(id)")])
        quantity("time", Self.time(event["origin_time"]))
        quantity("latitude", "\(latitude)")
        quantity("longitude", "\(longitude)")
        // Metres.
        if let depth = event["depth_km"]?.number { quantity("depth", "\(depth * 1000)") }
        ellipse(event["ellipse"])
        for (index, station) in stations.enumerated() {
            xml.begin("arrival", [("publicID", "smi:local/arrival/\(id)-\(index)")])
            xml.leaf("pickID", "smi:local/pick/\(id)-\(index)")
            xml.leaf("phase", station["phase"]?.rawText ?? "P")
            if let distance = station["distance_km"]?.number {
                xml.leaf("distance", distance / Self.kilometresPerDegree)
            }
            if let residual = station["residual_s"]?.number { xml.leaf("timeResidual", residual) }
            xml.end()
        }
        xml.leaf("evaluationMode", "automatic")
        xml.end()
        if let magnitude {
            xml.begin("magnitude", [("publicID", "smi:local/magnitude/\(id)")])
            quantity("mag", "\(magnitude)", uncertainty: event["magnitude"]?["sigma"]?.number)
            xml.leaf("originID", "smi:local/origin/\(id)")
            xml.leaf("evaluationMode", "automatic")
            xml.end()
        }
        xml.end()
    }

    /// What QuakeML has no elements for: how well the place is known, the region of 90 % as well-known text (OGC 06-103r4;
    /// longitude before latitude, degrees), and that the event is disputed.
    private static func remarks(_ event: Value) -> [String] {
        var remarks: [String] = []
        if let quality = event["place"]?["quality"]?.rawText {
            var words = "place: \(quality)"
            if quality == "outside", let azimuth = event["place"]?["azimuth_deg"]?.number {
                words += ", towards \(azimuth) degrees from the middle of the stations"
            }
            remarks.append(words)
        }
        if let region = region(event["place"]?["region"]) { remarks.append("region of 90 %: \(region)") }
        if event["disputed"] == .bool(true) {
            let isLone = event["disputed_because"]?.rawText == NetworkEventMessage.Dispute.loneOperator.rawValue
            remarks.append(
                "disputed: " + (isLone ? "one operator's stations alone report it" : "stations nearby are silent"))
        }
        return remarks
    }

    private static func region(_ region: Value?) -> String? {
        guard case .array(let rings)? = region else { return nil }
        let polygons = rings.compactMap { ring -> String? in
            guard case .array(let latitude)? = ring["latitude"], case .array(let longitude)? = ring["longitude"],
                latitude.count == longitude.count, latitude.count > 2
            else { return nil }
            var points = zip(longitude, latitude).compactMap { east, north in
                east.number.flatMap { east in north.number.map { "\(east) \($0)" } }
            }
            guard points.count == latitude.count else { return nil }
            if points.first != points.last { points.append(points[0]) }
            return "((\(points.joined(separator: ", "))))"
        }
        return polygons.isEmpty ? nil : "MULTIPOLYGON (\(polygons.joined(separator: ", ")))"
    }

    /// - Parameter ellipse: has the epicentre in it with 68 %.
    private mutating func ellipse(_ ellipse: Value?) {
        guard let major = ellipse?["semi_major_km"]?.number, let minor = ellipse?["semi_minor_km"]?.number else {
            return
        }
        xml.begin("originUncertainty")
        xml.leaf("maxHorizontalUncertainty", major * 1000)
        xml.leaf("minHorizontalUncertainty", minor * 1000)
        if let azimuth = ellipse?["azimuth_deg"]?.number { xml.leaf("azimuthMaxHorizontalUncertainty", azimuth) }
        xml.leaf("preferredDescription", "uncertainty ellipse")
        xml.leaf("confidenceLevel", 68)
        xml.end()
    }
}
