import Alerts
import CLinux
import Glibc
import MQTT
import Messages
import Platform
import Sensors
import Settings

/// The agent: one thread that samples, one that talks to the broker, and this one, which watches over both.
public struct Agent {
    /// An orderly stop is over after this long, whatever happens (s).
    static let stopTime = 4.5
    /// Result of `run` when the program is to begin again, with the settings file as it is then; no exit status.
    static let anew: Int32 = -1
    /// Part of that time for writing to the disk at the end (s).
    static let writingTime = 1.0

    private let keeper: SettingsKeeper
    private let exitAtEnd: Bool
    private let log: Log

    /// - Parameters:
    ///   - keeper: with a station id among its settings.
    ///   - exitAtEnd: end with the recording instead of living on.
    public init(keeper: SettingsKeeper, exitAtEnd: Bool) {
        self.keeper = keeper
        self.exitAtEnd = exitAtEnd
        log = Log(level: keeper.settings.configuration.log.level)
    }

    /// Runs until SIGTERM, SIGINT, SIGHUP or, when asked for, the end of the recording.
    /// - Returns: exit status: 0, or 1 when the agent was to end with a recording that cannot be read; `anew` after SIGHUP.
    public func run() throws(AgentError) -> Int32 {
        // Before any thread is made, so that all of them leave signals to this one.
        let signals = try Self.takeSignals()
        defer { close(signals) }
        let settings = keeper.settings
        let configuration = keeper.inForce.configuration
        let trial = keeper.ledger.connectionTrial
        let topics = try Topics(configuration)
        let boot = Identity.boot
        let journal = LinkJournal(log: log)
        let inbox = try MessageInbox.commands()
        let options = try Self.options(configuration, topics, trial: trial)
        let leftOpen = LeftOpen()
        let events = MessageInbox.events(wake: inbox.wake)
        let link = try Self.link(options, journal, inbox, events, leftOpen)
        let storage = try StorageThread(
            configuration, topics: topics, trial: trial, link: link, log: log, leftOpen: leftOpen,
            answered: inbox.wake)
        let status = try SamplingStatus()
        let orders = OrderBook<SamplingWork>(answered: inbox.wake, wake: status.wake)
        var offline = OfflineSummaries(topics: topics)
        let modes = try ModesThread(boot: boot, status: status, past: storage.status.modes) { link.publish($0, $1) }
        defer { modes.stop() }
        let output = configuration.alarm.gpio
        let alarm = output.line.isEmpty ? nil : try AlarmThread(output, log: log, answered: inbox.wake)
        let sampling = SamplingThread(
            configuration: configuration, revision: keeper.ledger.revision, boot: boot,
            driver: SensorChoice.driver(configuration.sensor), status: status, orders: orders, ring: storage.segments,
            alarm: alarm, modes: modes, vibration: storage.status.vibration,
            rest: LevelMemory.read(directory: configuration.storage.directory),
            sink: { header, payload in
                link.publish(header, payload)
                let late = offline.header(for: header, isConnected: link.isConnected, now: HostClock.monotonic())
                if let late { link.publish(late, payload) }
            })
        let manager = ServiceManager()
        log.notice(
            "seismoted \(productVersion) starts",
            ["station": .text(settings.configuration.station.id), "boot": .text(boot)])
        for word in settings.renamed { log.warning(word) }
        for note in keeper.notes { log.error(note.message, ["revision": .int(note.revision)]) }
        journal.note(options, isAutomatic: settings.configuration.mqtt.protocolVersion == .auto)
        var reporter = Reporter(
            keeper, topics: topics, boot: boot, log: log, status: status, storage: storage.status,
            files: storage.files, link: link)
        var dispatcher = Dispatcher(
            keeper, topics: topics, boot: boot, link: link, log: log, inbox: inbox, status: status,
            sampling: orders, storage: storage, alarm: alarm?.orders)
        reporter.alarm = alarm
        reporter.warnings = WarningService(inbox: events, link: link, log: log, alarm: alarm)
        if let note = keeper.notes.last {
            reporter.reverted = AlertFault(note.message, .object([.init("left", .int(Int64(note.revision)))]))
        }
        // One that the agent before this one left open is over: the link reads it back first, so that it gets its end.
        let current = Stream.current.delivery.header(topic: topics.current)
        link.publish(current, UnsafeRawBufferPointer(start: nil, count: 0))
        clinux_forget_code()
        // What the agent before this one left comes first.
        try storage.start()
        try alarm?.start()
        try sampling.start()
        do throws(MQTTError) { try link.start() } catch { throw AgentError(error.message) }
        manager.ready("starting")
        let result = watch(signals, status, manager, &reporter, &dispatcher)
        if result == Self.anew { manager.reloading() } else { manager.stopping() }
        alarm?.stop(within: 0.5)
        stop(status, link, storage, &reporter, &dispatcher)
        if result != Self.anew { reporter.stateFile.remove() }
        return result
    }

