import ArgumentParser
import MQTT
import Messages
import Platform
import Propagation
import Settings
import Values

/// `seismote network ...`: earthquakes that several stations see together.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network", abstract: "Find earthquakes in the onsets of many stations.",
        subcommands: [NetworkRunCommand.self, NetworkReplayCommand.self, NetworkStationsCommand.self],
        defaultSubcommand: NetworkRunCommand.self)
}

/// `seismote network run`: runs the detector, which is a program and a package of its own.
struct NetworkRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Publish the earthquakes that the stations of a broker see together.",
        discussion: """
            seismote network run --set network.confirm=true

            Runs the program seismote-network, which the package of the same name brings, with the options that follow: \
            see `seismote-network --help`.
            """)

    @Argument(parsing: .captureForPassthrough, help: "Options of seismote-network.")
    var options: [String] = []

    func run() throws { try ctl { try start() } }

    /// Does not come back unless the program cannot be run.
    private func start() throws -> CtlStatus {
        throw CtlError(status: .files, PackagedProgram.become("seismote-network", options))
    }
}

/// `seismote network stations`: where the stations of a network are, by their own word and by the operator's.
struct NetworkStationsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stations", abstract: "List where stations are, and confirm that one has moved.",
        discussion: """
            seismote network stations --confirm basement

            The detector of a network believes the place that a station states within network.place_km (1 km) of the one that \
            was entered here, or else of the one that the station stated first. A station that states another place takes no \
            part until it is confirmed.

            What is entered is kept by the broker, on <root>/network/place/<id>. The detector's answer is waited for: exit \
            status 2 where none comes.
            """)

    @Option(
        help: ArgumentHelp("The station has moved: the place that it states now is right.", valueName: "station"))
    var confirm: [String] = []

    @Option(help: ArgumentHelp("Where a station is, whatever it states.", valueName: "station=latitude,longitude"))
    var enter: [EnteredPlace] = []

    @Option(
        help: ArgumentHelp(
            "Forget what was entered: the next place that the station states is taken for right.",
            valueName: "station"))
    var forget: [String] = []

    @Option(help: ArgumentHelp("Maximum waiting time.", valueName: "s"))
    var wait = 5.0

    @OptionGroup var options: CtlOptions

    func validate() throws {
        guard wait > 0, wait <= 3600 else { throw ValidationError("--wait must be above 0 and at most 3600") }
        for id in confirm + forget where Topics.problem(inID: id) != nil {
            throw ValidationError("\(safe(id)) is no station's id: \(Topics.problem(inID: id) ?? "")")
        }
        let all = confirm + forget + enter.map(\.station)
        guard Set(all).count == all.count else { throw ValidationError("a station is named twice") }
    }

    func run() throws {
        try ctl {
            let client = try options.connect()
            defer { client.disconnect() }
            var places = NetworkPlaces(root: client.options.mqtt.root)
            try places.look(client, within: wait)
            var changes: [(station: String, payload: [UInt8])] = forget.map { ($0, []) }
            for one in enter { changes.append((one.station, NetworkPlaces.payload(one.place))) }
            for id in confirm {
                guard let place = places.stations[id]?.stated else {
                    throw CtlError(
                        status: .silent,
                        "\(id) states no place: set station.latitude and station.longitude, or give it with --enter")
                }
                changes.append((id, NetworkPlaces.payload(place)))
            }
            for change in changes {
                try client.publish(
                    Topics.place(of: change.station, root: places.root), change.payload, retain: true)
            }
            let isAnswered = try changes.isEmpty || places.await(client, within: wait)
            if Interrupt.came { return .interrupted }
            if options.json {
                for one in places.rows { print(places.value(one.id, one.station).jsonText) }
            } else if places.rows.isEmpty {
                printError("no station states a place")
            } else {
                print(places.table)
            }
            guard isAnswered else {
                throw CtlError(
                    status: .silent,
                    "the broker has what was entered, but no detector has said that it follows it: does seismote-network run?"
                )
            }
            return .done
        }
    }
}

/// `attic=46.5,7.25` or `attic=46.5,7.25,612` (metres above the sea).
struct EnteredPlace: ExpressibleByArgument {
    var station: String
    var place: Place

    init?(argument: String) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, Topics.problem(inID: String(parts[0])) == nil else { return nil }
        let numbers = parts[1].split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
        guard (2...3).contains(numbers.count), (-90...90).contains(numbers[0]), (-180...180).contains(numbers[1]),
            (-12_000...9000).contains(numbers.count == 3 ? numbers[2] : 0)
        else { return nil }
        station = String(parts[0])
        place = Place(
            latitude: numbers[0], longitude: numbers[1], elevation: numbers.count == 3 ? numbers[2] / 1000 : 0)
    }
}

