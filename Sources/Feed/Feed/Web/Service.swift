/// The three services of FDSN, and what each can be asked.
enum Service: String, Sendable {
    case station, event, dataselect

    /// - Returns: the service and what of it is meant by a path such as `/fdsnws/station/1/query`.
    static func asked(_ path: String) -> (Service, String)? {
        let levels = path.split(separator: "/").map(String.init)
        guard levels.count == 4, levels[0] == "fdsnws", levels[2] == "1", let service = Service(rawValue: levels[1])
        else { return nil }
        return (service, levels[3])
    }

    private static let area = [
        "minlatitude", "maxlatitude", "minlongitude", "maxlongitude", "latitude", "longitude", "minradius", "maxradius",
    ]

    /// What events of single stations do not have: who asks for it gets those of networks.
    private static let ofSource = ["minmagnitude", "maxmagnitude", "mindepth", "maxdepth"]

    /// Besides channels and times.
    var parameters: Set<String> {
        switch self {
        case .station:
            Set(["level", "format", "nodata", "startbefore", "startafter", "endbefore", "endafter"] + Self.area)
        case .event:
            Set(
                ["format", "nodata", "limit", "offset", "eventid", "orderby", "updatedafter"] + Self.ofSource
                    + Self.area)
        case .dataselect: ["format", "nodata", "quality", "minimumlength", "longestonly"]
        }
    }

    private static let whole = ["limit", "offset"]
    private static let times = [
        "starttime", "endtime", "updatedafter", "startbefore", "startafter", "endbefore", "endafter",
    ]
    private static let texts = ["level", "format", "nodata", "eventid", "orderby", "quality"]

    private static func type(_ name: String) -> String {
        if times.contains(name) { return "xs:dateTime" }
        if whole.contains(name) { return "xs:int" }
        if name == "longestonly" { return "xs:boolean" }
        return texts.contains(name) || ["network", "station", "location", "channel"].contains(name)
            ? "xs:string" : "xs:double"
    }

    /// The service's description in WADL, by which clients find out what it takes.
    func description(host: String) -> String {
        let ofLine = self == .event ? [] : ["network", "station", "location", "channel"]
        let names = ["starttime", "endtime"] + ofLine + parameters.sorted()
        let lines = names.map { name in
            "          <param name=\"\(name)\" style=\"query\" type=\"\(Self.type(name))\"/>"
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
