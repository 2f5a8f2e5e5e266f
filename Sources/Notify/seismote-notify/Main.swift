import ArgumentParser
import DatabaseFiles
import Glibc
import MQTT
import Messages
import Platform
import ServerOptions
import Settings
import Values

/// `seismote-notify`: messages of stations for people: on the phone by ntfy, by mail, by whatever Apprise reaches.
@main
struct NotifyProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seismote-notify", abstract: "Tell people of earthquakes, alarms and stations that are offline.",
        discussion: """
            Reads the events and states of the stations of a broker, with the rights of a viewer, and sends messages by \
            ntfy, Apprise or mail. It ends with SIGTERM or Ctrl-C and goes on where it was when it is started again.

            Settings come from \(NotifySettings.usualFile) where it is there, or from --config; `--default` prints that file.
            """, version: productVersion, subcommands: [Run.self, Test.self], defaultSubcommand: Run.self)

    /// (The command line that Swift knows needs /proc.)
    static func main() {
        ProgramOutput.begin()
        main(Array(ProgramArguments.all.dropFirst()))
    }

    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Run the service.")

        @Option(name: .shortAndLong, help: ArgumentHelp("Settings file.", valueName: "file"))
        var config: String?

        @OptionGroup var options: ProgramOptions<NotifySettings>

        func run() throws {
            if let printed = options.printed { return print(printed, terminator: "") }
            let path = options.path(config)
            let settings = try options.load(path) { printError($0) }
            if options.check {
                return print("\(path ?? "settings"): valid, \(settings.recipients.count) recipients")
            }
            if options.health { return try ProgramOptions<NotifySettings>.reportHealth(of: settings.folder) }
            guard !settings.recipients.isEmpty else {
                throw failure(
                    "notify.recipients is empty: add a recipient; see seismote-notify(8)", .settings, say: printError)
            }
            do {
                try serve(settings)
            } catch let error as DatabaseError {
                throw failure(error.message, .files, say: printError)
            } catch { throw failure("\(error)", .unavailable, say: printError) }
        }

        private func serve(_ settings: NotifySettings) throws {
            EndSignals.listen()
            Courier.preparePath()
            let clock = TimeZoneTable.use(settings.zone)
            let inbox = try BrokerInbox(mostBytes: 16 << 20)
            let service = NotifyService(
                settings, clock: clock, queue: try QueueFile(folder: settings.folder), inbox: inbox)
            let link = try Link(
                options: settings.linkOptions(service.subscriptions), report: { report($0, inbox) },
                receive: { inbox.put($0) })
            try link.start()
            defer { _ = link.stop(within: 2) }
            try service.run()
        }
    }

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send a test message now, to one recipient or to all.")

        @Argument(help: "Name of a recipient; else all.")
        var name: String?

        @Option(name: .shortAndLong, help: ArgumentHelp("Settings file.", valueName: "file"))
        var config: String?

        @OptionGroup var options: ProgramOptions<NotifySettings>

        func run() throws {
            let settings = try options.load(options.path(config)) { printError($0) }
            let recipients = settings.recipients.filter { name == nil || $0.name == name }
            guard !recipients.isEmpty else {
                let names = settings.recipients.map(\.name).joined(separator: ", ")
                let words = "there is no recipient \(name ?? ""); there are: \(names.isEmpty ? "none" : names)"
                throw failure(words, .settings, say: printError)
            }
            EndSignals.listen()
            Courier.preparePath()
            var failed = false
            for one in recipients {
                let delivery = Notice(
                    recipient: one.name, key: "test-\(HostClock.wall())", edition: 1, title: "Test",
                    text: "This is how messages of your seismic stations arrive.", priority: .ordinary,
                    click: settings.page)
                if let problem = Self.deliver(delivery, to: one) {
                    failed = true
                    print("\(one.name): not delivered: \(problem)")
                } else {
                    print("\(one.name): delivered")
                }
            }
            if failed { throw ExitStatus.unavailable.code }
        }

        /// - Returns: nil when it has arrived at the service; else a sentence.
        private static func deliver(_ notice: Notice, to recipient: Recipient) -> String? {
            do throws(CourierError) {
                let courier = try NotifyService.courier(notice, to: recipient)
                while !EndSignals.came {
                    if let end = courier.end() { return end }
                    usleep(20_000)
                }
                return "interrupted"
            } catch {
                return error.message
            }
        }
    }
}

@Sendable private func report(_ event: LinkEvent, _ inbox: BrokerInbox) {
    switch event {
    case .connected: inbox.put(connection: true)
    case .disconnected: inbox.put(connection: false)
    default: break
    }
    if let sentence = event.sentence { printError(sentence) }
}

/// A line of the log.
func printError(_ words: String) { NotifySettings.printError(words) }

/// The system's table of time zones.
enum TimeZoneTable {
    private static let folder = "/usr/share/zoneinfo/"

    /// Whether it has a zone; the empty name is that of the machine.
    static func has(_ name: String) -> Bool {
        name.isEmpty
            || name.isMade(0...64) { $0.isVisible } && !name.contains("..") && !name.hasPrefix("/")
                && access(folder + name, R_OK) == 0
    }

    /// Sets the zone of the process, once, before there are threads.
    static func use(_ name: String) -> CivilTime {
        if !name.isEmpty { setenv("TZ", name, 1) }
        tzset()
        return CivilTime { time in
            var (seconds, parts) = (time_t(time / 1_000_000_000), tm())
            localtime_r(&seconds, &parts)
            return Int(parts.tm_gmtoff)
        }
    }
}

/// Messages that the broker has sent and the service has not taken yet; bounded, and those beyond the bound are
/// counted.
final class BrokerInbox: Sendable {
    private struct Contents {
        var messages: [InboundMessage] = []
        var connections: [Bool] = []
        var bytes = 0
        var dropped = 0
    }

    private let contents = Mutex(Contents())
    private let mostBytes: Int
    let wake: Wake

    init(mostBytes: Int) throws(WakeError) {
        self.mostBytes = mostBytes
        wake = try Wake()
    }

    func put(_ message: InboundMessage) {
        contents.withLock { contents in
            guard contents.bytes + message.payload.count + 200 <= mostBytes else {
                contents.dropped += 1
                return
            }
            contents.bytes += message.payload.count + 200
            contents.messages.append(message)
        }
        wake.signal()
    }

    /// A connection to the broker was made, or is not there.
    func put(connection isUp: Bool) {
        contents.withLock { if $0.connections.last != isUp { $0.connections.append(isUp) } }
        wake.signal()
    }

    /// All there is, and how many messages were dropped since.
    func take() -> (messages: [InboundMessage], connections: [Bool], dropped: Int) {
        contents.withLock { contents in
            defer { contents = Contents() }
            return (contents.messages, contents.connections, contents.dropped)
        }
    }
}
