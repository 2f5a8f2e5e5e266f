import ArgumentParser
import Association
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
            for tree in try list.events(of: station, client, json: options.json || csv || quakeml) {
                count += 1
                let event = StationEventMembers(tree)
                if let export {
                    try write(event, to: export)
                } else if csv {
                    print(EventList.line(station, event))
                } else if quakeml {
                    document.add(station, tree, info: fleet.stations[station]?.info)
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
    private func write(_ event: StationEventMembers, to folder: String) throws {
        guard let id = event.id?.printable, (try? EventCommand.check(id)) != nil, !id.contains("/") else { return }
        // (Where it cannot be made, the file cannot be written.)
        mkdir(folder, 0o755)
        let file = try OutputFile(path: "\(folder)/\(id).json")
        file.append(event.tree.jsonText)
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
                let event = (try? JSONReader.read(message.payload)).map(StationEventMembers.init),
                EventID.isOf(station: station, event.id), repair.isNew(event, of: station, on: rest)
            else { continue }
            if event.kind == .update, !updates { continue }
            show(station, event)
            shown += 1
        }
        return shown < live.count ?? 0 && !Interrupt.came ? .silent : .done
    }

    private func time(_ event: StationEventMembers) -> String { event.onsetText ?? "" }

    private func show(_ station: String, _ event: StationEventMembers) {
        if options.json {
            print(Value.object([.init("station", .string(station)), .init("event", event.tree)]).jsonText)
        } else {
            print(EventLine.text(station, event))
        }
        flushOutput()
    }
}

/// An event message on one line.
enum EventLine {
    static func text(_ station: String, _ event: StationEventMembers) -> String {
        let kind = event.kindWord?.printable ?? "?"
        var parts = [station, kind, strength(event)]
        if kind != "onset", let seconds = event.duration { parts.append("\(fixed(seconds, 1)) s") }
        if let assessment = assessment(event) { parts.append(assessment) }
        if event.isConfirmed { parts.append("confirmed by neighbours") }
        if let label = event.label?.printable { parts.append("label: \(label)") }
        let detectors = event.detectors.map { detector in
            let axes = detector.axes.printable
            return (detector.name?.printable ?? "?") + (axes.isEmpty ? "" : " on \(axes.joined(separator: ","))")
        }
        if kind == "onset", !detectors.isEmpty { parts.append("by \(detectors.joined(separator: "; "))") }
        if event.isClipped { parts.append("CLIPPED") }
        if let records = event.records { parts.append("waveform of \(records) records") }
        if event.isTest { parts.append("test") }
        let time = kind == "end" ? event.endText : event.onsetText
        return dateAndTime(time ?? event.timeText) + "  " + parts.joined(separator: "  ")
    }

    /// Assessment of an event, and the shaking to come: `earthquake 93 %  ALARM  PGV 3 cm/s to come (0.8 to 13)`; nil
    /// before anything is known. The percentage is always the probability of an earthquake, and says so: `disturbance
    /// (earthquake 10 %)`.
    static func assessment(_ event: StationEventMembers) -> String? {
        var parts: [String] = []
        if let likely = event.likely?.printable {
            switch (likely, event.probability) {
            // An earthquake is one until the probability has been low for a while.
            case ("earthquake", let p?) where p >= 0.5: parts.append("\(likely) \(percent(p))")
            case ("earthquake", _), (_, nil): parts.append(likely)
            case (_, let p?): parts.append("\(likely) (earthquake \(percent(p)))")
            }
        }
        if event.isMoved { parts.append("the sensor was moved") }
        if event.hasAlarm { parts.append("ALARM") }
        if event.kind != .end, let onsite = event.onsite, let pgv = onsite.pgv, let low = onsite.low,
            let high = onsite.high
        {
            let (least, most) = (significant(low * 100, 2), significant(high * 100, 2))
            let more = onsite.isSaturated ? ", may become much more" : ""
            parts.append("PGV \(significant(pgv * 100, 2)) cm/s to come (\(least) to \(most)\(more))")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "  ")
    }

    /// Never 0 or 100: nothing is sure.
    static func percent(_ p: Double) -> String { "\(Int(min(99, max(1, (p * 100).rounded())))) %" }

    /// Peak acceleration and the first intensity: `0.0412 m/s² III`.
    static func strength(_ event: StationEventMembers) -> String {
        var parts: [String] = []
        if let pga = event.pga {
            parts.append("\(significant(pga, 3)) m/s²")
            if !event.isAccelerationValid { parts.append("(not certain)") }
        }
        if let one = event.intensities.first(where: { $0.value != nil }) {
            parts.append(intensity(one))
            if !event.isCertain(one) { parts.append("(not certain)") }
        }
        return parts.joined(separator: " ")
    }

