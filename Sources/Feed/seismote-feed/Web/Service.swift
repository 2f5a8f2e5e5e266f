import Feed
import Messages

/// The three services, and what each can be asked.
enum Service: String {
    case station, event, dataselect

    /// - Returns: the service and what of it is meant by a path such as `/fdsnws/station/1/query`.
    static func asked(_ path: String) -> (Service, String)? {
        let levels = path.split(separator: "/").map(String.init)
        guard levels.count == 4, levels[0] == "fdsnws", levels[2] == "1", let service = Service(rawValue: levels[1])
        else { return nil }
        return (service, levels[3])
    }

    private static let box = ["minlatitude", "maxlatitude", "minlongitude", "maxlongitude"]

    /// What events of single stations do not have: who asks for it gets those of networks.
    private static let ofSource = ["minmagnitude", "maxmagnitude", "mindepth", "maxdepth"]

    /// Besides channels and times.
    var parameters: Set<String> {
        switch self {
        case .station: Set(["level", "format", "nodata"] + Self.box)
        case .event: Set(["format", "nodata", "limit", "eventid", "orderby"] + Self.ofSource + Self.box)
        case .dataselect: ["format", "nodata", "quality"]
        }
    }

    /// The service's description in WADL, by which clients find out what it takes.
    func description(host: String) -> String {
        let ofLine = self == .event ? [] : ["network", "station", "location", "channel"]
        let names = ["starttime", "endtime"] + ofLine + parameters.sorted()
        let lines = names.map { name in
            let type =
                name.hasSuffix("time")
                ? "xs:dateTime" : name.hasSuffix("tude") ? "xs:double" : name == "limit" ? "xs:int" : "xs:string"
            return "          <param name=\"\(name)\" style=\"query\" type=\"\(type)\"/>"
        }
        let plain = String(
            host.unicodeScalars.filter {
                $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0 || ".:-[]".unicodeScalars.contains($0))
            }.map(Character.init))
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <application xmlns="http://wadl.dev.java.net/2009/02" xmlns:xs="http://www.w3.org/2001/XMLSchema">
              <resources base="http://\(plain)/fdsnws/\(rawValue)/1/">
                <resource path="query">
                  <method name="GET" id="query">
                    <request>
            \(lines.joined(separator: "\n"))
                    </request>
                  </method>
                </resource>
                <resource path="version"><method name="GET"/></resource>
                <resource path="application.wadl"><method name="GET"/></resource>
              </resources>
            </application>

            """
    }
}

/// A part of the earth that is asked for.
struct Box {
    private var south = -90.0, north = 90.0, west = -180.0, east = 180.0
    private var isAsked = false

    init(_ query: FDSNQuery) throws(FDSNQuery.Problem) {
        for (name, path) in [
            ("minlatitude", \Box.south), ("maxlatitude", \Box.north), ("minlongitude", \Box.west),
            ("maxlongitude", \Box.east),
        ] {
            guard let number = try query.number(name) else { continue }
            self[keyPath: path] = number
            isAsked = true
        }
    }

    /// A station without a place is in no part, but in the whole.
    func contains(_ latitude: Double?, _ longitude: Double?) -> Bool {
        guard isAsked else { return true }
        guard let latitude, let longitude else { return false }
        return latitude >= south && latitude <= north && longitude >= west && longitude <= east
    }
}
