import Client
import Cluster
import Glibc
import Messages
import Threads
import Values

/// Reads the queue of the detector on one node after the other, until a signal.
struct ClusterService {
    let order: ClusterOrder

    /// Messages that are read before any is worked on; as many as the broker gives unacknowledged.
    private static let mostAtOnce = 65_535
    /// Messages that are worked on together, and seconds until the cluster is listened to again.
    private static let part = 50
    private static let slice = 0.2

    /// Routing keys of what the detector has to know.
    private var keys: [String] {
        func key(_ topic: String) -> String { String(topic.map { $0 == "/" ? "." : $0 }) }
        let root = key(order.options.root)
        let home = order.options.homeAssistant.isEmpty ? [] : [key(order.options.homeAssistant) + ".status"]
        let own = [
            "*.event.trigger", "*.data.history.event.trigger", "*.state.info", "*.state.online", "network.event",
            "network.place.*",
        ]
        return own.map { "\(root).\($0)" } + home
    }

    func run() {
        var at = Int.random(in: order.nodes.indices)
        var pause = 0.2
        while !EndSignals.came {
            let node = order.nodes[at % order.nodes.count]
            let name = "\(node.host):\(node.port)"
            do throws(AMQPError) {
                let connection = try AMQPConnection(node, order)
                try connection.consume(order.options.queue, boundTo: keys)
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
            if at % order.nodes.count == 0 { pause = min(5, pause * Double.random(in: 1.5...2)) }
            while monotonicSeconds() < end, !EndSignals.came { usleep(20_000) }
        }
    }

    /// All that is known is of this connection: what was not acknowledged on the one before comes again.
    private func serve(_ connection: AMQPConnection) throws(AMQPError) {
        var detector = ClusterDetector(order.options, order.association, boot: RandomUUID.text())
        var wasActive = false
        try perform(&detector, connection)
        var waiting: [ClusterDelivery] = []
        while !EndSignals.came {
            // Everything that is there is read first: in a burst, answers of the cluster are behind thousands of messages, and
            // a version is published when its answer has come. Then a part is worked on, so that the next answer is not late.
            waiting += try connection.receive(
                seconds: waiting.isEmpty ? Pause.until(detector.due) : 0, most: Self.mostAtOnce)
            for number in connection.takeConfirmed() { detector.confirmed(number) }
            try perform(&detector, connection)
            let end = monotonicSeconds() + Self.slice
            repeat {
                let part = waiting.prefix(Self.part)
                waiting.removeFirst(part.count)
                // While messages wait, it is as late as the last of these: nothing of what waits is late.
                let now = waiting.isEmpty ? realNanoseconds() : part.last?.arrival ?? realNanoseconds()
                detector.take(Array(part), now: now, clock: monotonicSeconds())
            } while !waiting.isEmpty && monotonicSeconds() < end
            detector.beat(now: realNanoseconds(), clock: monotonicSeconds())
            if !wasActive, detector.phase == .active {
                wasActive = true
                say(
                    "at work as \(detector.boot): \(detector.stations) stations and \(detector.heldCount) messages taken over"
                )
            }
            try perform(&detector, connection)
        }
        // Versions already in the queue are still published, here or by the next detector.
        detector.sayGoodbye(now: realNanoseconds())
        try perform(&detector, connection)
        let end = monotonicSeconds() + 2
        while connection.isWaiting, monotonicSeconds() < end {
            _ = try connection.receive(seconds: 0.1, most: 1)
            for number in connection.takeConfirmed() { detector.confirmed(number) }
            try perform(&detector, connection)
        }
    }

    private func perform(_ detector: inout ClusterDetector, _ connection: AMQPConnection) throws(AMQPError) {
        for action in detector.takeActions() { try connection.perform(action, queue: order.options.queue) }
    }
}

/// One line to standard error.
func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}
