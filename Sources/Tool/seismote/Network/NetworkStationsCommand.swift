import ArgumentParser
import MQTT
import Messages
import Propagation

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