/// Places of the stations of a network, as a broker has them.
struct NetworkPlaces {
    struct Station {
        /// By its own word.
        var stated: Place?
        /// By the operator's.
        var entered: Place?
        /// The detector says that it takes no part; km from where it is known to be.
        var apart: Double?
    }

    /// Stations that are remembered.
    private static let limit = 100_000

    let root: String
    private(set) var stations: [String: Station] = [:]

    /// Takes in what the broker has kept, until nothing new has come for half a second.
    mutating func look(_ client: BrokerClient, within seconds: Double) throws(ClientError) {
        let filters = ["\(root)/+/state/info", Topics.place(of: "+", root: root), "\(root)/network/status"]
        try client.gather(filters, within: seconds) { take($0) }
    }

    /// Waits until the detector has said how it is, after what was entered.
    /// - Returns: whether it has.
    mutating func await(_ client: BrokerClient, within seconds: Double) throws(ClientError) -> Bool {
        let end = monotonicSeconds() + seconds
        var isAnswered = false
        // A station that was confirmed is asked for its place again, which may take a second.
        var quiet = end
        while !Interrupt.came, let message = try client.next(until: min(end, quiet)) {
            guard take(message), message.topic == "\(root)/network/status", !message.isRetained,
                (try? JSONReader.read(message.payload)).map(NetworkStatusReading.init)?.isOnline == true
            else { continue }
            isAnswered = true
            quiet = monotonicSeconds() + (stations.values.contains { $0.apart != nil } ? 2 : 0)
        }
        return isAnswered
    }

    private mutating func take(_ message: InboundMessage) -> Bool {
        let value = try? JSONReader.read(message.payload)
        if let id = Topics.stationPlaced(by: message.topic, root: root) {
            guard Topics.problem(inID: id) == nil, hasRoom(for: id) else { return false }
            stations[id, default: Station()].entered = value.flatMap { try? Place.reading(.init($0)) }
        } else if message.topic == "\(root)/network/status" {
            for id in stations.keys { stations[id]?.apart = nil }
            for one in value.map({ NetworkStatusReading($0).moved }) ?? [] {
                guard Topics.problem(inID: one.id) == nil, hasRoom(for: one.id) else { continue }
                stations[one.id, default: Station()].apart = one.distance
            }
        } else {
            guard let (id, rest) = Topics.split(message.topic, root: root), rest == "state/info", hasRoom(for: id),
                let identity = value.flatMap({ InfoReading($0).station })
            else { return false }
            stations[id, default: Station()].stated = try? Place.reading(identity)
        }
        return true
    }

    private func hasRoom(for id: String) -> Bool { stations[id] != nil || stations.count < Self.limit }

    var rows: [(id: String, station: Station)] {
        stations.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }.filter {
            $0.station.stated != nil || $0.station.entered != nil || $0.station.apart != nil
        }
    }

    /// Message for a place that was entered, or confirmed.
    static func payload(_ place: Place) -> [UInt8] {
        let value: Value = [
            "latitude": .double(place.latitude), "longitude": .double(place.longitude),
            "elevation_m": .double(place.elevation * 1000), "source": "seismote network stations",
        ]
        return value.json()
    }

    var table: String {
        var table = Table(["station", "states", "entered", "apart", ""], left: [0, 1, 2, 4])
        for (id, station) in rows {
            let known = station.entered.flatMap { entered in station.stated.map { $0.distance(to: entered) } }
            let apart = station.apart ?? known
            table.add([
                id, Self.text(station.stated), Self.text(station.entered),
                apart.map { "\(significant($0, 3)) km" } ?? "-",
                station.apart == nil ? "" : "has moved: takes no part until --confirm \(id)",
            ])
        }
        return table.text
    }

    private static func text(_ place: Place?) -> String {
        guard let place else { return "-" }
        return "\(significant(place.latitude, 7)), \(significant(place.longitude, 7))"
    }

    func value(_ id: String, _ station: Station) -> Value {
        func value(_ place: Place?) -> Value {
            guard let place else { return .null }
            return ["latitude": .double(place.latitude), "longitude": .double(place.longitude)]
        }
        return [
            "station": .string(id), "states": value(station.stated), "entered": value(station.entered),
            "moved": .bool(station.apart != nil), "apart_km": station.apart.map { .double($0) } ?? .null,
        ]
    }
}
