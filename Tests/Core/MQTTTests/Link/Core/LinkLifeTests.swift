import TestSupport
import Testing

@testable import MQTT

let second: UInt64 = 1_000_000_000

extension LinkLife.Action {
    var word: String {
        switch self {
        case .connect(let attempt): "connect \(attempt.broker)"
        case .abandon: "abandon"
        case .decline: "decline"
        case .announce: "announce"
        case .ended: "ended"
        case .failed: "failed"
        case .fallBack: "fall back"
        case .sayOffline: "offline"
        case .disconnect(let keepsWill): keepsWill ? "disconnect with will" : "disconnect"
        case .takeUp: "take up"
        case .move: "move"
        case .finished(let id, _): "finished \(id)"
        case .subscribed(let id, _): "subscribed \(id)"
        case .received(let message): "received \(message.topic)"
        }
    }
}

/// A life with a seed; what it wants is handed back as words.
struct Lived {
    var life: LinkLife
    var random: AnyRandom
    static let failed = LinkLife.Event.transport(.lost(reason: "failed"))
    static let lost = LinkLife.Event.transport(.lost(reason: "reset", byPeer: true))
    static let accepted = LinkLife.Event.transport(.connected(BrokerLimits()))

    static func refused(_ code: Int) -> LinkLife.Event { .transport(.refused(code: code, reason: "no")) }

    static func settled(isIdle: Bool = false, isWriting: Bool = false) -> LinkLife.Event {
        .settled(isIdle: isIdle, isWriting: isWriting, line: nil)
    }

    static func options(brokers: Int = 1, _ change: (inout LinkOptions) -> Void = { _ in }) -> LinkOptions {
        var options = LinkOptions(
            brokers: (0..<brokers).map { BrokerAddress(host: "b\($0)", port: 1883, tls: false) }, clientID: "c",
            presence: .init(topic: "s/online"))
        options.connection.mqtt.protocolVersion = .v311
        (
            options.connection.mqtt.keepalive, options.connection.mqtt.reconnectMinimum,
            options.connection.mqtt.reconnectMaximum
        ) = (0, 1, 120)
        change(&options)
        return options
    }

    init(brokers: Int = 1, seed: UInt64 = 1, _ change: (inout LinkOptions) -> Void = { _ in }) {
        life = LinkLife(.init(Self.options(brokers: brokers, change), number: 0))
        var seeded = SplitMix64(state: seed)
        random = AnyRandom { seeded.next() }
    }

    mutating func act(_ event: LinkLife.Event, now: UInt64) -> [LinkLife.Action] {
        life.handle(event, now: now, using: &random)
    }

    mutating func handle(_ event: LinkLife.Event, now: UInt64) -> [String] { act(event, now: now).map(\.word) }

    /// When the next attempt is due.
    var until: UInt64? { if case .waiting(let until) = life.state { until } else { nil } }
}

@Suite struct LinkLifeTests {
    /// A life that has begun its first attempt at time 0.
    private func connecting(brokers: Int = 1) -> Lived {
        var machine = Lived(brokers: brokers)
        #expect(machine.handle(.timer, now: 0) == ["connect 0"])
        #expect(machine.life.deadline == 10 * second)
        return machine
    }

    /// In the attempt after 20 failures, and when it began.
    private func afterManyFailures() throws -> (Lived, now: UInt64) {
        var machine = connecting()
        var now = second
        for _ in 0..<20 {
            _ = machine.handle(Lived.failed, now: now)
            now = try #require(machine.until)
            _ = machine.handle(.timer, now: now)
        }
        return (machine, now)
    }

    @Test func aConnectionHasNoTimeLimit() {
        var machine = connecting()
        #expect(machine.handle(Lived.accepted, now: second) == ["announce"])
        #expect(machine.life.isUp)
        #expect(machine.life.deadline == nil)
    }

    @Test func aFailedAttemptIsRepeatedAfterAPauseAndNotBefore() throws {
        var machine = connecting()
        #expect(machine.handle(Lived.failed, now: second) == ["failed"])
        let due = try #require(machine.until)
        #expect(due >= 2 * second && due <= 4 * second)
        #expect(machine.life.deadline == due)
        #expect(machine.handle(.timer, now: due - 1) == [])
        #expect(machine.handle(.timer, now: due) == ["connect 0"])
        #expect(machine.life.deadline == due + 10 * second)
    }

    @Test func anAttemptWithoutAnswerIsAbandonedAtItsDeadline() {
        var machine = connecting()
        #expect(machine.handle(.timer, now: 10 * second - 1) == [])
        #expect(machine.handle(.timer, now: 10 * second) == ["abandon", "failed"])
        #expect(machine.until != nil)
    }

