import Messages
import Testing

@testable import MQTT

extension Bench {
    static func checked(
        _ version: MQTTVersion, _ change: @escaping (inout LinkOptions) -> Void = { _ in }
    )
        -> Bench
    {
        Bench {
            $0.connection.mqtt.protocolVersion = .init(version)
            var check = LinkOptions.SelfCheck()
            check.commandTopic = "s/cmd/selfcheck"
            check.echoTopics = ["s/online", "d/trace"]
            $0.selfCheck = check
            change(&$0)
        }
    }

    /// What comes back of the message that was sent last on a topic.
    func echo(_ topic: String, retained: Bool = false, _ text: String? = nil) {
        let sent = transport.sent.last { $0.topic == topic }?.text ?? ""
        let message = InboundMessage(topic: topic, payload: Array((text ?? sent).utf8), isRetained: retained)
        transport.events.append(.message(message))
    }

    func outcome(_ topic: String) -> SelfCheckFinding.Outcome? {
        core.statistics.selfCheck.first { $0.topic == topic }?.outcome
    }
}

@Suite struct SelfCheckTests {
    private static let patience = SelfCheck.patience

    @Test func whatComesBackIsVerified() {
        let bench = Bench.checked(.v311)
        bench.comeUp()
        #expect(bench.transport.subscribed.map(\.filter) == ["s/cmd/selfcheck", "s/online", "d/trace"])
        bench.transport.answer()
        bench.put("d/trace", "t", .trace)
        bench.step()
        #expect(bench.transport.topics.contains("s/cmd/selfcheck"))
        bench.echo("s/cmd/selfcheck")
        bench.echo("s/online")
        bench.echo("d/trace")
        bench.step()
        for topic in ["s/cmd/selfcheck", "s/online", "d/trace"] {
            #expect(bench.outcome(topic) == .verified, "\(topic)")
            #expect(bench.transport.log.contains("unsubscribe \(topic)"))
        }
        #expect(bench.received == [])
        #expect(bench.core.statistics.deniedTopics == [])
    }

    /// What was asked waits behind a backlog: that nothing has come back yet says nothing.
    @Test func aSlowLineIsNotAccused() {
        // Without a keepalive: the line is slow, and not silent.
        let bench = Bench.checked(.v311) { $0.connection.mqtt.keepalive = 0 }
        bench.comeUp()
        bench.transport.answer()
        bench.put("d/trace", "t", .trace)
        bench.step()
        bench.transport.wantsWrite = true
        for _ in 0..<5 {
            bench.now += Self.patience
            bench.step()
        }
        #expect(bench.core.statistics.selfCheck == [])
        #expect(bench.core.life.isSteady)
        bench.transport.wantsWrite = false
        bench.echo("s/cmd/selfcheck")
        bench.echo("s/online")
        bench.echo("d/trace")
        bench.step()
        #expect(bench.outcome("d/trace") == .verified)
        #expect(bench.core.statistics.deniedTopics == [])
    }

