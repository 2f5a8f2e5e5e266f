import Foundation
import MQTT
import Messages
import Settings
import Spool
import TestSupport
import Testing

@testable import Agent

/// What a broker refuses, and the disk. `deploy/checks/refusals` is the long form.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RefusedTests {
    private static let others = "topic readwrite #\nuser board\n"
    private static let denied =
        others + ["state", "cmd", "data/trace"].map { "topic readwrite seismote/board/\($0)/#\n" }.joined()
        + "topic readwrite seismote/board/data/trace\n"

    /// A defect: a message that was refused once never came. It waits, also for the next agent, until it is allowed. With
    /// 3.1.1 the next one does not know at first that the broker only pretends to take it.
    @Test(arguments: ["5", "\"3.1.1\""]) func whatWasRefusedIsSentByTheNextAgent(version: String) throws {
        let broker = try Broker("acl_file %/acl", files: ["acl": Self.denied])
        let folder = try TemporaryFolder()
        let listener = try Subscriber(port: broker.port)
        let settings = """
            station: {id: board}
            sensor: {driver: simulate, simulate: {scenario: table-knock}}
            conditioning: {settle_s: 1}
            detection: {event: {pre_event_s: 1, post_event_s: 1, dead_time_s: 0}}
            health: {interval_s: 1}
            storage: {directory: "\(folder.path("state"))"}
            mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)", username: board, protocol: \(version)}
            """
        func events() -> Set<String> {
            Set(
                listener.messages.filter { $0.topic.contains("/event/trigger") }.map {
                    "\($0.json["boot"] ?? "")\($0.json["seq"] ?? "")"
                })
        }
        func waiting(_ boot: String?) -> Int {
            let health = listener.messages.last { $0.topic.hasSuffix("/health") && $0.json["boot"] as? String == boot }
            return (health?.json["outbox"] as? [String: Any])?["messages"] as? Int ?? 0
        }
        let first = try AgentProcess(settings: settings)
        let alert = listener.first(within: 30) { $0.topic.hasSuffix("/alert/write_denied") && !$0.payload.isEmpty }
        #expect(
            alert?.json["message"].map { "\($0)".contains("seismote/board/event/") } == true, "\(first.child.errors)")
        let boot = listener.messages.first { $0.topic.hasSuffix("/info") }?.json["boot"] as? String
        #expect(eventually(within: 30) { waiting(boot) >= 4 })
        first.child.signal(SIGKILL)
        #expect(eventually { !first.child.isRunning })
        let second = try AgentProcess(settings: settings)
        let isBack = { (message: Subscriber.Message) in
            message.topic.hasSuffix("/info") && message.json["boot"] as? String != boot
        }
        let next = try #require(listener.first(within: 20, where: isBack)).json["boot"] as? String
        // It finds out as well, and nothing is thrown away meanwhile.
        #expect(
            listener.first(within: 30) {
                $0.topic.hasSuffix("/alert/write_denied") && $0.json["boot"] as? String == next
            } != nil)
        #expect(eventually(within: 30) { waiting(next) >= 4 })
        #expect(events().isEmpty)
        try broker.folder.write("acl", Self.others + "topic readwrite seismote/board/#\n")
        broker.reload()
        // The onset of the first event of the first agent, and all that came after.
        #expect(eventually(within: 180) { events().contains("\(boot ?? "-")0") }, "\(second.child.errors)")
        #expect(eventually(within: 30) { waiting(next) <= 2 })
    }

    /// Not for ever: what is too old counts as dropped.
    @Test func whatIsRefusedForTooLongIsDroppedAndCounted() throws {
        let broker = try Broker("acl_file %/acl", files: ["acl": Self.denied])
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.station.id = "board"
        configuration.storage.directory = folder.path("state")
        configuration.storage.keepEventsDays = 2
        configuration.mqtt.uris = ["mqtt://127.0.0.1:\(broker.port)"]
        (configuration.mqtt.username, configuration.mqtt.protocolVersion) = ("board", .v5)
        let topics = try Topics(id: "board")
        let link = try Link(options: LinkOptions(configuration, topics: topics)) { _ in }
        try link.start()
        defer { _ = link.stop(within: 1) }
        let status = StorageStatus()
        var outbox = try Outbox.open(
            Outbox.Context(configuration, topics: topics), link: link, status: status, log: Log(level: .error))
        let day: Int64 = 86_400_000_000_000
        /// Rounds, as of the thread of the storage, so many days from now, until it is as wanted.
        func rounds(_ days: Int64, _ outbox: inout Outbox, until wanted: () -> Bool) throws -> Bool {
            for _ in 0..<600 where !wanted() {
                var pieces: [SegmentQueue.Item] = []
                let (now, wall) = (HostClock.monotonic() + days * day, HostClock.wall() + days * day)
                outbox.hear()
                try outbox.round(&pieces, now: now, wall: wall, isLast: false)
                if link.keeperWake.wait(milliseconds: 50) { link.keeperWake.clear() }
            }
            return wanted()
        }
        var header = Stream.trigger.delivery.header(topic: topics.trigger)
        for index in 0..<30 {
            header.event = EventMark(id: "e\(index)", part: .onset)
            Array("{}".utf8).withUnsafeBytes { link.publish(header, $0) }
        }
        func onDisk() -> Int { status.now.statistics.messages.essential }
        #expect(
            try rounds(0, &outbox) {
                link.statistics.held.count == 1 && onDisk() == 30 && link.statistics.queueMessages == 0
            })
        // (Its time is over: it would go below data/history, which is denied as well.)
        #expect(try rounds(1, &outbox) { link.statistics.held.count == 2 })
        #expect(onDisk() == 30)
        #expect(status.now.statistics.dropped.essential == 0)
        #expect(try rounds(4, &outbox) { onDisk() == 0 })
        #expect(status.now.statistics.dropped.essential == 30)
    }
}
