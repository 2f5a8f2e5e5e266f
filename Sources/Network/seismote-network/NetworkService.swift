import DatabaseFiles
import Glibc
import MQTT
import Messages
import Platform
import ServerOptions
import Values

/// The detector on one broker: connects the machine with the broker and with the database.
final class NetworkService {
    private let settings: NetworkSettings
    private let access: ConnectionOptions
    private let store: NetworkStore
    private var machine: NetworkMachine<DiskJournal>
    /// Numbers of publications that the broker has not acknowledged, by the number of their message.
    private var waiting: [Int32: Int] = [:]
    /// For `--health`.
    private let health: HealthSocket?

    /// Nanoseconds by which the clock is behind while messages wait to be read: nobody's wait is longer.
    private static let backlog: Int64 = 3_000_000_000
    /// Messages that are written down together: fewer where they take long, so that a signal to end is not kept waiting.
    private var atOnce = BatchLimit(largest: 500, wanted: 0.5)
    /// Lifetime of the session: messages that come while the service is started again are not lost. (Older onsets are
    /// of no use, and a broker of mosquitto 2.0 has to be started again for a new account while it keeps the session of
    /// somebody who is away.)
    private static let sessionSeconds: UInt32 = 3600

    init(_ access: ConnectionOptions, _ settings: NetworkSettings) throws(DatabaseError) {
        (self.access, self.settings) = (access, settings)
        store = try NetworkStore(folder: settings.folder)
        health = ProgramOptions<NetworkSettings>.healthSocket(in: settings.folder, say: say)
        let past = try store.past()
        machine = NetworkMachine(
            settings.machineOptions(root: access.mqtt.root), settings.association, boot: RandomUUID.text(), past: past)
        if !past.log.isEmpty || machine.stations > 0 {
            say("continuing with \(machine.stations) stations and \(past.log.count) logged messages")
        }
    }

    /// A session that the broker keeps while this program is away: it gets then what it has missed.
    private func session() -> ConnectionOptions {
        var options = access
        (options.clientID, options.isClean, options.sessionExpiry) = (settings.clientID, false, Self.sessionSeconds)
        let will = machine.will(now: realNanoseconds())
        options.will = .init(topic: will.topic, payload: will.payload)
        return options
    }

    /// Until a signal.
    func run() throws(DatabaseError) {
        Interrupt.listen()
        var pause = 0.5
        while !Interrupt.came {
            let client = BrokerClient(session())
            do {
                try client.connect()
                say("connected\(client.isResumed ? ", session resumed" : "")\(Self.lacks(client))")
                try serve(client) { pause = 0.5 }
                machine.sayGoodbye(now: realNanoseconds())
                _ = try? perform(client)
                _ = try? client.next(until: monotonicSeconds() + 0.2)
                client.disconnect()
            } catch let error as DatabaseError {
                throw error
            } catch {
                if Interrupt.came { return }
                say((error as? ClientError)?.description ?? "\(error)")
                waiting.removeAll()
                machine.disconnected()
                let end = monotonicSeconds() + pause
                pause = min(10, pause * Double.random(in: 1.5...2))
                while monotonicSeconds() < end, !Interrupt.came {
                    health?.answer(false, "not connected to the broker")
                    usleep(50_000)
                }
            }
        }
    }

    /// Features that the broker seems to lack, and what follows.
    private static func lacks(_ client: BrokerClient) -> String {
        (client.retains ? "" : "; the broker keeps no retained messages: newcomers wait for the next status and event")
            + (client.hasQoS1 ? "" : "; it takes QoS 0 only: messages may be lost")
    }

    /// - Parameter isUp: is told when the broker has taken what waited.
    private func serve(_ client: BrokerClient, isUp: () -> Void) throws {
        try client.subscribe(machine.topics.heard + [machine.topics.last, machine.topics.sync, machine.topics.status])
        // (Two messages of each station: too many to be kept until the broker's answer.)
        try client.ask(for: machine.topics.retained)
        machine.connected(clock: monotonicSeconds())
        try perform(client)
        while !Interrupt.came {
            try take(read(client), client)
            for (id, reason) in client.takeAcknowledged() {
                guard let number = waiting.removeValue(forKey: id) else { continue }
                if reason >= 128 {
                    say("the broker refuses \(machine.topics.event): reason \(reason)")
                } else {
                    machine.confirmed(number)
                }
            }
            machine.beat(now: realNanoseconds(), clock: monotonicSeconds())
            try perform(client)
            if machine.isActive { isUp() }
            health?.answer(true, "connected to the broker, \(machine.stations) stations")
        }
    }

    /// The first message is waited for, or until time alone brings something; what is there already comes with it.
    private func read(_ client: BrokerClient) throws(ClientError) -> [InboundMessage] {
        var batch: [InboundMessage] = []
        var until = monotonicSeconds() + Pause.until(machine.due)
        while batch.count < atOnce.count, let message = try client.next(until: until) {
            batch.append(message)
            until = monotonicSeconds()
        }
        return batch
    }

    private func take(_ batch: [InboundMessage], _ client: BrokerClient) throws {
        let begin = monotonicSeconds()
        defer { atOnce.took(batch.count, seconds: monotonicSeconds() - begin) }
        let now = realNanoseconds()
        let messages = batch.map {
            // (One that is too large has no payload: it is refused as one that cannot be read.)
            NetworkMessage(name: $0.topic, payload: $0.isTooLarge ? [0] : $0.payload, arrival: now)
        }
        // What has come and was not read yet is not late, after whatever pause.
        machine.take(messages, now: client.isDrained ? now : now - Self.backlog, clock: monotonicSeconds())
        try perform(client)
    }

    /// Carries out the machine's effects: all that is to be written down is in the database before anything is
    /// published.
    private func perform(_ client: BrokerClient) throws {
        while true {
            let effects = machine.takeEffects()
            if effects.isEmpty { return }
            for line in effects.lines { say(line) }
            try store.perform(effects.operations)
            for case .version(let number, _) in effects.operations { machine.confirmed(number) }
            for (i, one) in effects.publications.enumerated() {
                do throws(ClientError) {
                    let id = try client.send(one.topic, one.payload, retain: one.isRetained)
                    if let number = one.number { waiting[id] = number }
                } catch {
                    // (The next connection would end over it as well, and all others.)
                    if error.isTooLarge {
                        say("\(error.description): \(one.payload.count) bytes are not published")
                        continue
                    }
                    machine.takeBack(Array(effects.publications[i...]))
                    throw error
                }
            }
        }
    }
}

/// How long a detector waits for messages.
enum Pause {
    /// Seconds at most.
    private static let longest = 0.2

    /// Seconds until there is something to do without a message.
    /// - Parameter due: when time alone brings something next, nanoseconds of UTC; nil: not before another message.
    static func until(_ due: Int64?) -> Double {
        guard let due else { return longest }
        // (A millisecond later, so that it is due then.)
        return min(longest, max(0, Double(due - realNanoseconds()) / 1e9) + 0.001)
    }
}
