import Messages
import Testing

@testable import MQTT

/// A broker with an ACL: it acknowledges what comes, what is denied as well (3.1.1) or with reason 135 (5), and may hang up
/// right after that, with what came behind it thrown away: as mosquitto 2.0.11 with `max_queued_messages 0`.
final class AccessBench {
    let bench: Bench
    let version: MQTTVersion
    var isDenied: (String) -> Bool
    var hangsUp: Bool
    var reason = 135
    /// What came through, and how often the broker hung up.
    var arrived: [String] = []
    var hangUps = 0
    var topics: [String] = []

    init(
        _ version: MQTTVersion, hangsUp: Bool, denied: @escaping (String) -> Bool,
        _ change: @escaping (inout LinkOptions) -> Void = { _ in }
    ) {
        (self.version, self.hangsUp, isDenied) = (version, hangsUp, denied)
        bench = Bench {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.base = "s"
            $0.connection.mqtt.reconnectMaximum = 2
            $0.connection.mqtt.keepalive = 0
            change(&$0)
        }
    }

    /// All that the broker does with what it has.
    func answer() {
        var rounds = 0
        while !bench.transport.sent.isEmpty, rounds < 1000 {
            rounds += 1
            let message = bench.transport.sent.removeFirst()
            topics.append(message.topic)
            let isDenied = isDenied(message.topic)
            if message.header.qos > 0 {
                let reason = isDenied && version == .v5 ? reason : 0
                bench.transport.events.append(.finished(id: message.id, reason: reason))
            }
            if !isDenied { arrived.append("\(message.topic) \(message.text)") }
            if isDenied, hangsUp {
                hangUps += 1
                bench.transport.sent.removeAll()
                bench.transport.lose()
                break
            }
            bench.step()
        }
        bench.step()
    }

    /// Lives for so long, in steps of a tenth of a second.
    func live(_ seconds: Double, each: (Int) -> Void = { _ in }) {
        for tenth in 0..<Int(seconds * 10) {
            each(tenth)
            bench.step(after: second / 10)
            if case .connecting = bench.core.life.state {
                bench.transport.accept()
                bench.step()
            }
            answer()
        }
    }

    func count(_ text: String) -> Int { arrived.count { $0 == text } }
}

@Suite struct RefusalTests {
    private static let isForeign: @Sendable (String) -> Bool = { $0.hasPrefix("homeassistant/") }

