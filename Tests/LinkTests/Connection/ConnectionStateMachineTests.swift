import Testing

@testable import Link

/// A seeded source (SplitMix64), so that a failing run can be repeated.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

let second: UInt64 = 1_000_000_000

@Suite struct DecorrelatedJitterTests {
    @Test(arguments: 0..<20 as Range<UInt64>) func staysWithinBaseThreeTimesBeforeAndCap(seed: UInt64) {
        var random = Seeded(state: seed)
        var jitter = DecorrelatedJitter(base: second, cap: 120 * second)
        var before = second
        for _ in 0..<200 {
            let pause = jitter.next(using: &random)
            #expect(pause >= second)
            #expect(pause <= min(120 * second, 3 * before))
            before = pause
        }
        jitter.reset()
        #expect(jitter.next(using: &random) <= 3 * second)
    }

    @Test func reachesTheCapAndSpreads() {
        var random = Seeded(state: 7)
        var jitter = DecorrelatedJitter(base: second, cap: 120 * second)
        let pauses = (0..<100).map { _ in jitter.next(using: &random) }
        #expect(pauses.max() == 120 * second)
        #expect(Set(pauses).count > 50)
    }

    @Test func survivesExtremeSettings() {
        var random = Seeded(state: 7)
        var huge = DecorrelatedJitter(base: UInt64.max / 4, cap: UInt64.max / 4)
        #expect(huge.next(using: &random) == UInt64.max / 4)
        var none = DecorrelatedJitter(base: 0, cap: 0)
        #expect(none.next(using: &random) == 1)
    }
}

@Suite struct ConnectionStateMachineTests {
    typealias Machine = ConnectionStateMachine
    var random = Seeded(state: 1)

    func machine(brokers: Int = 1) -> Machine {
        Machine(brokerCount: brokers, timing: .init(base: second, cap: 120 * second))
    }

    /// A machine that has begun its first attempt at time 0.
    mutating func connecting(brokers: Int = 1) -> Machine {
        var machine = machine(brokers: brokers)
        #expect(machine.handle(.start, now: 0, using: &random) == .connect(broker: 0))
        #expect(machine.state == .connecting(deadline: 10 * second))
        return machine
    }

    mutating func up() -> Machine {
        var machine = connecting()
        #expect(machine.handle(.accepted, now: second, using: &random) == .announce)
        #expect(machine.isUp)
        #expect(machine.deadline == nil)
        return machine
    }

    static func until(_ machine: Machine) -> UInt64? {
        if case .down(let until) = machine.state { until } else { nil }
    }

    @Test mutating func nothingHappensBeforeTheStart() {
        var machine = machine()
        for event: Machine.Event in [.timer, .failed, .accepted, .refused(.temporary), .lost] {
            #expect(machine.handle(event, now: 5, using: &random) == nil)
            #expect(machine.state == .idle)
        }
    }

    @Test mutating func aFailedAttemptIsRepeatedAfterAPauseAndNotBefore() throws {
        var machine = connecting()
        #expect(machine.handle(.failed, now: second, using: &random) == nil)
        let due = try #require(Self.until(machine))
        #expect(due >= 2 * second && due <= 4 * second)
        #expect(machine.deadline == due)
        #expect(machine.handle(.timer, now: due - 1, using: &random) == nil)
        #expect(machine.handle(.timer, now: due, using: &random) == .connect(broker: 0))
        #expect(machine.state == .connecting(deadline: due + 10 * second))
    }

    @Test mutating func anAttemptWithoutAnswerIsAbandonedAtItsDeadline() {
        var machine = connecting()
        #expect(machine.handle(.timer, now: 10 * second - 1, using: &random) == nil)
        #expect(machine.handle(.timer, now: 10 * second, using: &random) == .abandon)
        #expect(Self.until(machine) != nil)
    }

    @Test mutating func anAnswerAfterTheDeadlineChangesNothing() {
        var machine = connecting()
        _ = machine.handle(.timer, now: 10 * second, using: &random)
        let state = machine.state
        #expect(machine.handle(.accepted, now: 10 * second, using: &random) == nil)
        #expect(machine.handle(.lost, now: 10 * second, using: &random) == nil)
        #expect(machine.handle(.refused(.permanent), now: 10 * second, using: &random) == nil)
        #expect(machine.state == state)
    }

    @Test(arguments: [1, 2, 4, 5, 132, 133, 134, 135, 138, 140])
    mutating func refusedForGoodWaitsTheLongestPauseOrALittleLess(code: Int) throws {
        var machine = connecting()
        #expect(machine.handle(.refused(.init(code: code)), now: second, using: &random) == .abandon)
        let deadline = try #require(machine.deadline)
        #expect((91 * second...121 * second).contains(deadline))
        // And again at the next time, not more.
        #expect(machine.handle(.timer, now: 121 * second, using: &random) == .connect(broker: 0))
    }

    @Test(arguments: [3, 128, 136, 137, 139, 151, 159])
    mutating func refusedForNowWaitsAsAfterAFailure(code: Int) throws {
        var machine = connecting()
        #expect(machine.handle(.refused(.init(code: code)), now: second, using: &random) == .abandon)
        #expect(try #require(Self.until(machine)) <= 4 * second)
    }

