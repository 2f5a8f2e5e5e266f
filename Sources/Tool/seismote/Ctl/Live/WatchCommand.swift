import ArgumentParser
import MQTT
import Messages
import Platform
import Settings
import Values

/// `seismote ctl watch`
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show live levels and traces.",
        discussion: """
            seismote ctl watch basement

            One station fills the terminal: level and trace of each axis, red and marked where it was triggered. Several, or \
            all without a name, are shown in a table. Without a terminal, or with --plain, a line for each summary and \
            event. Runs until Ctrl-C, q, --count (of summaries) or --seconds, and reconnects when the broker comes back.
            """)

    @OptionGroup var live: LiveOptions

    @Option(help: ArgumentHelp("Length of the traces.", valueName: "s"))
    var window = 30.0

    @Flag(help: "Print lines even on a terminal.")
    var plain = false

    @OptionGroup var options: CtlOptions

    func validate() throws {
        guard window >= 1, window <= 3600 else { throw ValidationError("--window must be from 1 to 3600") }
    }

    func run() throws {
        try ctl {
            let client = try options.connect()
            defer { client.disconnect() }
            let isDrawn = Terminal.isThere && !plain && !options.json
            var kinds = ["state/online", "state/summary", "event/trigger"]
            if isDrawn { kinds += ["state/health"] }
            if isDrawn && live.names.stations.count == 1 { kinds += ["data/trace"] }
            let feed = Feed(client, live.names.filters(client.options.mqtt.root, kinds))
            return isDrawn ? try draw(feed, client.options.mqtt.root) : try lines(feed, client.options.mqtt.root)
        }
    }

    private func lines(_ feed: Feed, _ root: String) throws(ClientError) -> CtlStatus {
        var feed = feed
        let end = live.seconds.map { monotonicSeconds() + $0 } ?? .infinity
        var shown = 0
        while !Interrupt.came, shown < live.count ?? .max, monotonicSeconds() < end {
            guard let message = try feed.next(until: end),
                let (station, rest) = Topics.split(message.topic, root: root)
            else { continue }
            // What was kept may be from long ago.
            if rest == "state/summary", message.isRetained { continue }
            let value: Value
            if rest == "state/online" {
                value = .string(String(decoding: message.payload.prefix(20), as: UTF8.self))
            } else if let read = try? JSONReader.read(message.payload) {
                let isEvent = rest == "event/trigger"
                if isEvent, !EventID.isOf(station: station, StationEventMembers(read).id) { continue }
                value = read
            } else {
                continue
            }
            if rest == "state/summary" { shown += 1 }
            if options.json {
                print(Value.object([.init("station", .string(station)), .init(rest, value)]).jsonText)
            } else if rest == "state/online" {
                print("          \(station)  \(value.text ?? "")")
            } else {
                print(
                    rest == "state/summary"
                        ? SummaryText.line(station, SummaryReading(value))
                        : EventLine.text(station, StationEventMembers(value)))
            }
            flushOutput()
        }
        return shown == 0 && !Interrupt.came ? .silent : .done
    }

    private func draw(_ feed: Feed, _ root: String) throws(ClientError) -> CtlStatus {
        var feed = feed
        let terminal = Terminal()
        let one = live.names.stations.count == 1 ? live.names.stations[0] : nil
        var screen = WatchScreen(terminal: terminal, window: window)
        var fleet = Fleet(root: root)
        // Said on the screen, not across it.
        let notice = Notice()
        feed.onChange = { notice.text = $0 }
        let end = live.seconds.map { monotonicSeconds() + $0 } ?? .infinity
        var shown = 0
        var next = 0.0
        terminal.open()
        defer { terminal.close() }
        while !Interrupt.came, shown < live.count ?? .max, monotonicSeconds() < end {
            if let message = try feed.next(until: min(end, next)) {
                take(message, &fleet, &screen)
                if message.topic.hasSuffix("/state/summary"), !message.isRetained { shown += 1 }
            }
            let now = monotonicSeconds()
            guard now >= next else { continue }
            next = now + 0.2
            terminal.restIfAsked()
            if terminal.wantsEnd() { break }
            screen.notice = notice.text
            terminal.draw(
                one.map { screen.station($0, fleet.stations[$0] ?? StationView()) } ?? screen.table(fleet.seen))
        }
        return .done
    }

    private final class Notice { var text = "" }

    private func take(_ message: InboundMessage, _ fleet: inout Fleet, _ screen: inout WatchScreen) {
        if fleet.take(message) != nil { return }
        guard let (station, rest) = Topics.split(message.topic, root: fleet.root) else { return }
        if rest == "data/trace" {
            if let block = LiveBlock(message.payload) { screen.trace.take(block, keeping: window + 2) }
        } else if rest == "event/trigger",
            let event = (try? JSONReader.read(message.payload)).map(StationEventMembers.init),
            EventID.isOf(station: station, event.id)
        {
            screen.take(event: event, of: station)
        }
    }
}

/// A summary in words.
enum SummaryText {
    /// One line for a log.
    static func line(_ station: String, _ summary: SummaryReading) -> String {
        var parts = [timeOfDay(summary.time), station]
        if summary.isValid {
            let levels = ["x", "y", "z"].map { "\($0) \(number(summary.level($0)?.rms))" }
            parts.append("rms \(levels.joined(separator: " ")) m/s²")
        }
        parts.append(motionOrReason(summary))
        if let trigger = trigger(summary) { parts.append(trigger) }
        return parts.joined(separator: "  ")
    }

    /// Peaks and intensities, with the seconds that they are of:
    /// `PGA 0.041 m/s² (0.42 %g)  PGV 0.0021 m/s  of 10 s  III (worden12, 10 s)  1 (jma, 60 s)`.
    static func motion(_ summary: SummaryReading) -> String {
        var parts = ["PGA \(number(summary.pga)) m/s² (\(number(summary.pgaPercentG)) %g)"]
        parts.append("PGV \(number(summary.pgv)) m/s")
        if let seconds = summary.window { parts.append("of \(significant(seconds, 3)) s") }
        for one in summary.intensities.prefix(4) where one.value != nil {
            let value = one.roman?.printable ?? one.grade?.printable ?? number(one.value)
            let seconds = one.window.map { ", \(significant($0, 3)) s" } ?? ""
            parts.append("\(value) (\(one.relation?.printable ?? "?")\(seconds))")
        }
        return parts.joined(separator: "  ")
    }

    /// The same, or why there is nothing to tell.
    static func motionOrReason(_ summary: SummaryReading) -> String {
        summary.isValid ? motion(summary) : "not valid: \(summary.reason?.printable ?? "?")"
    }

    /// `TRIGGERED by level, sta_lta`; nil when not.
    static func trigger(_ summary: SummaryReading) -> String? {
        guard summary.isTriggered else { return nil }
        let names = summary.detectors.printable
        return "TRIGGERED" + (names.isEmpty ? "" : " by " + names.joined(separator: ", "))
    }

    static func number(_ value: Double?) -> String { value.map { significant($0, 3) } ?? "-" }
}
