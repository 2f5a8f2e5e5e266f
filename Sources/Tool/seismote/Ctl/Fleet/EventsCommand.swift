import ArgumentParser
import Commands
import Exchange
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// `seismote ctl events`
struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Events of the past, or as they happen.",
        discussion: """
            seismote ctl events --since 7d --min-mmi 3 --csv

            With --since the events that the stations keep, the newest first. Else events as they happen, after the last one \
            of each station: until Ctrl-C, --count or --seconds; the command reconnects when the broker comes back.
            """)

    @OptionGroup var live: LiveOptions

    @Flag(help: "Print the latest event of each station and exit.")
    var last = false

    @Flag(help: "Also print updates of events in progress.")
    var updates = false

    @OptionGroup var past: PastOptions

    @Option(help: ArgumentHelp("With --since: of at least this intensity (MMI).", valueName: "mmi"))
    var minMmi: Double?

    @Option(
        name: .customLong("class"),
        help: ArgumentHelp("With --since: earthquake, disturbance or unclassified.", valueName: "class"),
        completion: .list(Command.events.member("class")?.words ?? []))
    var likely: String?

    @Flag(help: "Of the past: only those with a label (see `seismote ctl label`).")
    var labelled = false

    @Option(
        help: ArgumentHelp(
            "Of the past: write each event and its waveform into this folder, for a new fit of the classification.",
            valueName: "folder"))
    var export: String?

    @Option(help: ArgumentHelp("With --since: at most so many of each station.", valueName: "n"))
    var limit = 1000

    @Flag(help: "With --since: as CSV, times in UTC, SI units in the header.")
    var csv = false

    @Flag(help: "With --since: as QuakeML 1.2, a pick and an amplitude of each event.")
    var quakeml = false

    @Option(help: ArgumentHelp("Maximum time for an answer.", valueName: "s"))
    var timeout = 10.0

    @OptionGroup var options: CtlOptions

    private var isPast: Bool {
        past.since != nil || past.until != nil || minMmi != nil || likely != nil || csv || quakeml
            || labelled || export != nil
    }

    func validate() throws {
        if isPast, live.count != nil || live.seconds != nil || last || updates {
            throw ValidationError("--since and what goes with it exclude --count, --seconds, --last and --updates")
        }
        if [csv, quakeml, options.json].count(where: { $0 }) > 1 {
            throw ValidationError("--csv, --quakeml and --json exclude each other")
        }
        if let likely, let words = Command.events.member("class")?.words, !words.contains(likely) {
            throw ValidationError("--class \(likely): must be \(words.joined(separator: ", "))")
        }
        if let minMmi { try Command.events.check("min_mmi", minMmi, option: "min-mmi") }
        guard limit > 0, timeout > 0 else { throw ValidationError("--limit and --timeout must be above 0") }
    }

    func run() throws {
        try ctl {
            let client = try options.connect()
            defer { client.disconnect() }
            return try isPast ? list(client) : follow(client)
        }
    }

    // MARK: The past

    private func list(_ client: BrokerClient) throws -> CtlStatus {
        let (from, to) = past.range(standard: 0)
        var request: [Value.Member] = [.init("to", to.timeValue)]
        if past.since != nil { request.append(.init("from", from.timeValue)) }
        if let minMmi { request.append(.init("min_mmi", .double(minMmi))) }
        if let likely { request.append(.init("class", .string(likely))) }
        if labelled { request.append(.init("labelled", .bool(true))) }
        var fleet = Fleet(root: client.options.mqtt.root)
        try fleet.look(
            client, filters: quakeml ? ["state/online", "state/info"] : ["state/online"],
            stations: live.names.stations, within: 3)
        var names = live.names.stations
        // (RabbitMQ gives a wildcard nothing that was kept.)
        if names.isEmpty, fleet.stations.isEmpty {
            try fleet.ask(client, filters: quakeml ? ["state/online", "state/info"] : ["state/online"], within: 6)
        }
        if names.isEmpty { names = fleet.stations.filter { $0.value.isOnline == true }.keys.sorted() }
        if names.isEmpty { printError("no station is online") }
        var (list, document) = (EventList(request, limit: limit, timeout: timeout), QuakeML())
        if csv { print(EventList.header) }
        var count = 0
        for station in names where !Interrupt.came {
            for event in try list.events(of: station, client, json: options.json || csv || quakeml) {
                count += 1
                if let export {
                    try write(event, to: export)
                } else if csv {
                    print(EventList.line(station, event))
                } else if quakeml {
                    document.add(station, event, info: fleet.stations[station]?.info)
                } else {
                    show(station, event)
                }
            }
            flushOutput()
        }
        if quakeml { print(document.text, terminator: "") }
        if !csv, !quakeml, !options.json, list.status == .done, !names.isEmpty {
            printError(count == 1 ? "1 event" : "\(count) events")
        }
        flushOutput()
        return names.isEmpty ? .silent : list.status
    }

    /// `<event_id>.json` and, where the station keeps it, `<event_id>.mseed`.
    private func write(_ event: Value, to folder: String) throws {
        guard let id = event["event_id"]?.text, (try? EventCommand.check(id)) != nil, !id.contains("/") else { return }
        // (Where it cannot be made, the file cannot be written.)
        mkdir(folder, 0o755)
        let file = try OutputFile(path: "\(folder)/\(id).json")
        file.append(event.jsonText)
        file.endLine()
        try file.finish()
        var request = RequestOptions()
        (request.common, request.timeout) = (options, timeout)
        let fetch = WaveformFetch(
            verb: "event", request: ["event_id": .string(id), "waveform": .bool(true)],
            targets: .stations([EventCommand.station(of: id)]), output: "\(folder)/\(id).mseed", isFolder: false,
            options: request, nothing: "the event has no waveform")
        _ = try fetch.run()
    }

    // MARK: As they happen

    private func follow(_ client: BrokerClient) throws -> CtlStatus {
        let root = client.options.mqtt.root
        let start = monotonicSeconds()
        if live.count == nil || last {
            var fleet = Fleet(root: root)
            try fleet.look(client, filters: ["event/last"], stations: live.names.stations, within: 5)
            let known = fleet.stations.compactMap { one in one.value.lastEvent.map { (one.key, $0) } }
            for (station, event) in known.sorted(by: { time($0.1) < time($1.1) }) { show(station, event) }
            if last { return known.isEmpty ? .silent : .done }
        }
        var feed = Feed(client, live.names.filters(root, EventRepair.filters))
        var repair = EventRepair(root: root)
        var shown = 0
        let end = live.seconds.map { start + $0 } ?? .infinity
        while !Interrupt.came, shown < live.count ?? .max, monotonicSeconds() < end {
            repair.ask(client)
            guard let message = try feed.next(until: min(end, monotonicSeconds() + 1)), !message.isRetained,
                let (station, rest) = Topics.split(message.topic, root: root), EventRepair.topics.contains(rest),
                let event = try? JSONReader.read(message.payload),
                EventID.isOf(station: station, event["event_id"]?.rawText), repair.isNew(event, of: station, on: rest)
            else { continue }
            if event["event_type"]?.rawText == "update", !updates { continue }
            show(station, event)
            shown += 1
        }
        return shown < live.count ?? 0 && !Interrupt.came ? .silent : .done
    }

    private func time(_ event: Value) -> String { event["onset"]?.rawText ?? "" }

    private func show(_ station: String, _ event: Value) {
        if options.json {
            print(Value.object([.init("station", .string(station)), .init("event", event)]).jsonText)
        } else {
            print(EventLine.text(station, event))
        }
        flushOutput()
    }
}