    @Test mutating func aLongConnectionThatIsLostStartsWithAShortPause() throws {
        var machine = connecting()
        var now = second
        for _ in 0..<20 {
            _ = machine.handle(.failed, now: now, using: &random)
            now = try #require(Self.until(machine))
            _ = machine.handle(.timer, now: now, using: &random)
        }
        _ = machine.handle(.accepted, now: now, using: &random)
        let lost = now + 1000 * second
        #expect(machine.handle(.lost, now: lost, using: &random) == nil)
        #expect(try #require(Self.until(machine)) <= lost + 3 * second)
    }

    @Test mutating func connectionsThatBreakAtOnceAreRepeatedMoreAndMoreSlowly() throws {
        var machine = connecting()
        var now: UInt64 = 0
        var longest: UInt64 = 0
        for _ in 0..<60 {
            _ = machine.handle(.accepted, now: now, using: &random)
            _ = machine.handle(.lost, now: now + 1, using: &random)
            let due = try #require(Self.until(machine))
            longest = max(longest, due - now)
            now = due
            #expect(machine.handle(.timer, now: now, using: &random) == .connect(broker: 0))
        }
        #expect(longest > 60 * second)
    }

    @Test mutating func severalBrokersAreTriedInOrderWithOnePauseARound() throws {
        var machine = connecting(brokers: 3)
        #expect(machine.handle(.failed, now: 1, using: &random) == nil)
        #expect(machine.handle(.timer, now: 1, using: &random) == .connect(broker: 1))
        #expect(machine.handle(.refused(.temporary), now: 2, using: &random) == .abandon)
        #expect(machine.handle(.timer, now: 2, using: &random) == .connect(broker: 2))
        #expect(machine.handle(.failed, now: 3, using: &random) == nil)
        let due = try #require(Self.until(machine))
        #expect(due >= second + 3 && due <= 3 * second + 3)
        #expect(machine.handle(.timer, now: due, using: &random) == .connect(broker: 0))
    }

    @Test mutating func aWrongPasswordAtOneOfSeveralBrokersDoesNotDelayTheNext() throws {
        var machine = connecting(brokers: 2)
        _ = machine.handle(.refused(.permanent), now: 1, using: &random)
        #expect(machine.handle(.timer, now: 1, using: &random) == .connect(broker: 1))
        _ = machine.handle(.failed, now: 2, using: &random)
        let deadline = try #require(machine.deadline)
        #expect((90 * second...120 * second + 2).contains(deadline))
    }

    /// Stations whose password was changed all at once do not come back all at once.
    @Test func refusedStationsDoNotComeBackInStep() {
        var deadlines: Set<UInt64> = []
        for seed in 0..<20 as Range<UInt64> {
            var random = Seeded(state: seed)
            var machine = Machine(brokerCount: 1, timing: .init(base: second, cap: 120 * second))
            _ = machine.handle(.start, now: 0, using: &random)
            _ = machine.handle(.refused(.permanent), now: second, using: &random)
            if let deadline = machine.deadline { deadlines.insert(deadline) }
        }
        #expect(deadlines.count == 20)
    }

    @Test mutating func afterALossTheFirstBrokerIsTriedFirst() throws {
        var machine = connecting(brokers: 2)
        _ = machine.handle(.failed, now: 1, using: &random)
        _ = machine.handle(.timer, now: 1, using: &random)
        #expect(machine.handle(.accepted, now: 2, using: &random) == .announce)
        _ = machine.handle(.lost, now: 60 * second, using: &random)
        let due = try #require(Self.until(machine))
        #expect(machine.handle(.timer, now: due, using: &random) == .connect(broker: 0))
    }

    @Test mutating func stopEndsEveryState() {
        var connected = up()
        #expect(connected.handle(.stop, now: 9, using: &random) == .disconnect)
        var trying = connecting()
        #expect(trying.handle(.stop, now: 9, using: &random) == .abandon)
        var down = connecting()
        _ = down.handle(.failed, now: 1, using: &random)
        #expect(down.handle(.stop, now: 9, using: &random) == nil)
        for var machine in [connected, trying, down] {
            #expect(machine.state == .stopped)
            for event: Machine.Event in [.start, .timer, .failed, .accepted, .refused(.permanent), .lost, .stop] {
                #expect(machine.handle(event, now: 1 << 60, using: &random) == nil)
                #expect(machine.state == .stopped)
            }
        }
    }

    /// Whatever comes in whatever order: no two attempts closer than the base, never a state without a way on.
    @Test(arguments: 0..<50 as Range<UInt64>) func randomEventsNeverSpinNorHang(seed: UInt64) {
        var random = Seeded(state: seed)
        var machine = Machine(brokerCount: 1, timing: .init(base: second, cap: 30 * second))
        var now: UInt64 = 0
        var lastAttempt: UInt64?
        let events: [Machine.Event] = [
            .start, .timer, .timer, .failed, .accepted, .refused(.temporary), .refused(.permanent), .lost,
        ]
        for _ in 0..<2000 {
            let event = events.randomElement(using: &random) ?? .timer
            if event == .timer, let deadline = machine.deadline, Bool.random(using: &random) {
                now = max(now, deadline)
            } else {
                now += UInt64.random(in: 0...second / 10, using: &random)
            }
            if case .connect = machine.handle(event, now: now, using: &random) {
                if let lastAttempt { #expect(now - lastAttempt >= second) }
                lastAttempt = now
            }
            switch machine.state {
            case .down(let until): #expect(until <= now + 30 * second)
            case .connecting(let deadline): #expect(deadline <= now + 10 * second)
            case .idle: #expect(lastAttempt == nil)
            case .up: #expect(machine.deadline == nil)
            case .stopped: Issue.record("stopped by itself")
            }
        }
        #expect(lastAttempt != nil)
    }
}
