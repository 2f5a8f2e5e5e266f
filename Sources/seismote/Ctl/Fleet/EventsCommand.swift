import ArgumentParser
import Link
import Messages
import Settings

/// `seismote ctl events`
struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Events as they happen, after the last one of each station.",
        discussion: "Runs until Ctrl-C, --count or --seconds, and reconnects when the broker comes back.")

    @OptionGroup var live: LiveOptions

    @Flag(help: "Print the latest event of each station and exit.")
    var last = false

    @Flag(help: "Also print updates of events in progress.")
    var updates = false

    @OptionGroup var options: CtlOptions

    func run() throws {
        try ctl {
            let client = try options.connect()
            defer { client.disconnect() }
            let root = client.access.root
            let start = monotonicSeconds()
            if live.count == nil || last {
                var fleet = Fleet(root: root)
                try fleet.look(client, filters: ["event/last"], stations: live.names.stations, within: 5)
                let known = fleet.stations.compactMap { one in one.value.lastEvent.map { (one.key, $0) } }
                for (station, event) in known.sorted(by: { time($0.1) < time($1.1) }) { show(station, event) }
                if last { return known.isEmpty ? .silent : .done }
            }
            var feed = Feed(client, live.names.filters(root, ["event/trigger"]))
            var shown = 0
            let end = live.seconds.map { start + $0 } ?? .infinity
            while !Interrupt.came, shown < live.count ?? .max, monotonicSeconds() < end {
                guard let message = try feed.next(until: end), !message.isRetained,
                    let (station, rest) = splitTopic(message.topic, root: root), rest == "event/trigger",
                    let event = try? JSONReader.read(message.payload)
                else { continue }
                if event["event_type"]?.rawText == "update", !updates { continue }
                show(station, event)
                shown += 1
            }
            return shown < live.count ?? 0 && !Interrupt.came ? .silent : .done
        }
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
