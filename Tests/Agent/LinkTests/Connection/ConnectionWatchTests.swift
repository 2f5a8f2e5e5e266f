import MQTT
import Testing

@testable import Link

@Suite struct ConnectionWatchTests {
    @Test func silenceOf1Point5TimesTheKeepaliveEndsAConnection() {
        var watch = ConnectionWatch(patience: 30 * second)
        watch.begin(now: 0, keepalive: 30)
        #expect(watch.deadline == 45 * second)
        watch.heard(now: 10 * second)
        #expect(watch.verdict(now: 55 * second - 1) == nil)
        #expect(watch.verdict(now: 55 * second) == .silent)
        watch.begin(now: 100 * second, keepalive: 0)
        #expect(watch.deadline == nil)
        #expect(watch.verdict(now: 10_000 * second) == nil)
    }

    @Test func acknowledgementsThatDoNotComeEndAConnectionThatIsNotSilent() {
        var watch = ConnectionWatch(patience: 30 * second)
        watch.begin(now: 0, keepalive: 30)
        watch.look(now: 5 * second, isWaiting: true, isWriting: false)
        for time in 1...34 as ClosedRange<UInt64> { watch.heard(now: time * second) }
        watch.look(now: 20 * second, isWaiting: true, isWriting: false)
        #expect(watch.verdict(now: 35 * second - 1) == nil)
        #expect(watch.verdict(now: 35 * second) == .unacknowledged)
        watch.acknowledged(now: 35 * second)
        watch.look(now: 35 * second, isWaiting: true, isWriting: false)
        #expect(watch.verdict(now: 64 * second) == nil)
        // As long as bytes wait for a slow line, the broker cannot acknowledge them.
        watch.look(now: 64 * second, isWaiting: true, isWriting: true)
        watch.heard(now: 93 * second)
        #expect(watch.verdict(now: 93 * second) == nil)
        #expect(watch.verdict(now: 94 * second) == .unacknowledged)
        watch.look(now: 94 * second, isWaiting: false, isWriting: false)
        #expect(watch.verdict(now: 100 * second) == nil)
    }
}

@Suite struct ProtocolChoiceTests {
    private static let hour = ProtocolChoice.memory

    /// The value in a box, for expectations that change it.
    private final class Chosen {
        private var value: ProtocolChoice
        init(_ preferred: MQTTVersion, brokers: Int = 1) {
            value = ProtocolChoice(preferred: preferred, brokers: brokers)
        }
        func malformed(_ broker: Int, _ version: MQTTVersion, now: UInt64) -> Bool {
            value.malformed(broker, version, now: now)
        }
        func version(for broker: Int, now: UInt64) -> MQTTVersion {
            value.version(for: broker, now: now)
        }
        func refused(_ broker: Int, _ version: MQTTVersion, code: Int) -> Bool {
            value.refused(broker, version, code: code)
        }
        func hungUp(_ broker: Int, _ version: MQTTVersion) -> Bool { value.hungUp(broker, version) }
        func accepted(_ broker: Int, _ version: MQTTVersion, now: UInt64) {
            value.accepted(broker, version, now: now)
        }
    }

    @Test(arguments: [1, 132]) func aRefusalOfTheVersionLeadsTo311AtOnceAndForAnHour(code: Int) {
        let choice = Chosen(.v5, brokers: 2)
        #expect(choice.version(for: 0, now: 0) == .v5)
        #expect(choice.refused(0, .v5, code: code))
        #expect(choice.version(for: 0, now: 5) == .v311)
        #expect(choice.version(for: 1, now: 5) == .v5)
        choice.accepted(0, .v311, now: 10)
        #expect(choice.version(for: 0, now: Self.hour) == .v311)
        #expect(choice.version(for: 0, now: Self.hour + 10) == .v5)
    }

    @Test func aBrokerThatHangsUpTwiceIsTriedWith311AndOnceIsEnoughLater() {
        let choice = Chosen(.v5)
        #expect(!choice.hungUp(0, .v5))
        #expect(choice.version(for: 0, now: 0) == .v5)
        #expect(choice.hungUp(0, .v5))
        #expect(choice.version(for: 0, now: 0) == .v311)
        choice.accepted(0, .v311, now: 0)
        #expect(choice.version(for: 0, now: Self.hour) == .v5)
        #expect(choice.hungUp(0, .v5))
        #expect(choice.version(for: 0, now: Self.hour) == .v311)
    }

