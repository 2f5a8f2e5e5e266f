import Messages
import Values

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
