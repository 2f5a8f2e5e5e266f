import Foundation
import Messages
import Platform
import Settings
import TestSupport
import Values

@testable import Agent
@testable import MQTT
@testable import Spool

/// The rows of which a pipeline alone shows nothing.
extension LiveRowTests {
    // MARK: What the reporter says

    static func info(_ name: String, _ value: String) -> Probe {
        .watched {
            let bench = try AgentBench()
            guard bench.blocks(2), bench.change(patch("station.\(name)", value)) else { return false }
            return bench.retained("seismote/test/state/info")?.contains("\"\(name)\":\(value)") == true
        }
    }

    @Sendable static func groups() throws -> Bool {
        let bench = try AgentBench()
        bench.send("ping", group: "school")
        bench.round()
        guard bench.dispatcher.gate.nextDue == nil, bench.change(patch("station.groups", #"["school"]"#)) else {
            return false
        }
        bench.send("ping", group: "school")
        bench.round()
        return bench.dispatcher.gate.nextDue != nil
    }

    @Sendable static func health() throws -> Bool {
        let bench = try AgentBench("health: {interval_s: 86400}")
        guard bench.change(patch("health.interval_s", "1")) else { return false }
        bench.round()
        let first = bench.retained("seismote/test/state/health")
        return first != nil
            && eventually {
                bench.round()
                return bench.retained("seismote/test/state/health") != first
            }
    }

    @Sendable static func logLevel() throws -> Bool {
        let bench = try AgentBench("log: {level: error}")
        bench.send("rebirth")
        bench.round()
        guard bench.lines.all.isEmpty, bench.change(patch("log.level", "\"info\"")) else { return false }
        return bench.lines.all.contains { $0.contains("settings changed") }
    }

    /// A confirmation is taken, and waits for the disk; then it is refused.
    @Sendable static func confirmation() throws -> Bool {
        let bench = try AgentBench()
        func isRefused() -> Bool {
            bench.send("confirm-event", #""event_id":"test-20260105T102030120Z","network_event":"net-1""#)
            bench.round()
            return bench.replies().contains { $0.codes == ["unavailable"] }
        }
        guard !isRefused(), bench.change(patch("detection.event.confirmation", "false")) else { return false }
        return isRefused()
    }

    // MARK: The network's warning

    /// An earthquake of magnitude 6.5, 31 km away, that six stations have seen, before a change and after it.
    /// - Parameters:
    ///   - settings: of `alarm.network`.
    ///   - look: is given what was published of each of both, and what was refused in the end.
    static func warning(
        _ key: String, _ value: String, _ settings: String,
        _ look: @escaping @Sendable (_ before: String?, _ after: String?, _ refused: [NamedCount]) -> Bool
    ) -> Probe {
        .watched {
            let bench = try AgentBench(
                "station: {latitude: 35, longitude: -117}\nalarm: {network: {\(settings)}}")
            let inbox = MessageInbox.events(wake: bench.inbox.wake)
            bench.reporter.warnings = WarningService(
                inbox: inbox, link: bench.link, log: Log(level: .error, journal: false) { _ in }, alarm: nil)
            func said(of id: String) -> String? {
                let now = Timestamp(nanoseconds: HostClock.wall()).description
                let seen = (0..<6).map { "{\"id\":\"s\($0)\"}" }.joined(separator: ",")
                let event = """
                    {"t":"\(now)","event_id":"\(id)","version":1,"origin_time":"\(now)","latitude":35.28,\
                    "longitude":-117,"depth_km":10,"ellipse":{"semi_major_km":2},"place":{"quality":"good"},\
                    "magnitude":{"value":6.5,"sigma":0.3},"stations":[\(seen)],"class":{"likely":"earthquake"}}
                    """
                inbox.put(InboundMessage(topic: "seismote/network/event", payload: Array(event.utf8)))
                bench.reporter.warn()
                let found = bench.retained("seismote/test/event/warning")
                return found?.contains("\"network_event\":\"\(id)\"") == true ? found : nil
            }
            let before = said(of: "net-a")
            guard bench.blocks(2), bench.change(patch(key, value)) else { return false }
            let after = said(of: "net-b")
            return look(before, after, bench.reporter.warnings?.report?.refused ?? [])
        }
    }

    // MARK: What a broker sees first

    private static func broker(_ port: Int, _ more: String = "", isEncrypted: Bool = false) -> String {
        let uri = "mqtt\(isEncrypted ? "s" : "")://127.0.0.1:\(port)"
        return "mqtt: {uri: \"\(uri)\", username: u, protocol: 5, reconnect: {min_s: 0.1, max_s: 0.2}\(more)}"
    }

    /// Another value, and what the next connection begins with.
    static func connect(
        _ key: String, _ value: String, isEncrypted: Bool = false,
        _ isOther: @escaping @Sendable (RawListener.Greeting) -> Bool
    ) -> Probe {
        .watched {
            let listener = try RawListener()
            let bench = try AgentBench(broker(listener.port, isEncrypted: isEncrypted), [.sampling, .link])
            guard eventually({ listener.greetings.count == 1 }), !isOther(listener.greetings[0]),
                bench.change(patch(key, value), ",\"confirm_s\":600")
            else { return false }
            return eventually { listener.greetings.dropFirst().contains(where: isOther) }
        }
    }

    @Sendable static func uri() throws -> Bool {
        let (first, second) = (try RawListener(), try RawListener())
        let bench = try AgentBench(broker(first.port), [.sampling, .link])
        guard eventually({ !first.greetings.isEmpty }),
            bench.change(patch("mqtt.uri", "\"mqtt://127.0.0.1:\(second.port)\""), ",\"confirm_s\":600")
        else { return false }
        return eventually { second.greetings.contains { $0.hasText("seismote-test") } }
    }

    /// Rows that only the file may set are given to the link as a change of it would be.
    private static func other(_ change: (inout Configuration) -> Void, _ bench: AgentBench) throws {
        var configuration = bench.keeper.settings.configuration
        change(&configuration)
        try bench.link.change(to: LinkOptions(configuration, topics: Topics(configuration)))
    }

    @Sendable static func clientID() throws -> Bool {
        let listener = try RawListener()
        let bench = try AgentBench(broker(listener.port), [.link])
        guard eventually({ listener.greetings.contains { $0.hasText("seismote-test") } }) else { return false }
        try other({ $0.mqtt.clientID = "secure-{id}" }, bench)
        return eventually { listener.greetings.contains { $0.hasText("secure-test") } }
    }

    @Sendable static func passwordFile() throws -> Bool {
        let listener = try RawListener()
        let bench = try AgentBench(broker(listener.port), [.link])
        guard eventually({ !listener.greetings.isEmpty }) else { return false }
        let path = try bench.folder.write("password", "hush\n")
        try other({ $0.mqtt.passwordFile = path }, bench)
        return eventually { listener.greetings.contains { $0.hasText("hush") } }
    }

    /// A name of a file or key that only TLS knows: with another, a new connection is tried at once.
    static func file(_ path: any WritableKeyPath<MQTTConfiguration.TLS, String> & Sendable) -> Probe {
        .watched {
            let listener = try RawListener()
            let bench = try AgentBench(broker(listener.port, isEncrypted: true), [.link])
            func attempts() -> Int { bench.lines.connection.count { if case .connecting = $0 { true } else { false } } }
            guard eventually({ !listener.greetings.isEmpty }), attempts() == 1 else { return false }
            try other({ $0.mqtt.tls[keyPath: path] = "/nonexistent" }, bench)
            return eventually { attempts() > 1 }
        }
    }

    /// Nobody listens: how long until the next attempt (s).
    static func retry(_ key: String, _ value: String, longest: Double, above: Double) -> Probe {
        .watched {
            let settings =
                "mqtt: {uri: \"mqtt://127.0.0.1:\(try FreePort.find())\", "
                + "reconnect: {min_s: 0.1, max_s: \(longest)}}"
            let bench = try AgentBench(settings, [.sampling, .link])
            func pauses() -> [Double] {
                bench.lines.connection.compactMap { if case .disconnected(_, _, let pause) = $0 { pause } else { nil } }
            }
            guard eventually({ !pauses().isEmpty }), bench.change(patch(key, value)) else { return false }
            let before = pauses().count
            return eventually { pauses().dropFirst(before).contains { $0 >= above } }
        }
    }

    // MARK: Home Assistant

    /// - Parameter topic: of something that is announced then; nil: the old one is taken away.
    static func discovery(_ name: String, _ value: String, at topic: String? = nil) -> Probe {
        .watched {
            let bench = try AgentBench("unlocked: [mqtt.home_assistant.prefix]")
            let usual = "homeassistant/device/seismote-test/config"
            func says(_ topic: String, _ isRight: (String) -> Bool) -> Bool {
                eventually {
                    bench.round()
                    return bench.retained(topic).map(isRight) ?? false
                }
            }
            guard says(usual, { !$0.isEmpty }), bench.change(patch("mqtt.home_assistant.\(name)", value)) else {
                return false
            }
            return says(usual) { $0.isEmpty } && (topic.map { says($0) { !$0.isEmpty } } ?? true)
        }
    }

    /// What Home Assistant says when it has started, and where.
    static func birth(_ key: String, _ value: String, topic: String, _ payload: String) -> Probe {
        .watched {
            let bench = try AgentBench()
            let message = InboundMessage(topic: topic, payload: Array(payload.utf8))
            func isBirth() -> Bool { bench.reporter.isFromHomeAssistant(message) && bench.reporter.isBirth(message) }
            func after(_ isSo: () -> Bool) -> Bool {
                bench.round()
                return isSo()
            }
            guard eventually({ after { bench.retained("homeassistant/device/seismote-test/config") != nil } }),
                !isBirth(),
                bench.change(patch("mqtt.home_assistant.\(key)", "\"\(value)\""))
            else { return false }
            return eventually { after(isBirth) }
        }
    }

    @Sendable static func page() throws -> Bool {
        let bench = try AgentBench()
        guard bench.change(patch("mqtt.home_assistant.page", "\"http://here/#/station/{id}\"")) else { return false }
        return eventually {
            bench.round()
            return bench.retained("homeassistant/device/seismote-test/config")?
                .contains(#""configuration_url":"http://here/#/station/test""#) == true
        }
    }

    // MARK: The disk

    @Sendable static func budget() throws -> Bool {
        let bench = try AgentBench("storage: {budget_mb: 100}", [.sampling, .storage])
        func stored() -> SpoolStatistics { bench.storage.status.now.statistics }
        let header = Messages.Stream.trigger.delivery.header(topic: "seismote/test/event/trigger")
        let payload = [UInt8](repeating: 1, count: 60_000)
        for number in 1...250 {
            payload.withUnsafeBytes { bench.link.publish(header, $0) }
            guard eventually({ stored().messages[.essential] >= number }) else { return false }
        }
        guard stored().dropped.total == 0, bench.change(patch("storage.budget_mb", "16")) else { return false }
        return eventually { stored().dropped.total > 20 }
    }

    @Sendable static func ring() throws -> Bool {
        let bench = try AgentBench("storage: {ring_minutes: 0}", [.sampling, .storage])
        func pieces() -> Int { bench.storage.status.now.statistics.ringSegments }
        guard bench.blocks(100), bench.change(patch("storage.ring_minutes", "60")), bench.blocks(140),
            eventually({ pieces() > 0 }), bench.storage.segments.lost == 0
        else { return false }
        return bench.change(patch("storage.ring_minutes", "0")) && eventually { pieces() == 0 }
    }

    /// A spool that another agent has left in a folder.
    private static func leave(_ folder: TemporaryFolder, _ body: (inout Spool) throws -> Void) throws {
        var spool = try Spool.open(SpoolOptions(directory: folder.url.path), now: HostClock.wall())
        try body(&spool)
        try spool.close()
    }

    @Sendable static func keptEvents() throws -> Bool {
        let bench = try AgentBench("storage: {keep_events_days: 30}", [.sampling, .storage]) { folder in
            try leave(folder) { spool in
                var header = Messages.Stream.trigger.delivery.header(topic: "seismote/test/event/trigger")
                header.event = EventMark(id: "e", part: .end)
                let key = try Array("{}".utf8).withBytes { bytes throws(SpoolError) in
                    try spool.put(header, bytes, made: HostClock.wall() - 10 * 86_400_000_000_000)
                }
                try spool.settle(key, .delivered)
                // It has been there for ten days in which the agent ran.
                for hours in [16, 240] as [Int64] {
                    try spool.trim(now: HostClock.wall() + hours * 3_600_000_000_000)
                }
            }
        }
        func kept() -> Int { bench.storage.status.now.statistics.keptMessages }
        // (A program that another test starts may have the lock for a moment; it is tried again after 30 s.)
        guard eventually(within: 45, { kept() == 1 }), bench.change(patch("storage.keep_events_days", "1")) else {
            return false
        }
        return eventually { kept() == 0 }
    }

    @Sendable static func keptVibration() throws -> Bool {
        let bench = try AgentBench("vibration: {keep_days: 30}", [.sampling, .storage]) { folder in
            try leave(folder) { spool in
                var record = VibrationRecord()
                (record.start, record.length, record.seconds) = (1_700_000_000_000_000_000, 60, 60)
                try spool.storeVibration(record)
                for days in [0, 10] as [Int64] {
                    try spool.trim(now: HostClock.wall() + days * 86_400_000_000_000)
                }
            }
        }
        var number = 900
        func kept() -> Int? {
            number += 1
            let order = StorageThread.Order(.vibration(0...Int64.max / 2, cbor: false))
            guard bench.storage.orders.put(order, number: number) else { return nil }
            var found: Int?
            _ = eventually {
                for outcome in bench.storage.orders.takeOutcomes() where outcome.number == number {
                    guard case .made(let result) = outcome.outcome, let tree = try? JSONReader.read(result.bytes) else {
                        return true
                    }
                    found = tree["n"]?.whole
                    return true
                }
                return false
            }
            return found
        }
        guard eventually(within: 45, { kept() == 1 }), bench.change(patch("vibration.keep_days", "1")) else {
            return false
        }
        return eventually { kept() == 0 }
    }

    /// Whether modes are told after twelve minutes, with a change of the settings before or after them.
    static func modes(
        _ settings: String, _ change: String = patch("health.interval_s", "77"),
        after last: String = patch("vibration.modes_s", "7200")
    ) throws -> Bool {
        let bench = try AgentBench(settings)
        guard bench.blocks(1), bench.change(change) else { return false }
        for _ in 0..<18 {
            guard bench.blocks(250), eventually({ bench.modes.waiting == 0 }) else { return false }
        }
        guard bench.published.messages("data/modes").isEmpty, bench.change(last) else { return false }
        guard bench.blocks(1) else { return false }
        return eventually { bench.published.messages("data/modes").count == 1 }
    }

    @Sendable static func packetLimit() throws -> Bool {
        let broker = try Broker()
        let bench = try AgentBench("mqtt: {uri: \"mqtt://127.0.0.1:\(broker.port)\"}", [.sampling, .link])
        guard eventually(within: 30, { bench.link.isConnected }), bench.link.statistics.packetLimit == nil,
            bench.change(patch("mqtt.max_packet_bytes", "1234"))
        else { return false }
        return eventually { bench.link.statistics.packetLimit == 1234 }
    }

    @Sendable static func backfill() throws -> Bool {
        let broker = try Broker()
        let settings = "mqtt: {uri: \"mqtt://127.0.0.1:\(broker.port)\"}\nstorage: {backfill_per_s: 1}"
        let bench = try AgentBench(settings, [.sampling, .storage, .link]) { folder in
            try leave(folder) { spool in
                var header = PublicationHeader(
                    topic: "seismote/test/data/history/x", qos: 1, retain: false, priority: .state)
                header.isHistory = true
                for _ in 0..<300 {
                    _ = try Array("{}".utf8).withBytes { bytes throws(SpoolError) in
                        try spool.put(header, bytes, made: HostClock.wall())
                    }
                }
            }
        }
        func sent() -> UInt64 { bench.link.statistics.backfilled }
        guard eventually(within: 45, { sent() > 0 }), sent() < 100,
            bench.change(patch("storage.backfill_per_s", "10000"))
        else { return false }
        return eventually { sent() == 300 }
    }
}
