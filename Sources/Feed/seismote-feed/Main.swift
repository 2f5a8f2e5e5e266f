import ArgumentParser
import DatabaseFiles
import Feed
import Glibc
import MQTT
import Messages
import NIOPosix
import Platform
import ServerOptions
import Settings

/// `seismote-feed`: the stations of a broker for programs that speak SeedLink, FDSN web services or Prometheus.
@main
struct FeedProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seismote-feed", abstract: "Serve stations by SeedLink, FDSN web services and /metrics.",
        discussion: """
            Reads the traces, events and states of the stations of a broker, keeps the samples in a ring on the disk, and \
            serves them. It ends with SIGTERM or Ctrl-C and goes on where it was when it is started again.

            Settings come from \(FeedSettings.usualFile) where it is there, or from --config; `--default` prints that file.
            """, version: productVersion)

    @Option(name: .shortAndLong, help: ArgumentHelp("Settings file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Broker, such as mqtts://broker.example:8883.", valueName: "uri"))
    var broker: String?

    @Option(help: ArgumentHelp("Address to listen on; else 127.0.0.1.", valueName: "address"))
    var listen: String?

    @Option(help: ArgumentHelp("Stations that are served, with commas between them; else all.", valueName: "ids"))
    var stations: String?

    @Option(help: ArgumentHelp("Groups of stations that are served, with commas between them.", valueName: "names"))
    var groups: String?

    @OptionGroup var options: ProgramOptions<FeedSettings>

    /// (The command line that Swift knows needs /proc.)
    static func main() {
        ProgramOutput.begin()
        main(Array(ProgramArguments.all.dropFirst()))
    }

    func run() throws {
        if let printed = options.printed { return print(printed, terminator: "") }
        let path = options.path(config)
        var lines: [String] = []
        if let broker {
            let uri = broker.contains("://") ? broker : "mqtt://\(broker)"
            lines.append(FeedSettings.override("mqtt.uri", .array([.string(uri)])))
        }
        if let listen { lines.append(FeedSettings.override("feed.listen", .string(listen))) }
        if let groups { lines.append(FeedSettings.override("feed.groups", list: groups)) }
        if let stations { lines.append(FeedSettings.override("feed.stations", list: stations)) }
        let settings = try options.load(path, adding: lines) { printError($0) }
        if options.check { return print("\(path ?? "settings"): valid") }
        if options.health { return try ProgramOptions<FeedSettings>.reportHealth(of: settings.folder) }
        do {
            try Self.serve(settings)
        } catch let error as DatabaseError {
            throw failure(error.message, .files, say: printError)
        } catch let error as ShakeError {
            throw failure(error.message, .settings, say: printError)
        } catch let error as ServerError {
            throw failure(error.message, .settings, say: printError)
        } catch { throw failure("\(error)", .unavailable, say: printError) }
    }

    private static func serve(_ settings: FeedSettings) throws {
        EndSignals.listen()
        let writer = try Ring(
            folder: settings.folder, writes: true, bytes: settings.megabytes * 1_000_000)
        func reader() throws -> Ring { try Ring(folder: settings.folder, writes: false) }
        let (shared, inbox) = (SharedState(), try FairInbox(mostBytes: 64 << 20, root: settings.root))
        let wishes = FetchWishes(wake: inbox.wake)
        let link = try Link(options: settings.linkOptions(), report: { $0.sentence.map(printError) }) { message in
            inbox.put(message)
            inbox.wake.signal()
        }
        let shake = try ShakeOutput(settings.shake)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let workers = try Workers(reader)
        let server = try Server(
            settings, shared: shared, ring: try reader(), wishes: wishes, loop: group.next(), workers: workers)
        var forwarded: Forwarded?
        if let target = HostAndPort(settings.dataLink) {
            let given = Forwarded(given: try writer.given(to: target.description))
            server.give(to: DataLinkClient(server, host: target.host, port: target.port, forwarded: given), given)
            forwarded = given
        }
        let hub = try Hub(
            settings, ring: writer, shared: shared, wishes: wishes,
            run: String(UInt32.random(in: .min ... .max), radix: 16), at: moment(),
            .init(
                send: { topic, payload in
                    let header = PublicationHeader(
                        topic: topic, qos: 1, retain: false, expiry: 60, priority: .essential)
                    payload.withUnsafeBytes { link.publish(header, $0) }
                }, say: { printError($0) }, follow: shake.isOn ? { shake.take($0, $1) } : nil,
                given: { forwarded?.takeChanged() }))
        let health = ProgramOptions<FeedSettings>.healthSocket(in: settings.folder) { printError($0) }
        try server.start()
        try link.start()
        defer {
            _ = link.stop(within: 2)
            try? group.syncShutdownGracefully()
            workers.stop()
        }
        while !EndSignals.came {
            inbox.wake.clear()
            let isMore = try hub.round(
                inbox.take(), at: moment(), isConnected: link.statistics.connected, shakeSent: shake.sent)
            if isMore { server.notify() }
            let isConnected = link.statistics.connected
            health?.answer(isConnected, isConnected ? "connected to the broker" : "not connected to the broker")
            // Many at once are cheaper than each alone.
            usleep(50_000)
            _ = inbox.wake.wait(milliseconds: 150)
        }
        // What waits for a full record is on the disk, and goes on in the next run.
    }

    private static func moment() -> Moment { Moment(monotonic: monotonicSeconds(), utc: realNanoseconds()) }
}

extension FeedSettings {
    /// How the broker is reached, and what is asked of it.
    fileprivate func linkOptions() throws(MQTTError) -> LinkOptions {
        var options = LinkOptions(
            brokers: try mqtt.brokers(), clientID: clientID,
            presence: .init(topic: "\(root)/network/feed/\(clientID)/online"))
        options.connection.mqtt = mqtt
        options.base = "\(root)/network/feed/\(clientID)"
        options.subscriptions = subscriptions
        options.watched = [options.presence.topic]
        options.connection.inboundBytes = 4 << 20
        // What comes while the feed is away waits at the broker for it.
        (options.wantsRetained, options.sessionSeconds) = (true, 3600)
        return options
    }
}

/// A line of the log.
func printError(_ words: String) { FeedSettings.printError(words) }

/// Seconds of a processor that this thread has had.
func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// From now on all other threads, of this program and of others, go before the calling one where there are too few processors.
/// (On Linux a priority is a thread's own, setpriority(2).)
func letOthersGoFirst() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
