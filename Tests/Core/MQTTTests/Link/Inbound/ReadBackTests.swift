import Messages
import Testing

@testable import MQTT

/// What a broker retains of a run before this one is read before this one says anything about it.
@Suite struct ReadBackTests {
    private static let topic = "s/event/current"

    private static func bench(brokers: Int = 1, _ version: MQTTVersion = .v5) -> Bench {
        let bench = Bench(brokers: brokers) {
            $0.readBack = [topic]
            $0.base = "s"
            $0.connection.mqtt.protocolVersion = .init(version)
        }
        bench.put(topic, "", retain: true, .essential)
        return bench
    }

    private static func retained(_ text: String, isRetained: Bool = true) -> MQTTEvent {
        .message(InboundMessage(topic: topic, payload: Array(text.utf8), isRetained: isRetained))
    }

    private static func values(_ bench: Bench) -> [String] {
        bench.reports.compactMap { event in
            if case .readBack(let message) = event { String(decoding: message.payload, as: UTF8.self) } else { nil }
        }
    }

    private static func isReadable(_ bench: Bench) -> Bool? { bench.core.statistics.canReadBack }

    /// The value may come before the answer or behind it.
    @Test(arguments: [true, false], [MQTTVersion.v5, .v311])
    func theValueIsReadBeforeOursLeaves(isEarly: Bool, version: MQTTVersion) {
        let bench = Self.bench(version)
        bench.comeUp()
        let subscriptions = bench.transport.log.filter { $0.hasPrefix("subscribe") }
        #expect(subscriptions.first == "subscribe s/event/current for a check")
        #expect(bench.transport.topics == ["s/online"])
        if isEarly {
            bench.transport.events.append(Self.retained("open"))
            bench.step()
            #expect(bench.transport.topics == ["s/online"], "the answer is not there yet")
            bench.transport.answer()
        } else {
            bench.transport.answer()
            bench.step()
            #expect(bench.transport.topics == ["s/online"], "the value may come yet")
            bench.transport.events.append(Self.retained("open"))
        }
        bench.step()
        #expect(Self.values(bench) == ["open"] && Self.isReadable(bench) == true)
        #expect(bench.transport.topics == ["s/online", Self.topic])
        #expect(bench.transport.log.contains("unsubscribe s/event/current"))
        #expect(bench.received == [])
    }

    @Test func whereNothingIsRetainedOurOwnValueShowsTheRight() {
        let bench = Self.bench()
        bench.comeUp()
        bench.transport.answer()
        bench.step()
        bench.step(after: ReadBack.grace - 1)
        #expect(bench.transport.topics == ["s/online"])
        bench.step(after: 1)
        #expect(bench.transport.topics == ["s/online", Self.topic] && Self.isReadable(bench) == nil)
        bench.transport.events.append(Self.retained("", isRetained: false))
        bench.step()
        #expect(Self.isReadable(bench) == true && Self.values(bench) == [] && bench.received == [])
    }

    @Test func aMissingRightIsFoundOut() {
        let silent = Self.bench()
        silent.comeUp()
        silent.transport.answer()
        silent.step()
        silent.step(after: ReadBack.grace)
        #expect(silent.transport.topics == ["s/online", Self.topic])
        silent.step(after: ReadBack.patience)
        let refused = Self.bench()
        refused.comeUp()
        refused.transport.answer(135)
        refused.step()
        #expect(refused.transport.topics == ["s/online", Self.topic])
        let unanswered = Self.bench()
        unanswered.comeUp()
        unanswered.step(after: LinkCore.subscriptionPatience)
        #expect(unanswered.transport.topics == ["s/online", Self.topic])
        for bench in [silent, refused, unanswered] {
            #expect(Self.isReadable(bench) == false && bench.reports.contains(.cannotReadBack([Self.topic])))
            #expect(Self.values(bench) == [] && bench.core.session.readBack == nil)
        }
    }

    /// An event of this run is told at once, there and on the other topics: else its own power cut would find nothing.
    @Test func onlyTheEmptyValueWaits() {
        let bench = Self.bench()
        bench.put("s/state/level", "1", retain: true, .state)
        bench.put("s/event/trigger", "onset", .essential)
        bench.put(Self.topic, "mine", retain: true, .essential)
        bench.comeUp()
        #expect(bench.transport.log.first { $0.hasPrefix("subscribe") } == "subscribe s/event/current for a check")
        #expect(bench.transport.topics == ["s/online", Self.topic, "s/state/level", "s/event/trigger"])
        #expect(bench.transport.sent[1].text == "mine")
        bench.transport.events.append(Self.retained("mine", isRetained: false))
        bench.step()
        #expect(Self.isReadable(bench) == nil, "it may come yet")
        bench.transport.events.append(Self.retained("open"))
        bench.transport.answer()
        bench.step()
        #expect(Self.values(bench) == ["open"] && Self.isReadable(bench) == true)
        #expect(bench.transport.topics.filter { $0 == Self.topic }.count == 1)
    }

    /// Once with each broker; a connection that ends before begins anew.
    @Test func eachBrokerIsAskedOnce() {
        let bench = Self.bench()
        bench.comeUp()
        bench.transport.acknowledgeAll()
        bench.step()
        bench.reconnect()
        #expect(bench.transport.log.filter { $0 == "subscribe s/event/current for a check" }.count == 2)
        #expect(!bench.transport.topics.contains(Self.topic))
        bench.transport.events.append(Self.retained("open"))
        bench.transport.answer()
        bench.step()
        #expect(Self.values(bench) == ["open"])
        bench.transport.acknowledgeAll()
        bench.step()
        bench.reconnect()
        #expect(bench.transport.log.filter { $0 == "subscribe s/event/current for a check" }.count == 2)
        #expect(bench.transport.sent.filter { $0.topic == Self.topic }.count == 2)
    }

    /// A stop does not wait for it, and leaves the value to the next run.
    @Test func aStopLeavesTheValueWhereItIs() {
        let bench = Self.bench()
        bench.comeUp()
        bench.transport.acknowledgeAll()
        bench.core.handle(.stop(within: 5 * second), now: bench.now)
        bench.step()
        #expect(!bench.transport.topics.contains(Self.topic))
        #expect(bench.transport.sent.last?.text == "offline")
    }

    /// What is read back says nothing of other topics, for the self-check of 3.1.1.
    @Test func theSelfCheckLearnsNothingFromIt() {
        let bench = Bench {
            $0.readBack = [Self.topic]
            $0.base = "s"
            $0.connection.mqtt.protocolVersion = .v311
            var check = LinkOptions.SelfCheck()
            check.echoTopics = ["s/online"]
            check.probes = [.init(filter: "s/event/+", topic: "s/event/selfcheck")]
            $0.selfCheck = check
        }
        bench.put(Self.topic, "", retain: true, .essential)
        bench.comeUp()
        bench.transport.answer()
        bench.step()
        bench.step(after: ReadBack.grace)
        bench.transport.acknowledgeAll()
        bench.transport.events.append(Self.retained("", isRetained: false))
        for _ in 0..<30 {
            bench.step(after: second)
            bench.transport.acknowledgeAll()
        }
        #expect(Self.isReadable(bench) == true)
        #expect(bench.core.statistics.deniedTopics == [])
    }
}
