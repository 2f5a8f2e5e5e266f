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

    /// How the service treats a parameter of the specification (fdsnws-station 1.1, -dataselect 1.1, -event 1.2).
    enum Handling: Sendable, Equatable {
        /// It is done what it says.
        case honoured
        /// These values ask for what is given anyway, in lower case; another is a wish that cannot be granted.
        case taken([String], else: String)
    }

    struct Parameter: Sendable {
        var name: String
        /// XML Schema's.
        var type: String
        var handling = Handling.honoured

        init(_ name: String, _ type: String = "xs:string", _ handling: Handling = .honoured) {
            (self.name, self.type, self.handling) = (name, type, handling)
        }
    }

    private static let area = [
        "minlatitude", "maxlatitude", "minlongitude", "maxlongitude", "latitude", "longitude", "minradius", "maxradius",
    ].map { Parameter($0, "xs:double") }

    private static func flag(_ name: String, _ values: [String], else words: String) -> Parameter {
        Parameter(name, "xs:boolean", .taken(values + values.map { $0 == "true" ? "1" : "0" }, else: words))
    }

    /// Parameters that the specification knows besides channels and times.
    var list: [Parameter] {
        let common = [Parameter("format"), Parameter("nodata")]
        switch self {
        case .station:
            return common + Self.area + [
                Parameter("level"), Parameter("startbefore", "xs:dateTime"), Parameter("startafter", "xs:dateTime"),
                Parameter("endbefore", "xs:dateTime"), Parameter("endafter", "xs:dateTime"),
                // Nothing is restricted: with and without is the same.
                Self.flag("includerestricted", ["true", "false"], else: ""),
                Self.flag("includeavailability", ["false"], else: "extents of the data are not in the answer"),
                Parameter("matchtimeseries", "xs:boolean"),
                Parameter("updatedafter", "xs:dateTime", .taken([""], else: "when a description changed is not kept")),
            ]
        case .event:
            return common + Self.area + [
                Parameter("limit", "xs:int"), Parameter("offset", "xs:int"), Parameter("eventid"), Parameter("orderby"),
                Parameter("updatedafter", "xs:dateTime"),
                // What events of single stations do not have: who asks for it gets those of networks.
                Parameter("minmagnitude", "xs:double"), Parameter("maxmagnitude", "xs:double"),
                Parameter("mindepth", "xs:double"), Parameter("maxdepth", "xs:double"),
                // An event has one origin and one magnitude, and all its arrivals are in it.
                Self.flag("includeallorigins", ["true", "false"], else: ""),
                Self.flag("includeallmagnitudes", ["true", "false"], else: ""),
                Self.flag("includearrivals", ["true", "false"], else: ""),
                Parameter("magnitudetype", "xs:string", .taken(["", "*", "m"], else: "all magnitudes are of type M")),
                Parameter("eventtype", "xs:string", .taken(["", "*"], else: "events are not chosen by their type")),
                Parameter("catalog", "xs:string", .taken(["", "*"], else: "there are no catalogs")),
                Parameter("contributor", "xs:string", .taken(["", "*"], else: "there are no contributors")),
            ]
        case .dataselect:
            return common + [
                Parameter("minimumlength", "xs:double"), Parameter("longestonly", "xs:boolean"),
                Parameter(
                    "quality", "xs:string",
                    .taken(["", "*", "b", "d", "m", "q", "r"], else: "quality is D, R, Q, M or B")),
                Parameter("repository", "xs:string", .taken(["", "*"], else: "there is one repository")),
            ]
        }
    }

    /// Besides channels and times.
    var parameters: Set<String> { Set(list.map(\.name)) }

    /// - Throws: the parameter that asks for what cannot be given, by its name.
    func check(_ query: FDSNQuery) throws(FDSNQuery.Problem) {
        for parameter in list {
            guard case .taken(let values, let words) = parameter.handling, let value = query.other[parameter.name],
                !values.contains(value.lowercased())
            else { continue }
            let isFlag = parameter.type == "xs:boolean"
            guard !isFlag || ["true", "1", "false", "0"].contains(value.lowercased()) else {
                throw .init(words: "\(parameter.name) is true or false")
            }
            let shown = String(value.prefix(40).filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
            throw .init(words: "\(parameter.name)=\(shown) cannot be granted: \(words)")
        }
        guard ["", "204", "404"].contains(query.other["nodata"] ?? "") else {
            throw .init(words: "nodata is 204 or 404")
        }
    }

    /// The service's description in WADL, by which clients find out what it takes.
    func description(host: String) -> String {
        let ofLine = self == .event ? [] : ["network", "station", "location", "channel"]
        let times = ["starttime", "endtime"].map { Parameter($0, "xs:dateTime") }
        let all = times + ofLine.map { Parameter($0) } + list.sorted { $0.name < $1.name }
        let lines = all.map { one in
            "          <param name=\"\(one.name)\" style=\"query\" type=\"\(one.type)\"/>"
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