    /// A defect: with every connection the denied topic came before all events, and the broker hung up: in 150 s there were
    /// 78 connections, no event arrived, an innocent state was given up, and nothing said why.
    @Test(arguments: BrokerTests.versions) func aBrokerThatHangsUpOnADeniedTopicGetsEverythingElse(
        version: MQTTVersion
    ) {
        let world = AccessBench(version, hangsUp: true, denied: Self.isForeign)
        let bench = world.bench
        for topic in ["s/info", "s/config", "homeassistant/device/s/config", "s/event/last"] {
            bench.put(topic, "x", retain: true, .essential)
        }
        bench.step()
        world.live(150) { tenth in
            if tenth % 10 == 5 { bench.put("s/data/trace", "\(tenth)") }
            if tenth % 50 == 0 { bench.put("s/event/trigger", "\(tenth)", .essential) }
        }
        #expect(world.hangUps > 0 && world.hangUps <= 12, "\(world.hangUps)")
        for tenth in stride(from: 0, to: 1450, by: 50) {
            #expect(world.count("s/event/trigger \(tenth)") > 0, "\(tenth)")
        }
        for tenth in stride(from: 5, to: 1490, by: 10) { #expect(world.count("s/data/trace \(tenth)") > 0, "\(tenth)") }
        #expect(world.count("s/event/last x") > 0)
        #expect(!bench.reports.contains(.abandoned(topic: "s/event/last")))
        #expect(bench.core.statistics.held.map(\.topic) == ["homeassistant/#"])
        #expect(bench.core.statistics.held.first?.breaks == true)
        // It is allowed one day.
        world.hangUps = 0
        world.isDenied = { _ in false }
        world.live(200)
        #expect(world.count("homeassistant/device/s/config x") == 1)
        #expect(world.hangUps == 0)
        #expect(bench.core.statistics.held == [])
    }

    /// What is denied comes last in a new connection, and only when its pause is over.
    @Test func whatWasRefusedBeforeABreakComesLastAndMoreAndMoreRarely() {
        let world = AccessBench(.v5, hangsUp: true, denied: Self.isForeign)
        world.bench.put("homeassistant/device/s/config", "x", retain: true, .essential)
        world.bench.put("s/event/last", "x", retain: true, .essential)
        var times: [UInt64] = []
        world.live(1300) { _ in if world.hangUps > times.count { times.append(world.bench.now / second) } }
        let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(pauses.count >= 5)
        for (pause, next) in zip(pauses, pauses.dropFirst()) { #expect(next >= pause * 2 - 4, "\(pauses)") }
        #expect(world.topics.last { $0 != "s/online" } != nil)
    }

    /// A defect: every refusal was for ever.
    @Test(arguments: [135, 128, 151]) func whatIsEssentialAndRefusedIsTriedAgainUntilItIsTaken(reason: Int) {
        let world = AccessBench(.v5, hangsUp: false, denied: { $0 == "s/event/trigger" })
        world.reason = reason
        let bench = world.bench
        world.live(1)
        for index in 0..<30 {
            bench.now += 1
            bench.put("s/event/trigger", "\(index)", .essential)
        }
        bench.put("s/data/trace", "t")
        world.live(300) { tenth in if tenth % 100 == 0 { bench.put("s/event/trigger", "later \(tenth)", .essential) } }
        #expect(world.count("s/data/trace t") == 1)
        // The first ones together, then one alone after 5, 10, 20, ... s.
        #expect(world.topics.count { $0 == "s/event/trigger" } < 40)
        #expect(bench.core.statistics.held.map(\.reason) == [reason])
        #expect(bench.core.statistics.queueMessages == 60)
        world.isDenied = { _ in false }
        world.live(700)
        #expect(
            world.arrived.filter { $0.hasPrefix("s/event/trigger") }.prefix(30).elementsEqual(
                (0..<30).map { "s/event/trigger \($0)" }))
        #expect(world.arrived.count { $0.hasPrefix("s/event/trigger") } == 60)
        #expect(bench.core.statistics.held == [])
        #expect(bench.core.statistics.queueMessages == 0 && bench.core.statistics.queueBytes == 0)
    }

    @Test func aNewConnectionTriesWhatWasRefusedAtOnce() {
        let world = AccessBench(.v5, hangsUp: false, denied: { $0 == "s/event/trigger" })
        world.live(1)
        world.bench.put("s/event/trigger", "e", .essential)
        world.live(400)
        world.isDenied = { _ in false }
        world.bench.transport.lose()
        world.live(6)
        #expect(world.count("s/event/trigger e") == 1)
    }

    @Test func otherSettingsTryWhatWasRefusedAtOnce() {
        let world = AccessBench(.v5, hangsUp: false, denied: { $0 == "s/event/trigger" })
        let bench = world.bench
        world.live(1)
        bench.put("s/event/trigger", "e", .essential)
        world.live(400)
        world.isDenied = { _ in false }
        var options = bench.core.options
        options.connection.mqtt.username = "other"
        bench.core.handle(.change(.init(options, number: 1)), now: bench.now)
        world.live(8)
        #expect(world.count("s/event/trigger e") == 1)
    }

    /// On disk: what is refused stays there, one message is asked for, and all when it was taken.
    @Test func theKeeperIsAskedForOneMessageAndThenForAll() {
        let world = AccessBench(.v5, hangsUp: false, denied: { $0 == "s/event/trigger" }, { $0.keepsEssential = true })
        let bench = world.bench
        world.live(1)
        bench.put("s/event/trigger", "e", .essential)
        bench.keepAll(from: 4)
        world.live(1)
        #expect(bench.settled() == [Settlement(key: 4, outcome: .held)])
        let header = PublicationHeader(topic: "s/event/trigger", qos: 1, retain: false, priority: .essential)
        func mayOffer(isForTrial: Bool = true) -> Bool {
            bench.store.withLock { $0.mayOffer(header, key: 4, isForTrial: isForTrial) }
        }
        #expect(!mayOffer())
        let number = bench.store.withLock { $0.holds.number }
        world.live(5)
        #expect(bench.store.withLock { $0.holds.number } > number)
        #expect(!mayOffer(isForTrial: false))
        #expect(mayOffer())
        #expect(!mayOffer())
        world.isDenied = { _ in false }
        let payload = Array("e".utf8)
        let isTaken = payload.withUnsafeBytes { bytes in
            bench.store.withLock { $0.queue.offerBackfill(header, key: 4, bytes, now: bench.now) }
        }
        #expect(isTaken)
        world.live(1)
        #expect(bench.settled() == [Settlement(key: 4, outcome: .delivered)])
        #expect(mayOffer() && mayOffer(isForTrial: false))
    }

    /// A defect: RabbitMQ says 131 where a queue of one reader is on a node that is away, and all others get the message;
    /// no later event left until that node was back.
    @Test func whatTheBrokerCannotForTheMomentHoldsUpNothingNew() {
        let world = AccessBench(.v5, hangsUp: false, denied: { $0 == "s/event/trigger" || $0 == "s/info" })
        world.reason = 131
        let bench = world.bench
        world.live(1)
        var late = 0
        world.live(400) { tenth in
            if tenth % 10 == 1, tenth < 300 {
                bench.put("s/event/trigger", "\(tenth / 10)", .essential)
                bench.put("s/info", "\(tenth / 10)", retain: true, .essential)
            }
            // Everybody else has it within a tenth of a second.
            if tenth % 10 == 2, tenth < 300, world.topics.count(where: { $0 == "s/event/trigger" }) <= tenth / 10 {
                late += 1
            }
        }
        #expect(late == 0)
        // Each once, and one alone after 5, 10, 20, 40, 40, ... s.
        #expect((30...50).contains(world.topics.count { $0 == "s/event/trigger" }))
        #expect((30...50).contains(world.topics.count { $0 == "s/info" }))
        #expect(bench.core.statistics.held.allSatisfy(\.isPassing) && bench.core.statistics.held.count == 2)
        #expect(bench.core.statistics.queueMessages == 30)
        world.isDenied = { _ in false }
        world.live(60)
        #expect(
            world.arrived.filter { $0.hasPrefix("s/event/trigger") } == (0..<30).map { "s/event/trigger \($0)" })
        #expect(world.arrived.filter { $0.hasPrefix("s/info") } == ["s/info 29"])
        #expect(bench.core.statistics.held == [])
        #expect(bench.core.statistics.queueMessages == 0 && bench.core.statistics.queueBytes == 0)
    }