    /// Its step, or its number where it has none.
    static func intensity(_ one: IntensityReading) -> String {
        one.roman?.printable ?? one.grade?.printable ?? one.value.map { fixed($0, 1) } ?? ""
    }
}

/// Asks stations for the events that they keep, page by page.
struct EventList {
    let request: [Value.Member]
    let limit: Int
    let timeout: Double
    private(set) var status = CtlStatus.done

    init(_ request: [Value.Member], limit: Int, timeout: Double) {
        (self.request, self.limit, self.timeout) = (request, limit, timeout)
    }

    /// - Returns: the newest first.
    mutating func events(of station: String, _ client: BrokerClient, json: Bool) throws(ClientError) -> [Value] {
        var found: [Value] = []
        var cursor: Int?
        var isIncomplete = false
        var foreign = 0
        defer {
            if isIncomplete { printError("\(station): \(Reply.incomplete)") }
            if foreign > 0 { printError("\(station): \(foreign) events whose id is not this station's were left out") }
        }
        repeat {
            var members = request + [.init("limit", .int(Int64(min(100, limit - found.count))))]
            if let cursor { members.append(.init("after", .int(Int64(cursor)))) }
            let exchange = Exchange(
                client, "events", .object(members), .stations([station]), patience: timeout,
                line: WaitingLine(enabled: !json))
            var report = AnswerReport(json: false, toErrors: true) { _ in "" }
            var result: ResultReading?
            exchange.onAnswer = { answer in
                result = answer.reply?.result
                if answer.outcome == .done, answer.reply?.isIncomplete == true { isIncomplete = true }
                if answer.outcome != .done { report.take(answer) }
            }
            try exchange.run()
            guard let page = result?.events else {
                status = report.status == .done ? .silent : report.status
                return found
            }
            let own = page.filter { EventID.isOf(station: station, StationEventMembers($0).id) }
            foreign += page.count - own.count
            found += own.prefix(limit - found.count)
            cursor = result?.nextNumber
        } while cursor != nil && found.count < limit && !Interrupt.came
        return found
    }

    // MARK: As a table

    static let header =
        "station,event_id,onset_utc,end_utc,duration_s,pga_m_s2,pgv_m_s,mmi,jma,class,dominant_hz,clipped,test,velocity_valid,acceleration_valid"

    /// A line of CSV (RFC 4180).
    static func line(_ station: String, _ event: StationEventMembers) -> String {
        func number(_ value: Double?) -> String { value.map { "\($0)" } ?? "" }
        func text(_ value: String?) -> String {
            let text = value?.printable ?? ""
            let isPlain = !text.contains { $0 == "," || $0 == "\"" }
            return isPlain
                ? text
                : "\"\(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
        }
        return [
            station, text(event.id), text(event.onsetText), text(event.endText), number(event.duration),
            number(event.pga), number(event.pgv), number(event.mmi), number(event.jma), text(event.likely),
            number(event.dominant), event.isClipped ? "1" : "0", event.isTest ? "1" : "0",
            event.isVelocityValid ? "1" : "0", event.isAccelerationValid ? "1" : "0",
        ].joined(separator: ",")
    }
}

/// Sees in `boot` and `seq` which messages of stations' events have not come, and asks for them with the command
/// `resend`: they come on `data/history/event/trigger`.
struct EventRepair {
    static let filters = ["event/trigger", "data/history/event/trigger"]
    /// Topics below a station on which messages of events come.
    static let topics = Set(filters)

    let root: String
    private var watch = SequenceWatch()
    private let name = RandomUUID.text().prefix(8)
    private var asked = 0

    init(root: String) { self.root = root }

    /// Notes a message.
    /// - Parameter topic: below the station.
    /// - Returns: false when it has come before, or was sent again for somebody who wanted what was before us.
    mutating func isNew(_ event: StationEventMembers, of station: String, on topic: String) -> Bool {
        let isLive = topic == Self.filters[0]
        let stamp = MessageStamp(event.tree)
        guard let boot = stamp.boot, let number = stamp.number else { return isLive }
        guard isLive || watch.mark(of: station) != nil else { return false }
        return watch.note(station, boot: boot, number: number, made: stamp.time, at: monotonicSeconds())
    }

    /// Asks for what is missing, again where it does not come. A broker that does not let us leaves things as they are.
    mutating func ask(_ client: BrokerClient) {
        for gap in watch.due(at: monotonicSeconds()) {
            asked += 1
            let request: Value = [
                "id": .string("ctl-\(name)-\(asked)"), "source": "seismote ctl", "stream": "event/trigger",
                "boot": .string(gap.boot), "from_seq": .int(Int64(gap.from)), "to_seq": .int(Int64(gap.to)),
            ]
            _ = try? client.send("\(root)/\(gap.station)/cmd/resend", request.json())
        }
        _ = client.takeAcknowledged()
    }
}
