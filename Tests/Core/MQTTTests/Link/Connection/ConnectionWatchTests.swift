import Testing

@testable import MQTT

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

@Suite struct LinkCoreWatchTests {
    private static func seconds(_ count: Double) -> UInt64 { UInt64(count * 1e9) }

    @Test func aConnectionWithoutASoundIsGivenUpAndTriedAgain() {
        let bench = Bench { $0.connection.mqtt.keepalive = 30 }.up()
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
        let bench = Bench { $0.connection.mqtt.keepalive = 30 }.up(limits)
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
        // 5 is tried once more, now that the broker is there.
        bench.transport.accept()
        bench.step()
        bench.step()
        #expect(bench.transport.log.suffix(4) == ["disconnect", "abandon", "open 0", "connect"])
        #expect(bench.texts == [])
        bench.transport.lose("closed", byPeer: true)
        bench.step()
        bench.step()
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