    /// Waits for signals, news and the next second, and reports.
    private func watch(
        _ signals: Int32, _ status: SamplingStatus, _ manager: ServiceManager, _ reporter: inout Reporter,
        _ dispatcher: inout Dispatcher
    ) -> Int32 {
        var heartbeat = -1
        var alive: Int64 = 0
        while true {
            reporter.warn()
            reporter.look()
            manager.status(reporter.summary)
            // A sign of life only when the sampling loop has gone round since the last, or has nothing to do any more.
            let beat = status.heartbeat.load(ordering: .relaxed)
            let words = status.now
            let now = HostClock.monotonic()
            if let interval = manager.watchdogInterval, beat != heartbeat || words.ended, now - alive >= interval {
                manager.alive()
                (heartbeat, alive) = (beat, now)
            }
            if exitAtEnd {
                if words.ended { return 0 }
                if case .sensor(let error) = words.problem, error.code != .fault { return 1 }
                if case .settings = words.problem { return 1 }
            }
            if dispatcher.round(&reporter) == .restart {
                log.notice("stopping: a command asked for a restart")
                return 0
            }
            var waited = [signals, status.changed.descriptor, dispatcher.wake.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let next = [dispatcher.due, reporter.due].compactMap(\.self).min()
            let due = next.map { max(0, $0 - HostClock.monotonic()) } ?? .max
            let shortest = min(1_000_000_000, manager.watchdogInterval ?? .max, due)
            _ = poll(&waited, 3, max(1, Int32(clamping: shortest / 1_000_000)))
            if waited[1].revents != 0 { status.changed.clear() }
            if waited[2].revents != 0 { dispatcher.wake.clear() }
            if waited[0].revents != 0, let number = Self.nextSignal(signals) {
                if number == SIGHUP {
                    log.notice("restarting: received SIGHUP, the settings file is read again")
                    return Self.anew
                }
                log.notice("stopping: received signal", ["signal": .int(Int(number))])
                return 0
            }
        }
    }

    /// An open event is closed, what waits is sent, `offline` is said, what is left goes to the disk: all within
    /// `stopTime`.
    private func stop(
        _ status: SamplingStatus, _ link: Link, _ storage: StorageThread, _ reporter: inout Reporter,
        _ dispatcher: inout Dispatcher
    ) {
        let began = HostClock.monotonic()
        func spent() -> Double { Double(HostClock.monotonic() - began) / 1e9 }
        status.requestStop()
        while !status.now.finished, spent() < Self.stopTime / 2 {
            if status.changed.wait(milliseconds: 100) { status.changed.clear() }
        }
        if !status.now.finished { log.warning("stopping: the sensor did not return in time") }
        reporter.look()
        reporter.keepLevel(now: HostClock.monotonic(), isEnd: true)
        dispatcher.finish(&reporter, within: min(0.5, Self.stopTime / 2 - spent()))
        keeper.ended()
        if !link.stop(within: Self.stopTime - Self.writingTime - spent()) {
            log.warning("stopping: not all messages were sent in time")
        }
        if !storage.stop(within: Self.stopTime - spent()) {
            log.warning("stopping: the disk was too slow, data may be lost")
        }
        log.notice("ended", ["samples": .int(status.samples.load(ordering: .relaxed))])
    }

    // MARK: parts

    private static func takeSignals() throws(AgentError) -> Int32 {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard descriptor >= 0 else {
            throw AgentError("signalfd is not available: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    private static func nextSignal(_ descriptor: Int32) -> Int32? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        return read(descriptor, &info, size) == size ? Int32(info.ssi_signo) : nil
    }

    private static func options(
        _ configuration: Configuration, _ topics: Topics, trial: Int
    ) throws(AgentError) -> LinkOptions {
        do throws(MQTTError) { return try LinkOptions(configuration, topics: topics, trial: trial) } catch {
            throw AgentError(error.message)
        }
    }

    private static func link(
        _ options: LinkOptions, _ journal: LinkJournal, _ inbox: MessageInbox, _ events: MessageInbox,
        _ leftOpen: LeftOpen
    ) throws(AgentError) -> Link {
        do throws(MQTTError) {
            return try Link(
                options: options,
                report: { event in
                    journal.note(event)
                    if case .readBack(let message) = event { leftOpen.put(message) }
                },
                receive: { message in
                    // (A level that no command has.)
                    if message.topic.hasSuffix("/network/event") { events.put(message) } else { inbox.put(message) }
                })
        } catch { throw AgentError(error.message) }
    }
}

/// Reason why the agent cannot start; the sentence names the object.
public struct AgentError: Error, Sendable, Equatable, CustomStringConvertible {
    public var message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}

extension Wake {
    static func make() throws(AgentError) -> Wake {
        do throws(WakeError) { return try Wake() } catch { throw AgentError(error.description) }
    }
}

/// Tells systemd how the service is, over the socket that it names in `NOTIFY_SOCKET` (sd_notify(3)); does nothing
/// where there is none.
final class ServiceManager {
    private let socket: Int32
    private let address: [UInt8]
    /// Nanoseconds between two signs of life: half of what systemd allows; nil when it wants none.
    let watchdogInterval: Int64?

    /// - Parameter environment: reads a variable of the environment.
    init(environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
        address = environment("NOTIFY_SOCKET").flatMap(Self.address(of:)) ?? []
        socket = address.isEmpty ? -1 : Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        let process = environment("WATCHDOG_PID").flatMap { Int32($0) }
        let wanted = (1...Int64.max / 1000).contains(microseconds) && (process == nil || process == getpid())
        watchdogInterval = wanted ? microseconds * 1000 / 2 : nil
    }

    deinit { if socket >= 0 { close(socket) } }

    func ready(_ status: String) { send("READY=1\nSTATUS=\(status)") }
    func status(_ status: String) { send("STATUS=\(status)") }
    func alive() { send("WATCHDOG=1") }
    func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(HostClock.monotonic() / 1000)\nSTATUS=begins anew") }
    func stopping() { send("STOPPING=1\nSTATUS=stopping") }

    private func send(_ text: String) {
        guard socket >= 0 else { return }
        address.withUnsafeBytes { address in
            guard let start = address.baseAddress else { return }
            var text = text
            text.withUTF8 { bytes in
                _ = sendto(
                    socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT),
                    start.assumingMemoryBound(to: sockaddr.self), socklen_t(address.count))
            }
        }
    }

    /// A `sockaddr_un` as bytes; a name that begins with `@` is an abstract one.
    private static func address(of path: String) -> [UInt8]? {
        var name = Array(path.utf8)
        guard (2...107).contains(name.count), name[0] == UInt8(ascii: "/") || name[0] == UInt8(ascii: "@") else {
            return nil
        }
        if name[0] == UInt8(ascii: "@") { name[0] = 0 } else { name.append(0) }
        let family = sa_family_t(AF_UNIX)
        return withUnsafeBytes(of: family) { Array($0) } + name
    }
}