    @Test func aBrokerThatHangsUpOnEverybodyIsNotTakenForAnOldOne() {
        let choice = Chosen(.v5)
        _ = choice.hungUp(0, .v5)
        _ = choice.hungUp(0, .v5)
        #expect(!choice.hungUp(0, .v311))
        #expect(choice.version(for: 0, now: 0) == .v5)
        // Its first sign of life with 5 leaves no suspicion.
        _ = choice.hungUp(0, .v5)
        choice.accepted(0, .v5, now: 0)
        #expect(!choice.hungUp(0, .v5))
    }

    /// It cannot talk us into 5 again.
    @Test func aBrokerWithMalformedPacketsIsSpokenToIn311ForAnHour() {
        let choice = Chosen(.v5, brokers: 2)
        #expect(!choice.malformed(1, .v311, now: 5))
        #expect(choice.version(for: 1, now: 5) == .v5)
        #expect(choice.malformed(1, .v5, now: 5))
        #expect(choice.version(for: 0, now: 5) == .v5)
        #expect(choice.version(for: 1, now: 5) == .v311)
        for _ in 0..<3 { #expect(!choice.hungUp(1, .v311)) }
        #expect(choice.version(for: 1, now: 5) == .v311)
        choice.accepted(1, .v311, now: 10)
        #expect(choice.version(for: 1, now: Self.hour + 4) == .v311)
        #expect(choice.version(for: 1, now: Self.hour + 5) == .v5)
        // One that has no 3.1.1 is not left alone for an hour.
        #expect(choice.malformed(1, .v5, now: Self.hour + 5) && !choice.refused(1, .v311, code: 1))
        #expect(choice.version(for: 1, now: Self.hour + 6) == .v5)
    }

    @Test func otherRefusalsChangeNothing() {
        let choice = Chosen(.v5)
        #expect(!choice.refused(0, .v5, code: 134))
        #expect(choice.version(for: 0, now: 0) == .v5)
        let old = Chosen(.v311)
        #expect(!old.refused(0, .v311, code: 1))
        #expect(!old.hungUp(0, .v311))
        #expect(!old.hungUp(0, .v311))
        #expect(old.version(for: 0, now: 0) == .v311)
    }
}

@Suite struct LinkCoreWatchTests {
    private static func seconds(_ count: Double) -> UInt64 { UInt64(count * 1e9) }

    @Test func aConnectionWithoutASoundIsGivenUpAndTriedAgain() {
        let bench = Bench { $0.mqtt.keepalive = 30 }.up()
        #expect(bench.core.deadline == bench.now + Self.seconds(45))
        bench.step(after: Self.seconds(44))
        #expect(bench.core.life.isUp)
        bench.step(after: Self.seconds(1))
        #expect(!bench.core.life.isUp)
        #expect(bench.transport.log.last == "abandon")
        #expect(bench.core.statistics.halfOpen == 1)
        bench.step(after: second)
        #expect(bench.transport.log.last == "connect")
    }

    @Test func theBrokersKeepaliveCounts() {
        var limits = BrokerLimits()
        limits.serverKeepalive = 10
        let bench = Bench { $0.mqtt.keepalive = 30 }.up(limits)
        #expect(bench.core.deadline == bench.now + Self.seconds(15))
        bench.transport.events.append(.heard)
        bench.step(after: Self.seconds(14))
        bench.step(after: Self.seconds(14))
        #expect(bench.core.life.isUp)
        bench.step(after: Self.seconds(1))
        #expect(!bench.core.life.isUp)
    }

    @Test func aBrokerThatAnswersPingsButAcknowledgesNothingIsLeft() {
        let bench = Bench().up()
        bench.put("e", "event", .essential)
        for _ in 0..<29 {
            bench.transport.events.append(.heard)
            bench.step(after: second)
        }
        #expect(bench.core.life.isUp)
        for _ in 0..<2 {
            bench.transport.events.append(.heard)
            bench.step(after: second)
        }
        #expect(!bench.core.life.isUp)
        #expect(bench.core.statistics.halfOpen == 1)
    }

    /// Only a peer that hangs up says anything about the message.
    @Test func aBadLineIsNotTheMessagesFault() {
        let bench = Bench().up()
        bench.put("e", "innocent", .trace)
        bench.step()
        for _ in 0..<5 {
            bench.transport.lose("timed out", byPeer: false)
            bench.step()
            bench.step(after: second)
            bench.transport.accept()
            bench.step()
        }
        #expect(bench.core.statistics.abandoned == 0)
        bench.acknowledge()
        bench.put("e", "event", .essential)
        bench.step()
        for _ in 0..<9 { bench.reconnectWithPresence() }
        #expect(bench.core.statistics.abandoned == 0)
    }

