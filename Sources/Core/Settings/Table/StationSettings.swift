import Messages

extension SettingsTable {
    static let station = Chapter(
        key: "station", title: "Station", help: "Who and where the station is.", owners: .sampling,
        settings: [
            StationSetting(
                "station.id", \.station.id, .text(.id(0...64), reserved: Topics.reserved), written: "\"\"",
                apply: .restart,
                title: "Station id",
                "Name of the station in all topics and events; empty: the host name."
            ).owned(by: .link, .sampling, .storage, .commands, .reporter),
            StationSetting(
                "station.network", \.station.network, .text(.fdsn(1...8)), apply: .live,
                title: "Network code",
                "FDSN network code, for miniSEED; XX is for stations that have none."),
            StationSetting(
                "station.code", \.station.code, .text(.fdsn(0...8)), apply: .live,
                title: "Station code",
                "FDSN station code, for miniSEED; empty: made from the id."),
            StationSetting(
                "station.location", \.station.location, .text(.fdsn(0...8)), apply: .live,
                title: "Location code", advanced: true,
                "FDSN location code, for miniSEED."),
            StationSetting(
                "station.latitude", \.station.latitude,
                .optional(.number(.from(-90, to: 90), unit: "degrees"), none: "not given"), apply: .live,
                title: "Latitude",
                "Degrees north (WGS 84)."
            ).owned(by: .reporter),
            StationSetting(
                "station.longitude", \.station.longitude,
                .optional(.number(.from(-180, to: 180), unit: "degrees"), none: "not given"), apply: .live,
                title: "Longitude",
                "Degrees east (WGS 84)."
            ).owned(by: .reporter),
            StationSetting(
                "station.elevation_m", \.station.elevation,
                .optional(.number(.from(-12_000, to: 10_000), unit: "m"), none: "not given"), apply: .live,
                title: "Elevation",
                "Height above sea level."
            ).owned(by: .reporter),
            StationSetting(
                "station.description", \.station.description, .text(.line(256)), apply: .live,
                title: "Description",
                "Where the station stands, in words."
            ).owned(by: .reporter),
            StationSetting(
                "station.groups", \.station.groups, .groups, apply: .live,
                title: "Groups",
                "Groups whose commands the station also obeys; every station is in the group `all`."
            ).owned(by: .link, .commands),
        ])
}

extension Codec where T == [String] {
    fileprivate static let groups = list(
        of: .text(.id(1...64)), count: 0...16, allowed: "a list of at most 16 different names"
    ) { $0 }
}
