import Messages
import Testing

@testable import MQTT

/// A broker of MQTT 3.1.1 with rights to write and to read: it acknowledges everything.
private final class SilentBroker {
    let bench: Bench
    var mayWrite: (String) -> Bool
    var mayRead: (String) -> Bool
    var arrived: [String] = []
    private var filters: [String] = []

    init(mayWrite: @escaping (String) -> Bool, mayRead: @escaping (String) -> Bool = { _ in true }) {
        (self.mayWrite, self.mayRead) = (mayWrite, mayRead)
        bench = Bench {
            $0.connection.mqtt.protocolVersion = .v311
            $0.base = "s"
            $0.presence.topic = "s/online"
            $0.connection.mqtt.keepalive = 0
            $0.keepsEssential = true
            var check = LinkOptions.SelfCheck()
            check.echoTopics = ["s/online", "s/data/trace"]
            check.probes = [
                .init(filter: "s/event/+", topic: "s/event/selfcheck"),
                .init(filter: "s/data/waveform/+", topic: "s/data/waveform/selfcheck"),
            ]
            $0.selfCheck = check
        }
    }

    func live(_ seconds: Double, each: (Int) -> Void = { _ in }) {
        for tenth in 0..<Int(seconds * 10) {
            each(tenth)
            bench.step(after: second / 10)
            if case .connecting = bench.core.life.state {
                filters = []
                bench.transport.accept()
                bench.step()
            }
            filters += bench.transport.subscribed.map(\.filter)
            bench.transport.answer()
            bench.step()
            while !bench.transport.sent.isEmpty {
                let message = bench.transport.sent.removeFirst()
                if mayWrite(message.topic) {
                    arrived.append("\(message.topic) \(message.text)")
                    if mayRead(message.topic), filters.contains(where: { $0.takes(message.topic) }) {
                        let back = InboundMessage(topic: message.topic, payload: Array(message.text.utf8))
                        bench.transport.events.append(.message(back))
                    }
                }
                if message.header.qos > 0 { bench.transport.events.append(.finished(id: message.id, reason: 0)) }
                bench.step()
            }
        }
    }

    /// With a trace each second.
    func run(_ seconds: Double) { live(seconds) { if $0 % 10 == 5 { self.bench.put("s/data/trace", "t") } } }

    func event(_ text: String, key: Int64) {
        bench.put("s/event/trigger", text, .essential)
        bench.keepAll(from: key)
        live(0.3)
    }
}

