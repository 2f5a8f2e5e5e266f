import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// Asks the broker for `seismote doctor`: what it has of the station, of its earlier names, and what may be written.
struct BrokerGather {
    /// Seconds that live messages are listened for: a trace comes each second.
    private static let listening = 3.2

    let topics: Topics
    let configuration: Configuration
    private var station = StationFacts(view: StationView())
    private var fleet: Fleet
    /// State of presence by base, `seismote/basement`.
    private var presence: [String: Bool] = [:]
    private var gravity = (sum: [0.0, 0.0, 0.0], count: 0)

    private init(_ configuration: Configuration, _ topics: Topics) {
        (self.topics, self.configuration) = (topics, configuration)
        fleet = Fleet(root: topics.root)
    }

    /// - Parameter isOwn: the account is the station's own, so that its rights can be tried.
    static func look(_ access: ConnectionOptions, _ facts: inout Facts, isOwn: Bool) {
        let name = access.brokers.map(\.description).joined(separator: ", ")
        let client = BrokerClient(access)
        do throws(ClientError) {
            try client.connect()
        } catch {
            facts.broker = .known(
                BrokerFacts(name: name, problem: safeLines(error.description), user: access.mqtt.username))
            let reason = "no connection to the broker"
            (facts.station, facts.rights, facts.leftovers) = (.unknown(reason), .unknown(reason), .unknown(reason))
            return
        }
        defer { client.disconnect() }
        facts.broker = .known(
            BrokerFacts(name: name, problem: nil, user: access.mqtt.username, isOld: client.version == .v311))
        let configuration = facts.settings.configuration
        guard let topics = try? Topics(root: access.mqtt.root, id: configuration.station.id) else {
            let reason = "the station's id or the root is not valid"
            (facts.station, facts.rights, facts.leftovers) = (.unknown(reason), .unknown(reason), .unknown(reason))
            return
        }
        var gather = BrokerGather(configuration, topics)
        do throws(ClientError) {
            try gather.listen(client)
            facts.station = .known(gather.station)
            facts.leftovers = .known(try gather.leftovers(client, access))
        } catch {
            facts.station = .known(gather.station)
            facts.leftovers = .unknown("the connection ended: \(error.description)")
        }
        facts.rights =
            isOwn
            ? rights(client, access, topics)
            : .unknown("tried only with the station's own account, not with `\(access.mqtt.username)`")
        if isOwn {
            do throws(ClientError) {
                facts.isBoundToUser = try TopicTrial.isBound(
                    client, topics, user: access.mqtt.username, rights: facts.rights.fact ?? [])
            } catch { facts.isBoundToUser = false }
        }
        if !gather.station.isSeen, case .known(let found) = facts.leftovers, found.bases.isEmpty {
            facts.leftovers = .unknown("nothing can be read from the broker; \(StationFacts.silence)")
        }
    }

    /// The account's rights are the same with both versions, and with MQTT 5 the broker says them.
    private static func rights(
        _ client: BrokerClient, _ access: ConnectionOptions, _ topics: Topics
    ) -> Known<[TopicRight]> {
        do throws(ClientError) {
            if access.version == .v311 {
                var other = access
                other.mqtt.protocolVersion = .auto
                let asking = BrokerClient(other)
                defer { asking.disconnect() }
                if (try? asking.connect()) != nil, asking.version == .v5 {
                    return .known(try TopicTrial.run(asking, topics))
                }
            }
            return .known(try TopicTrial.run(client, topics))
        } catch {
            return .unknown("the connection ended: \(error.description)")
        }
    }

    // MARK: what comes

    private mutating func listen(_ client: BrokerClient) throws(ClientError) {
        let filters = [
            "\(topics.state)/#", topics.trace, "\(topics.root)/+/state/online", "\(topics.root)/+/state/info",
            "+/\(topics.id)/state/online", "+/+/\(topics.id)/state/online",
        ]
        // Not every account may subscribe to all of them.
        for filter in filters { try? client.subscribe([filter]) }
        let end = monotonicSeconds() + Self.listening
        while let message = try client.next(until: end) { take(message) }
        client.unsubscribe(filters)
        if let view = fleet.stations[topics.id] { station.view = view }
        if gravity.count > 0 { station.gravity = gravity.sum.map { $0 / Double(gravity.count) } }
    }

