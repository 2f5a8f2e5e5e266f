import Messages

/// Finds out whether an account may write a station's topics, with empty messages next to the real ones, which readers
/// do not know (as the agent does it, see `SelfCheckFinding`).
enum TopicTrial {
    /// Seconds that a message is waited for that is to come back (MQTT 3.1.1).
    private static let patience = 2.0

    static func run(_ client: BrokerClient, _ topics: Topics) throws(ClientError) -> [TopicRight] {
        let probes = [topics.alertPrefix, topics.event, topics.waveformPrefix, topics.historyPrefix].map {
            "\($0)/selfcheck"
        }
        if client.version == .v5 {
            var rights: [TopicRight] = []
            for probe in probes { rights.append(TopicRight(topic: probe, isGranted: try isTaken(probe, client))) }
            return rights
        }
        var readable: [String] = []
        for probe in probes where (try? client.subscribe([probe])) != nil { readable.append(probe) }
        var echoed: Set<String> = []
        for probe in probes { try client.publish(probe, []) }
        let deadline = monotonicSeconds() + patience
        while echoed.count < readable.count, let message = try client.next(until: deadline) {
            if readable.contains(message.topic), !message.isRetained { echoed.insert(message.topic) }
        }
        client.unsubscribe(readable)
        return judge(probes, echoed: echoed)
    }

    /// mosquitto without a queue hangs up after it has refused, perhaps not before the next message: only who hangs up on
    /// the same one twice refuses it.
    private static func isTaken(_ probe: String, _ client: BrokerClient) throws(ClientError) -> Bool {
        for _ in 0..<2 {
            do throws(ClientError) { return try client.offer(probe, []) < 128 } catch { try client.connect() }
        }
        return false
    }

    /// With MQTT 3.1.1: what came back was written. Whoever may read one of them may read all, so that what did not come
    /// back beside it was not; where nothing came back, nothing is known.
    static func judge(_ probes: [String], echoed: Set<String>) -> [TopicRight] {
        probes.map { TopicRight(topic: $0, isGranted: echoed.contains($0) ? true : echoed.isEmpty ? nil : false) }
    }
}