@Suite struct ProbeTests {
    @Test func eachClassOfTopicsIsVerified() {
        let broker = SilentBroker(mayWrite: { _ in true })
        broker.run(12)
        for filter in ["s/online", "s/data/trace", "s/event/+", "s/data/waveform/+"] {
            #expect(broker.bench.outcome(filter) == .verified, "\(filter)")
        }
        #expect(broker.bench.core.statistics.deniedTopics == [])
        #expect(
            broker.arrived.filter { $0.contains("selfcheck") } == ["s/event/selfcheck ", "s/data/waveform/selfcheck "])
        #expect(broker.bench.core.session.selfCheck == nil)
    }

    /// A defect: with `event/#` denied, all events were acknowledged, none arrived, and nothing was said; `data/trace` was
    /// looked at and could not be found denied.
    @Test func whatIsThrownAwayInSilenceIsFoundOutAndItsEventsWait() {
        let broker = SilentBroker(mayWrite: { !$0.hasPrefix("s/event/") && $0 != "s/data/trace" })
        broker.run(12)
        #expect(broker.bench.core.statistics.deniedTopics.sorted() == ["s/data/trace", "s/event/+"])
        #expect(broker.bench.outcome("s/data/waveform/+") == .verified)
        broker.event("e", key: 4)
        #expect(broker.bench.settled() == [Settlement(key: 4, outcome: .held)])
        let header = PublicationHeader(topic: "s/event/trigger", qos: 1, retain: false, priority: .essential)
        func mayOffer() -> Bool { broker.bench.store.withLock { $0.mayOffer(header, key: 8) } }
        #expect(!mayOffer())
        // Allowed again, on the same connection.
        broker.mayWrite = { _ in true }
        broker.run(60)
        #expect(broker.bench.core.statistics.connects == 1)
        #expect(broker.bench.core.statistics.deniedTopics == [])
        #expect(mayOffer())
        broker.event("f", key: 8)
        #expect(broker.bench.settled() == [Settlement(key: 8, outcome: .delivered)])
    }

    /// The rights of the documents.
    @Test func whoMayReadNothingOfItsOwnIsNotAccused() {
        let broker = SilentBroker(mayWrite: { _ in true }, mayRead: { _ in false })
        broker.run(30)
        #expect(broker.bench.outcome("s/event/+") == .unverifiable)
        #expect(broker.bench.core.statistics.deniedTopics == [])
        broker.event("e", key: 4)
        #expect(broker.bench.settled() == [Settlement(key: 4, outcome: .delivered)])
    }

    /// With the right to read back the empty messages, and nothing else, all classes are known and nothing else is accused.
    @Test(arguments: [true, false]) func whoMayReadTheEmptyMessagesAloneKnowsItsRights(mayWriteEvents: Bool) {
        let broker = SilentBroker(
            mayWrite: { mayWriteEvents || !$0.hasPrefix("s/event/") }, mayRead: { $0.hasSuffix("/selfcheck") })
        broker.run(12)
        #expect(broker.bench.outcome("s/event/+") == (mayWriteEvents ? .verified : .denied))
        #expect(broker.bench.outcome("s/data/waveform/+") == .verified)
        #expect(broker.bench.outcome("s/online") == .unverifiable)
        #expect(broker.bench.core.statistics.deniedTopics == (mayWriteEvents ? [] : ["s/event/+"]))
    }

    /// What is really published tells more than an empty message.
    @Test func anEventThatComesBackClearsTheSuspicion() {
        let broker = SilentBroker(mayWrite: { $0 != "s/event/selfcheck" })
        broker.run(12)
        #expect(broker.bench.core.statistics.deniedTopics == ["s/event/+"])
        broker.event("e", key: 4)
        #expect(broker.arrived.contains("s/event/trigger e"))
        broker.run(1)
        #expect(broker.bench.core.statistics.deniedTopics == [])
    }

    /// Readers of a line that breaks often need not see them all the time.
    @Test func emptyMessagesAreRareAndGetRarer() {
        let denied = SilentBroker(mayWrite: { !$0.hasPrefix("s/event/") })
        var probes = 0
        denied.live(3600) { _ in probes += denied.bench.transport.topics.count { $0 == "s/event/selfcheck" } }
        #expect(probes <= 12)
        let broken = SilentBroker(mayWrite: { _ in true })
        for _ in 0..<30 {
            broken.run(3)
            broken.bench.transport.lose()
        }
        #expect(broken.arrived.count { $0 == "s/event/selfcheck " } <= 3)
    }

    /// What was on disk before nothing is known of the broker.
    @Test func whatIsOnDiskWaitsForTheFirstCheck() {
        let broker = SilentBroker(mayWrite: { !$0.hasPrefix("s/event/") })
        var header = PublicationHeader(topic: "s/event/trigger", qos: 1, retain: false, priority: .essential)
        header.event = EventMark(id: "e", part: .onset)
        let payload = Array("e".utf8)
        let isTaken = payload.withUnsafeBytes { bytes in
            broker.bench.store.withLock { $0.queue.offerBackfill(header, key: 4, bytes, now: 0) }
        }
        #expect(isTaken)
        broker.run(15)
        #expect(broker.bench.settled() == [Settlement(key: 4, outcome: .held)])
    }

    /// A defect: on a disk that took longer than 200 ms an event left before it was kept, the broker acknowledged and
    /// dropped it, and nothing had it any more.
    @Test(arguments: [(0.5, Settlement.Outcome.displaced), (15, .held)])
    func onASlowDiskNothingLeavesUnkeptThatMayBeDropped(whenMade: Double, outcome: Settlement.Outcome) {
        let broker = SilentBroker(mayWrite: { !$0.hasPrefix("s/event/") })
        broker.run(whenMade)
        broker.bench.put("s/event/trigger", "e", .essential)
        broker.run(3)
        broker.bench.keepAll(from: 7)
        broker.run(15)
        #expect(broker.bench.settled() == [Settlement(key: 7, outcome: outcome)])
    }
}