    private mutating func take(_ message: InboundMessage) {
        fleet.take(message)
        let online = "/state/online"
        if message.topic.hasSuffix(online), !message.payload.isEmpty {
            presence[String(message.topic.dropLast(online.count))] = message.payload == Array("online".utf8)
        }
        guard !message.isRetained, message.topic.hasPrefix("\(topics.base)/"),
            let value = try? JSONReader.read(message.payload)
        else { return }
        if let boot = MessageStamp(value).boot?.printable, station.boots.last != boot, station.boots.count < 100 {
            station.boots.append(boot)
        }
        guard message.topic == topics.trace else { return }
        let block = TraceBlockReading(value)
        let axes = ["x", "y", "z"].map { block?.column($0, "raw")?.compactMap(\.number) ?? [] }
        guard let count = axes.map(\.count).min(), count > 0 else { return }
        for i in 0..<3 { gravity.sum[i] += axes[i].prefix(count).reduce(0, +) }
        gravity.count += count
    }

    // MARK: leftovers

    private func leftovers(_ client: BrokerClient, _ access: ConnectionOptions) throws(ClientError) -> LeftoverFacts {
        var facts = LeftoverFacts(bases: [], staleAlerts: [], publish: Self.arguments(access))
        let suspects = Self.suspects(
            presence: presence, stations: fleet.stations, topics: topics, host: Self.hostID(), configuration.station)
        for suspect in suspects.prefix(20) {
            var base = suspect
            base.topics = try retained(client, below: base.base)
            if !base.topics.isEmpty { facts.bases.append(base) }
        }
        let active = station.view.health?.alerts?.printable
        if station.view.isOnline == true, let active {
            facts.staleAlerts = station.view.alerts.filter { $0.value.isAlert && !active.contains($0.key) }
                .keys.sorted().map(topics.alert)
        }
        return facts
    }

    /// Other bases that may be earlier names of this station. Pure.
    static func suspects(
        presence: [String: Bool], stations: [String: StationView], topics: Topics, host: String,
        _ own: StationIdentity
    ) -> [LeftoverFacts.Base] {
        presence.sorted { $0.key < $1.key }.compactMap { base, isOnline in
            guard base != topics.base, let slash = base.lastIndex(of: "/") else { return nil }
            let (root, id) = (String(base[..<slash]), String(base[base.index(after: slash)...]))
            var reason: String?
            if id == topics.id {
                reason = "an earlier mqtt.root of this station (now \(topics.root))"
            } else if root == topics.root, let info = stations[id]?.info?.station {
                let isHere =
                    own.latitude != nil && info.latitude == own.latitude
                    && info.longitude == own.longitude
                let isSo = !own.description.isEmpty && info.description == own.description
                if isHere { reason = "of a station at the same place: an earlier id of this one (now \(topics.id))?" }
                if isSo {
                    reason = "of a station with the same description: an earlier id of this one (now \(topics.id))?"
                }
                if id == host { reason = "named as this machine: from before station.id was set (now \(topics.id))" }
            }
            return reason.map { LeftoverFacts.Base(base: safe(base), isOnline: isOnline, reason: $0, topics: []) }
        }
    }

    private func retained(_ client: BrokerClient, below base: String) throws(ClientError) -> [String] {
        guard (try? client.subscribe(["\(base)/#"])) != nil else { return [] }
        var found: Set<String> = []
        let end = monotonicSeconds() + 0.5
        while found.count < 200, let message = try client.next(until: end) {
            if message.isRetained, message.topic.hasPrefix(base), !message.payload.isEmpty {
                found.insert(safe(message.topic))
            }
        }
        client.unsubscribe(["\(base)/#"])
        return found.sorted()
    }

    /// How mosquitto_pub reaches this broker, without the password.
    private static func arguments(_ access: ConnectionOptions) -> String {
        guard let broker = access.brokers.first else { return "" }
        var words = ["-h", broker.host, "-p", "\(broker.port)"]
        if broker.tls {
            words +=
                access.mqtt.tls.caFile.isEmpty ? ["--capath", "/etc/ssl/certs"] : ["--cafile", access.mqtt.tls.caFile]
        }
        if !access.mqtt.username.isEmpty { words += ["-u", "ACCOUNT", "-P", "PASSWORD"] }
        return words.joined(separator: " ")
    }

    /// The id that a station has without one in its settings.
    static func hostID() -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "station" }
        return Topics.id(
            fromHostName: String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}

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
