import Exchange
import Messages
import Values

/// The format `text` of the FDSN web services (fdsnws 1.2): a line of names, and a line of fields each, with `|` between.
public struct FDSNText: Sendable {
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
