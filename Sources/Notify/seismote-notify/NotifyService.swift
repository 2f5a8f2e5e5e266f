import DatabaseFiles
import Glibc
import MQTT
import Messages
import Platform
import ServerOptions
import Settings
import Values

/// One round after the other: what the broker has sent, what time brings, what is due to be sent. Each recipient gets one
/// message at a time.
final class NotifyService {
    private let settings: NotifySettings
    private let queue: QueueFile
    private let inbox: BrokerInbox
    private var watch: BrokerWatch
    private var notifier: Notifier
    private var dropped = 0
    /// By the names of recipients.
    private var couriers: [String: (courier: Courier, waiting: QueueFile.Waiting)] = [:]
    /// How many messages could not be read when that was said last, and when (monotonic).
    private var said: (unreadable: Int, at: Int64) = (0, .min / 2)
    private var isConnected = false
    /// For `--health`.
    private let health: HealthSocket?

    init(_ settings: NotifySettings, clock: CivilTime, queue: QueueFile, inbox: BrokerInbox) {
        (self.settings, self.queue, self.inbox) = (settings, queue, inbox)
        health = ProgramOptions<NotifySettings>.healthSocket(in: settings.folder) { printError($0) }
        let now = HostClock.wall()
        let prefix = Notifier.offline
        let stations = queue.told.compactMap {
            $0.key.hasPrefix(prefix) ? String($0.key.dropFirst(prefix.count)) : nil
        }
        let saidBroker = queue.told.contains { $0.key == Notifier.brokerKey }
        watch = BrokerWatch(root: settings.mqtt.root, said: stations, broker: now, saidBroker: saidBroker)
        notifier = Notifier(
            settings.recipients, clock: clock, page: settings.page, test: settings.weekly, told: queue.told,
            held: queue.held, now: now)
    }

    var subscriptions: [String] { watch.subscriptions }

    /// Until a signal.
    func run() throws(DatabaseError) {
        try queue.keepOnly(settings.recipients.map(\.name))
        while !EndSignals.came {
            _ = inbox.wake.wait(milliseconds: couriers.isEmpty ? 500 : 50)
            inbox.wake.clear()
            try decide(HostClock.wall())
            try collect()
            try send()
            health?.answer(isConnected, isConnected ? "connected to the broker" : "not connected to the broker")
        }
        // What is on its way has some time to arrive; what has not is sent anew by the next run.
        let end = HostClock.monotonic() + 5_000_000_000
        while !couriers.isEmpty, HostClock.monotonic() < end {
            usleep(20_000)
            try collect()
        }
    }

    private func decide(_ now: Int64) throws(DatabaseError) {
        let (messages, connections, lost) = inbox.take()
        var notices: [Notice] = []
        for isUp in connections {
            isConnected = isUp
            if let occasion = watch.connection(isUp, now: now) { notices += notifier.take(occasion, now: now) }
        }
        for message in messages {
            if let occasion = watch.take(message, now: now) { notices += notifier.take(occasion, now: now) }
        }
        for occasion in watch.tick(now: now) { notices += notifier.take(occasion, now: now) }
        notices += notifier.tick(now: now, stations: watch.stations)
        try queue.keep(notices, notifier, now: now)
        if lost > 0 {
            dropped += lost
            printError("\(dropped) messages of the broker were dropped: more came than could be taken")
        }
        if watch.unreadable != said.unreadable, HostClock.monotonic() - said.at > 60_000_000_000 {
            said = (watch.unreadable, HostClock.monotonic())
            printError("\(watch.unreadable) messages could not be read")
        }
    }

    /// Collects the results of couriers.
    private func collect() throws(DatabaseError) {
        for (name, (courier, waiting)) in couriers {
            guard let end = courier.end() else { continue }
            couriers[name] = nil
            if let problem = end {
                try putOff(waiting, problem)
            } else {
                printError("\(name): delivered: \(waiting.delivery.title)")
                try queue.remove(waiting.id)
            }
        }
    }

    private func send() throws(DatabaseError) {
        for recipient in settings.recipients where couriers[recipient.name] == nil {
            guard let waiting = try queue.next(for: recipient.name, now: HostClock.wall()) else { continue }
            do throws(CourierError) {
                couriers[recipient.name] = (try Self.courier(waiting.delivery, to: recipient), waiting)
            } catch {
                try putOff(waiting, error.message)
            }
        }
    }

    private func putOff(_ waiting: QueueFile.Waiting, _ problem: String) throws(DatabaseError) {
        let (name, now, attempts) = (waiting.delivery.recipient, HostClock.wall(), waiting.attempts + 1)
        guard let due = RetryPolicy.next(first: waiting.first, attempts: attempts, now: now) else {
            printError("\(name): given up after a day: \(waiting.delivery.title): \(problem)")
            return try queue.remove(waiting.id)
        }
        printError("\(name): not delivered, next attempt in \((due - now) / 1_000_000_000) s: \(problem)")
        try queue.put(off: waiting.id, attempts: attempts, until: due)
    }

    /// Starts the delivery program for a message.
    static func courier(_ notice: Notice, to recipient: Recipient) throws(CourierError) -> Courier {
        var service = recipient.service
        if case .apprise(let file) = service { service = .apprise(file: credential(file)) }
        var token = ""
        if !recipient.tokenFile.isEmpty {
            let path = credential(recipient.tokenFile)
            switch SecretFile.read(path, what: "token file") {
            case .success(let text): token = text
            case .failure(let problem): throw CourierError(message: problem.message)
            }
            guard token.isMade(1...512, of: { $0.isVisible }) else {
                throw CourierError(
                    message: "\(path) has no token: 1 to 512 characters without spaces on its first line are needed")
            }
        }
        return try Courier(CourierCommand(notice, to: service, token: token))
    }

    /// A path; of the name of a credential that of systemd, or where it has them from.
    private static func credential(_ name: String) -> String {
        if name.hasPrefix("/") { return name }
        let folder = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) } ?? "/etc/seismote/credentials"
        return "\(folder)/\(name)"
    }
}
