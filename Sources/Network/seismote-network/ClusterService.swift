import Glibc
import MQTT
import Messages
import Platform
import ServerOptions
import Values

/// Reads the queue of the detector on one node after the other, until a signal.
struct ClusterService {
    private let access: ConnectionOptions
    private let settings: NetworkSettings
    private let nodes: [ClusterNode]
    private let health: HealthSocket?

    /// Messages that are read before any is worked on; as many as the broker gives unacknowledged.
    private static let mostAtOnce = 65_535
    /// Messages that are worked on together, and seconds until the cluster is listened to again.
    private static let part = 50
    private static let slice = 0.2

    init(_ access: ConnectionOptions, _ settings: NetworkSettings) {
        (self.access, self.settings) = (access, settings)
        nodes = settings.cluster.compactMap { ClusterNode($0) }
        // (On a cluster the log is there, and the folder may not exist.)
        mkdir(settings.folder, 0o750)
        health = ProgramOptions<NetworkSettings>.healthSocket(in: settings.folder, say: say)
    }

    /// Routing keys of what the detector has to know.
    private var keys: [String] {
        let home = settings.homeAssistant.isEmpty ? [] : ["\(settings.homeAssistant)/status"]
        return (NetworkTopics(root: access.mqtt.root).heard + home).map(AMQPConnection.key)
    }

    func run() {
        var at = Int.random(in: nodes.indices)
        var pause = 0.2
        while !EndSignals.came {
            let node = nodes[at % nodes.count]
            let name = "\(node.host):\(node.port)"
            do throws(AMQPError) {
                let connection = try AMQPConnection(node, access)
                try connection.consume(settings.clientID, boundTo: keys)
                say("connected to \(name)")
                pause = 0.2
                try serve(connection)
                return connection.close()
            } catch {
                say("\(name): \(error.message)")
            }
            at += 1
            let end = monotonicSeconds() + pause
            // Once around all nodes at once, then slower.
            if at % nodes.count == 0 { pause = min(5, pause * Double.random(in: 1.5...2)) }
            while monotonicSeconds() < end, !EndSignals.came {
                health?.answer(false, "not connected to the cluster")
                usleep(20_000)
            }
        }
    }

    /// All that is known is of this connection: what was not acknowledged on the one before comes again.
    private func serve(_ connection: AMQPConnection) throws(AMQPError) {
        var machine = NetworkMachine<QueueJournal>(
            settings.machineOptions(root: access.mqtt.root), settings.association, boot: RandomUUID.text())
        var wasActive = false
        machine.connected(clock: monotonicSeconds())
        try perform(&machine, connection)
        var waiting: [NetworkMessage] = []
        while !EndSignals.came {
            // Everything that is there is read first: in a burst, answers of the cluster are behind thousands of messages, and
            // a version is published when its answer has come. Then a part is worked on, so that the next answer is not late.
            waiting += try connection.receive(
                seconds: waiting.isEmpty ? Pause.until(machine.due) : 0, most: Self.mostAtOnce)
            for number in connection.takeConfirmed() { machine.confirmed(number) }
            try perform(&machine, connection)
            let end = monotonicSeconds() + Self.slice
            repeat {
                let part = waiting.prefix(Self.part)
                waiting.removeFirst(part.count)
                // While messages wait, it is as late as the last of these: nothing of what waits is late.
                let now = waiting.isEmpty ? realNanoseconds() : part.last?.arrival ?? realNanoseconds()
                machine.take(Array(part), now: now, clock: monotonicSeconds())
            } while !waiting.isEmpty && monotonicSeconds() < end
            machine.beat(now: realNanoseconds(), clock: monotonicSeconds())
            health?.answer(
                true, "connected to the cluster, \(machine.isActive ? "at work" : "waiting behind another detector")")
            if !wasActive, machine.isActive {
                wasActive = true
                say(
                    "at work as \(machine.boot): \(machine.stations) stations and \(machine.journal.count) messages taken over"
                )
            }
            try perform(&machine, connection)
        }
        // Versions already in the queue are still published, here or by the next machine.
        machine.sayGoodbye(now: realNanoseconds())
        try perform(&machine, connection)
        let end = monotonicSeconds() + 2
        while connection.isWaiting, monotonicSeconds() < end {
            _ = try connection.receive(seconds: 0.1, most: 1)
            for number in connection.takeConfirmed() { machine.confirmed(number) }
            try perform(&machine, connection)
        }
    }

    private func perform(
        _ machine: inout NetworkMachine<QueueJournal>, _ connection: AMQPConnection
    ) throws(AMQPError) {
        let effects = machine.takeEffects()
        for line in effects.lines { say(line) }
        for operation in effects.operations { try connection.perform(operation, queue: settings.clientID) }
        for one in effects.publications { try connection.publish(one) }
    }
}

/// One line to standard error.
func say(_ text: String) { ProgramOutput.printError(text) }