    @Test func aBrokerThatHasNo5IsAskedAgainAtOnceWith311() {
        let bench = Bench()
        bench.step()
        bench.transport.events.append(.refused(code: 132, reason: "version"))
        bench.step()
        #expect(bench.transport.log == ["open 0", "connect", "abandon", "open 0 as 3.1.1", "connect"])
        bench.transport.accept()
        bench.step()
        #expect(bench.core.statistics.version == .v311)
        #expect(bench.reports.contains(.fallingBack(BrokerAddress(host: "b0", port: 1883, tls: false))))
        // Later it is asked again.
        bench.transport.lose()
        bench.now += ProtocolChoice.memory
        bench.step()
        bench.step(after: 2 * second)
        #expect(bench.transport.log.suffix(2) == ["open 0", "connect"])
    }

    @Test func messagesSurviveTheChangeOfVersion() {
        let bench = Bench()
        bench.put("e", "event", .essential)
        bench.step()
        for _ in 0..<2 {
            bench.transport.lose("closed", byPeer: true)
            bench.step()
            bench.step(after: second)
        }
        #expect(bench.transport.log.suffix(2) == ["open 0 as 3.1.1", "connect"])
        bench.transport.accept()
        bench.step()
        #expect(bench.texts == ["online", "event"])
    }

    @Test func refusedCredentialsAreCounted() {
        let bench = Bench()
        bench.step()
        bench.transport.events.append(.refused(code: 134, reason: "Bad user name or password"))
        bench.step()
        #expect(bench.core.statistics.credentialRefusals == 1)
        #expect(bench.core.statistics.lastCredentialRefusal == "Bad user name or password (134)")
    }

    @Test func aDeniedTopicIsRememberedUntilItIsAllowed() {
        let bench = Bench().up()
        bench.put("d/trace", "x", .trace)
        bench.step()
        bench.acknowledge(reason: 135)
        #expect(bench.core.statistics.deniedTopics == ["d/trace"])
        // Not with each message, but after a pause.
        bench.put("d/trace", "x", .trace)
        bench.step()
        #expect(bench.transport.sent.isEmpty)
        #expect(bench.core.statistics.refused == [.init(reason: 135, count: 2, topic: "d/trace")])
        bench.now += Refusals.first
        bench.put("d/trace", "x", .trace)
        bench.step()
        bench.acknowledge()
        #expect(bench.core.statistics.deniedTopics == [])
    }
}

extension Bench {
    /// Loses the connection by the peer's doing, before anything was acknowledged, and gets the next one.
    func reconnectWithPresence() {
        transport.lose()
        step()
        step(after: second)
        transport.accept()
        step()
    }

    @Test func aSlowLineWithABacklogIsNoDeadOne() {
        var watch = ConnectionWatch(patience: 10 * second)
        watch.begin(now: 0, keepalive: 4)
        var now: UInt64 = 0
        for step in 0..<60 {
            now = UInt64(step) * second
            watch.look(
                now: now, isWaiting: true, isWriting: false,
                line: LineState(acknowledged: UInt64(step) * 4000, waiting: UInt32(60 - step) * 4000))
            #expect(watch.verdict(now: now) == nil)
        }
        // All has left, and still no word.
        watch.look(
            now: now + second, isWaiting: true, isWriting: false, line: LineState(acknowledged: 240_000, waiting: 0))
        #expect(watch.verdict(now: now + 5 * second) == nil)
        #expect(watch.verdict(now: now + 7 * second) == .silent)
    }

    @Test func aBacklogThatDoesNotMoveIsADeadLine() {
        var watch = ConnectionWatch(patience: 10 * second)
        watch.begin(now: 0, keepalive: 4)
        for step in 0..<6 {
            watch.look(
                now: UInt64(step) * second, isWaiting: true, isWriting: false,
                line: LineState(acknowledged: 1000, waiting: 50_000))
        }
        #expect(watch.verdict(now: 6 * second) == .silent)
    }

    /// The peer's kernel takes bytes while the peer itself stands still.
    @Test func whatLeavesAtOnceSaysNothingOfTheBroker() {
        var watch = ConnectionWatch(patience: 10 * second)
        watch.begin(now: 0, keepalive: 4)
        for step in 0..<6 {
            watch.look(
                now: UInt64(step) * second, isWaiting: true, isWriting: false,
                line: LineState(acknowledged: UInt64(step) * 4000, waiting: 0))
        }
        #expect(watch.verdict(now: 6 * second) == .silent)
    }
}