    /// `pattern write …/state/#` and `pattern read …/cmd/#`: all is well, and nothing of it can be seen.
    @Test(arguments: BrokerTests.versions) func whoMayNotReadItsOwnTopicsIsNotAccused(
        version: MQTTVersion
    ) {
        let bench = Bench.checked(version)
        bench.comeUp()
        bench.transport.answer()
        bench.step()
        bench.acknowledge(reason: version == .v5 ? 135 : 0)
        bench.step(after: Self.patience)
        #expect(bench.outcome("s/cmd/selfcheck") == .unverifiable)
        if version == .v311 { #expect(bench.outcome("s/online") == .unverifiable) }
        // Nothing was published there.
        #expect(bench.outcome("d/trace") == nil)
        if version == .v311 { #expect(bench.core.statistics.deniedTopics == []) }
        #expect(!bench.core.statistics.deniedTopics.contains("s/cmd/selfcheck"))
    }

    @Test func aTopicWhoseOldValueComesButNotTheNewOneIsDenied() {
        let bench = Bench.checked(.v311)
        bench.comeUp()
        bench.transport.answer()
        bench.echo("s/online", retained: true, "offline")
        bench.step()
        bench.acknowledge()
        bench.step(after: Self.patience)
        #expect(bench.outcome("s/online") == .denied)
        #expect(bench.core.statistics.deniedTopics == ["s/online"])
        // With 3.1.1 a broker acknowledges what it throws away.
        bench.put("s/online", "online", retain: true, .state)
        bench.step()
        bench.acknowledge()
        #expect(bench.core.statistics.deniedTopics == ["s/online"])
        // It is over when a later check sees it come back.
        bench.transport.lose()
        bench.step()
        bench.transport.subscribed.removeAll()
        bench.step(after: second)
        bench.transport.accept()
        bench.step()
        bench.transport.answer()
        bench.step()
        bench.echo("s/online")
        bench.echo("s/cmd/selfcheck")
        bench.step(after: 1)
        bench.step(after: Self.patience)
        #expect(bench.outcome("s/online") == .verified)
        #expect(bench.core.statistics.deniedTopics == [])
    }

    @Test func aTopicThatMayNotBeReadIsNotKnown() {
        let bench = Bench.checked(.v311)
        bench.comeUp()
        bench.transport.answer(128)
        bench.step()
        bench.step(after: Self.patience)
        #expect(bench.outcome("s/online") == .unverifiable)
        #expect(bench.outcome("s/cmd/selfcheck") == .denied)
    }

    @Test(arguments: [0, 16]) func commandsThatWereTakenAndDoNotComeAreDenied(reason: Int) {
        let bench = Bench.checked(.v5)
        bench.comeUp()
        #expect(bench.transport.subscribed.map(\.filter) == ["s/cmd/selfcheck"])
        bench.transport.answer()
        bench.step()
        bench.acknowledge(reason: reason)
        bench.step(after: Self.patience)
        #expect(bench.outcome("s/cmd/selfcheck") == .denied)
    }

    @Test func aBrokerThatAnswersNoSubscriptionIsNotWaitedForWithoutEnd() {
        let bench = Bench.checked(.v311) { $0.subscriptions = ["s/cmd/+"] }
        bench.comeUp()
        bench.acknowledge()
        bench.transport.events.append(.heard)
        bench.step(after: Self.patience)
        #expect(bench.reports.contains(.notSubscribed(filter: "s/cmd/+", .unanswered)))
        #expect(bench.core.statistics.refusedSubscriptions == ["s/cmd/+"])
        #expect(bench.outcome("s/online") == .unverifiable)
        #expect(bench.core.session.selfCheck == nil)
        #expect(bench.core.session.pending.isEmpty)
    }

    @Test func aForeignMessageOnTheCommandTopicProvesNothing() {
        let bench = Bench.checked(.v5)
        bench.comeUp()
        bench.transport.answer()
        bench.step()
        bench.echo("s/cmd/selfcheck", "something else")
        bench.echo("s/cmd/selfcheck", retained: true, "old")
        bench.step()
        #expect(bench.core.statistics.selfCheck == [])
        // The retained one is nobody's.
        #expect(bench.received.map(\.isRetained) == [false])
    }
}

@Suite struct SubscriptionTests {
    private static func bench() -> Bench { Bench { $0.subscriptions = ["s/cmd/+", "group/+"] } }

    @Test func subscriptionsAreMadeUnlessTheBrokerStillKnowsThem() {
        let bench = Self.bench()
        bench.comeUp()
        #expect(bench.transport.subscribed.map(\.filter) == ["s/cmd/+", "group/+"])
        bench.transport.answer()
        bench.step()
        var limits = BrokerLimits()
        limits.sessionPresent = true
        bench.transport.lose()
        bench.step()
        bench.step(after: second)
        bench.transport.accept(limits)
        bench.step()
        #expect(bench.transport.subscribed.isEmpty)
        bench.reconnectWithPresence()
        #expect(bench.transport.subscribed.count == 2)
    }

    /// A session of the process before: its subscriptions may have been others.
    @Test func theFirstConnectSubscribesEvenWhenThereIsASession() {
        let bench = Self.bench()
        bench.step()
        var limits = BrokerLimits()
        limits.sessionPresent = true
        bench.transport.accept(limits)
        bench.step()
        #expect(bench.transport.subscribed.count == 2)
    }

    @Test func aRefusedSubscriptionIsReportedAndTriedAgainAfterTheNextConnect() {
        let bench = Self.bench()
        bench.comeUp()
        bench.transport.answer(135)
        bench.step()
        #expect(bench.reports.contains(.notSubscribed(filter: "s/cmd/+", .refused(135))))
        #expect(bench.core.statistics.refusedSubscriptions == ["s/cmd/+", "group/+"])
        bench.reconnectWithPresence()
        #expect(bench.transport.subscribed.count == 2)
        #expect(bench.core.statistics.refusedSubscriptions == [])
    }

    /// A defect: a broker that was given its rights back, or a cluster that had no leader for a second, got no commands to
    /// the station until the connection broke.
    @Test func aRefusedSubscriptionIsAskedAgainEverMoreRarelyAndThenChecked() {
        let bench = Bench.checked(.v5) { $0.subscriptions = ["s/cmd/+"] }
        bench.comeUp()
        var times: [UInt64] = []
        for second in 0..<2000 as Range<UInt64> {
            if bench.transport.subscribed.contains(where: { $0.filter == "s/cmd/+" }) { times.append(second) }
            bench.transport.answer(135)
            bench.acknowledge()
            bench.transport.events.append(.heard)
            bench.step(after: 1_000_000_000)
        }
        let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(pauses.count == 8 && pauses.starts(with: [10, 20, 40, 80]) && pauses.max()! <= 601, "\(pauses)")
        #expect(bench.core.statistics.refusedSubscriptions == ["s/cmd/+"])
        #expect(bench.outcome("s/cmd/selfcheck") == .denied)
        for _ in 0..<700 {
            bench.transport.answer()
            bench.acknowledge()
            bench.transport.events.append(.heard)
            bench.step(after: 1_000_000_000)
            if bench.core.statistics.refusedSubscriptions.isEmpty { break }
        }
        #expect(bench.core.statistics.refusedSubscriptions == [])
        // Commands are looked at anew: the finding that they do not come is not true any more.
        bench.transport.answer()
        bench.step()
        bench.echo("s/cmd/selfcheck")
        bench.step()
        #expect(bench.outcome("s/cmd/selfcheck") == .verified)
        #expect(bench.transport.subscribed.isEmpty)
    }

    /// Home Assistant's topic: whoever has none is not to be bothered with it.
    @Test func aSubscriptionThatMayBeRefusedIsNoFault() {
        let bench = Bench {
            $0.subscriptions = ["s/cmd/+"]
            $0.optionalSubscriptions = ["ha/status"]
        }
        bench.comeUp()
        #expect(bench.transport.subscribed.map(\.filter) == ["s/cmd/+", "ha/status"])
        bench.transport.answer(135)
        bench.step()
        #expect(bench.reports.contains(.notSubscribed(filter: "ha/status", .refused(135))))
        #expect(bench.core.statistics.refusedSubscriptions == ["s/cmd/+"])
    }

    @Test func messagesAreHandedOnAndCounted() {
        let bench = Self.bench()
        bench.comeUp()
        var large = InboundMessage(topic: "s/cmd/config", payload: [])
        large.size = 1_000_000
        bench.transport.events.append(.message(InboundMessage(topic: "s/cmd/ping", payload: [1, 2])))
        bench.transport.events.append(.message(large))
        bench.step()
        #expect(bench.received.map(\.topic) == ["s/cmd/ping", "s/cmd/config"])
        #expect(bench.received.last?.isTooLarge == true)
        #expect(bench.core.statistics.received == 2)
        #expect(bench.core.statistics.receivedTooLarge == 1)
    }
}
