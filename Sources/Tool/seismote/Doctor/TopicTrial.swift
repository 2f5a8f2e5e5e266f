import MQTT
import Messages
import Platform

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
        return judge(probes, echoed: try echoes(of: probes, client))
    }

    /// Whether the broker's rules take the user name for the station's id, and the user is called otherwise: what is
    /// refused for the station is granted for one that is named as the user.
    static func isBound(
        _ client: BrokerClient, _ topics: Topics, user: String, rights: [TopicRight]
    ) throws(ClientError) -> Bool {
        guard user != topics.id, Topics.problem(inID: user) == nil, let its = try? Topics(root: topics.root, id: user),
            rights.allSatisfy({ $0.isGranted != true })
        else { return false }
        if client.version == .v5 { return try isTaken("\(its.event)/selfcheck", client) }
        // With MQTT 3.1.1 only what comes back is known, and every station may read this one.
        guard try comesBack(its.command("selfcheck"), client) else { return false }
        return try !comesBack(topics.command("selfcheck"), client)
    }

    /// An empty message to a topic, over a connection of its own: a broker may hang up on one that it refuses.
    private static func comesBack(_ probe: String, _ client: BrokerClient) throws(ClientError) -> Bool {
        try client.connect()
        return (try? echoes(of: [probe], client).contains(probe)) == true
    }

    /// Returns those of the probed topics on which an empty message comes back.
    private static func echoes(of probes: [String], _ client: BrokerClient) throws(ClientError) -> Set<String> {
        var readable: [String] = []
        for probe in probes where (try? client.subscribe([probe])) != nil { readable.append(probe) }
        var echoed: Set<String> = []
        for probe in probes { try client.publish(probe, []) }
        let deadline = monotonicSeconds() + patience
        while echoed.count < readable.count, let message = try client.next(until: deadline) {
            guard readable.contains(message.topic), !message.isRetained, message.payload.isEmpty else { continue }
            echoed.insert(message.topic)
        }
        client.unsubscribe(readable)
        return echoed
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