    /// The same on disk: what is newer leaves, and what was refused is asked for when the broker takes others.
    @Test func onDiskOnlyWhatWasRefusedWaitsForTheMomentToPass() {
        let world = AccessBench(.v5, hangsUp: false, denied: { $0 == "s/event/trigger" }, { $0.keepsEssential = true })
        world.reason = 131
        let bench = world.bench
        world.live(1)
        bench.put("s/event/trigger", "a", .essential)
        bench.put("s/event/trigger", "b", .essential)
        bench.keepAll(from: 4)
        world.live(1)
        #expect(bench.settled().map(\.outcome) == [.held, .held])
        let header = PublicationHeader(topic: "s/event/trigger", qos: 1, retain: false, priority: .essential)
        func mayOffer(_ key: Int64) -> Bool {
            bench.store.withLock { $0.mayOffer(header, key: key, isForTrial: false) }
        }
        #expect([4, 5, 8].map(mayOffer) == [false, false, true])
        world.isDenied = { _ in false }
        bench.put("s/event/trigger", "c", .essential)
        bench.keepAll(from: 8)
        world.live(1)
        #expect(bench.settled() == [Settlement(key: 8, outcome: .delivered)])
        // Not in five seconds, but now.
        let isAsked = bench.store.withLock { $0.mayOffer(header, key: 4) }
        #expect(isAsked)
    }

    /// A bad line breaks connections too: what is not said again by itself has ten trials.
    @Test func messagesAreSuspectForLongerThanStates() {
        var refusals = Refusals()
        for (name, isRetained) in [("state", true), ("event", false)] {
            refusals.suspect(name, topic: name, isPatient: !isRetained, now: 0)
            refusals.suspect(name, topic: name, isPatient: isRetained, now: 0)
            for strike in 1...12 {
                let isCause = refusals.broke(name, topic: name, now: 0)
                #expect(isCause == (strike == (isRetained ? 3 : 10)), "\(name) \(strike)")
            }
        }
    }

    /// An answer to somebody whose topic the broker forbids is nothing to be kept.
    @Test func whatIsAddressedToOthersIsNotTriedAgain() {
        let world = AccessBench(.v5, hangsUp: false, denied: { $0.hasPrefix("clients/") })
        world.live(1)
        for index in 0..<100 { world.bench.put("clients/\(index)", "reply", .essential) }
        world.live(10)
        #expect(world.bench.core.statistics.held == [])
        #expect(world.bench.core.statistics.queueMessages == 0)
    }

    @Test func whatIsRememberedHasAnEnd() {
        var refusals = Refusals()
        for index in 0..<1000 { refusals.refused("t\(index)", topic: "t", reason: 135, isTrial: false, now: 0) }
        #expect(refusals.entries.count == Refusals.limit)
        for _ in 0..<100 { refusals.refused("t1", topic: "t", reason: 135, isTrial: true, now: 0) }
        #expect(refusals.entry("t1")?.until == Refusals.longest)
    }

    @Test func topicsThatStandForEachOther() {
        func name(_ topic: String, retained: Bool = false) -> String {
            TopicClass.name(of: topic, base: "r/s", isRetained: retained)
        }
        #expect(name("r/s/event/trigger") == "r/s/event/trigger")
        #expect(name("r/s/data/waveform/s-1") == "r/s/data/waveform/#")
        #expect(name("r/s/data/history/event/trigger") == "r/s/data/history/#")
        #expect(name("r/s/state/alert/x", retained: true) == "r/s/state/alert/#")
        #expect(name("homeassistant/device/s/config", retained: true) == "homeassistant/#")
        #expect(name("clients/7") == "clients/7")
        #expect("a/+".takes("a/b") && !"a/+".takes("a/b/c") && "a/#".takes("a/b/c") && !"a/+".takes("b/b"))
        #expect("a/b".takes("a/b") && !"a/b".takes("a/bc") && !"a/+".takes("a"))
    }
}