    @Test func anAnswerAfterTheDeadlineChangesNothing() {
        var machine = connecting()
        _ = machine.handle(.timer, now: 10 * second)
        let until = machine.until
        #expect(machine.handle(Lived.accepted, now: 10 * second) == [])
        #expect(machine.handle(Lived.lost, now: 10 * second) == [])
        #expect(machine.handle(Lived.refused(5), now: 10 * second) == [])
        #expect(until != nil && machine.until == until)
    }

    @Test(arguments: [1, 2, 4, 5, 132, 133, 134, 135, 138, 140])
    func refusedForGoodWaitsTheLongestPauseOrALittleLess(code: Int) throws {
        var machine = connecting()
        #expect(machine.handle(Lived.refused(code), now: second) == ["abandon", "failed"])
        let deadline = try #require(machine.life.deadline)
        #expect((91 * second...121 * second).contains(deadline))
        // And again at the next time, not more.
        #expect(machine.handle(.timer, now: 121 * second) == ["connect 0"])
    }

    @Test(arguments: [3, 128, 136, 137, 139, 151, 159])
    func refusedForNowWaitsAsAfterAFailure(code: Int) throws {
        var machine = connecting()
        #expect(machine.handle(Lived.refused(code), now: second) == ["abandon", "failed"])
        #expect(try #require(machine.until) <= 4 * second)
    }

    @Test func aLongConnectionThatIsLostStartsWithAShortPause() throws {
        let (attempt, now) = try afterManyFailures()
        var machine = attempt
        _ = machine.handle(Lived.accepted, now: now)
        let lost = now + 1000 * second
        #expect(machine.handle(Lived.lost, now: lost) == ["ended"])
        #expect(try #require(machine.until) <= lost + 3 * second)
    }

    @Test func connectionsThatBreakAtOnceAreRepeatedMoreAndMoreSlowly() throws {
        var machine = connecting()
        var now: UInt64 = 0
        var longest: UInt64 = 0
        for _ in 0..<60 {
            _ = machine.handle(Lived.accepted, now: now)
            _ = machine.handle(Lived.lost, now: now + 1)
            let due = try #require(machine.until)
            longest = max(longest, due - now)
            now = due
            #expect(machine.handle(.timer, now: now) == ["connect 0"])
        }
        #expect(longest > 60 * second)
    }

    @Test func severalBrokersAreTriedInOrderWithOnePauseARound() throws {
        var machine = connecting(brokers: 3)
        #expect(machine.handle(Lived.failed, now: 1) == ["failed"])
        #expect(machine.handle(.timer, now: 1) == ["connect 1"])
        #expect(machine.handle(Lived.refused(3), now: 2) == ["abandon", "failed"])
        #expect(machine.handle(.timer, now: 2) == ["connect 2"])
        #expect(machine.handle(Lived.failed, now: 3) == ["failed"])
        let due = try #require(machine.until)
        #expect(due >= second + 3 && due <= 3 * second + 3)
        #expect(machine.handle(.timer, now: due) == ["connect 0"])
    }

    @Test func aWrongPasswordAtOneOfSeveralBrokersDoesNotDelayTheNext() throws {
        var machine = connecting(brokers: 2)
        _ = machine.handle(Lived.refused(5), now: 1)
        #expect(machine.handle(.timer, now: 1) == ["connect 1"])
        _ = machine.handle(Lived.failed, now: 2)
        let deadline = try #require(machine.life.deadline)
        #expect((90 * second...120 * second + 2).contains(deadline))
    }

    /// Stations whose password was changed all at once do not come back all at once.
    @Test func refusedStationsDoNotComeBackInStep() {
        var deadlines: Set<UInt64> = []
        for seed in 0..<20 as Range<UInt64> {
            var machine = Lived(seed: seed)
            _ = machine.handle(.timer, now: 0)
            _ = machine.handle(Lived.refused(5), now: second)
            if let until = machine.until { deadlines.insert(until) }
        }
        #expect(deadlines.count == 20)
    }

    @Test func afterALossTheFirstBrokerIsTriedFirst() throws {
        var machine = connecting(brokers: 2)
        _ = machine.handle(Lived.failed, now: 1)
        _ = machine.handle(.timer, now: 1)
        #expect(machine.handle(Lived.accepted, now: 2) == ["announce"])
        _ = machine.handle(Lived.lost, now: 60 * second)
        let due = try #require(machine.until)
        #expect(machine.handle(.timer, now: due) == ["connect 0"])
    }

    @Test func anExpectedEndIsFollowedByAFirstPauseAndAForeignStationByALongOne() throws {
        let (attempt, now) = try afterManyFailures()
        var machine = attempt
        _ = machine.handle(Lived.accepted, now: now)
        #expect(machine.handle(Lived.lost, now: now + 1) == ["ended"])
        #expect(machine.handle(.judged(isExpected: true, pause: nil), now: now + 1) == [])
        #expect(try #require(machine.until) <= now + 1 + 3 * second)
        #expect(machine.handle(.judged(isExpected: false, pause: 500 * second), now: now + 1) == [])
        #expect(machine.until == now + 1 + 500 * second)
    }
}
