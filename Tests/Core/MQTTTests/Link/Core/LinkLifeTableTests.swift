import Messages
import TestSupport
import Testing

@testable import MQTT

/// Every event in every state, and long random lives.
@Suite struct LinkLifeTableTests {
    static let now = 100 * second
    static let states = [
        "waiting", "connecting", "up", "changing: draining", "changing: farewell", "changing: disconnecting",
        "leaving: draining", "leaving: farewell", "leaving: disconnecting", "stopped",
    ]

    static func other(_ change: (inout LinkOptions) -> Void = { $0.connection.brokers[0].host = "other" })
        -> LinkLife.Event
    {
        .change(.init(Lived.options(change), number: 1))
    }

    /// A life in this state; its attempt, connection or good-bye began at `now`.
    static func life(_ state: String) -> Lived {
        var life = Lived()
        func take(_ events: LinkLife.Event...) { for event in events { _ = life.handle(event, now: Self.now) } }
        let (up, idle) = (Lived.accepted, Lived.settled(isIdle: true))
        take(.timer)
        switch state {
        case "waiting": take(Lived.failed)
        case "connecting": break
        case "up": take(up)
        case "changing: draining": take(up, other())
        case "changing: farewell": take(up, other(), idle, .offline(id: 7))
        case "changing: disconnecting": take(up, other(), idle, .offline(id: nil))
        case "leaving: draining": take(up, .stop(within: 10 * second))
        case "leaving: farewell": take(up, .stop(within: 10 * second), idle, .offline(id: 7))
        case "leaving: disconnecting": take(up, .stop(within: 10 * second), idle, .offline(id: nil))
        default: take(.stop(within: 10 * second))
        }
        #expect(word(life.life) == state)
        return life
    }

    static func word(_ life: LinkLife) -> String {
        func phase(_ departure: LinkLife.Departure) -> String {
            switch departure.phase {
            case .draining: "draining"
            case .farewell: "farewell"
            case .disconnecting: "disconnecting"
            }
        }
        switch life.state {
        case .waiting: return "waiting"
        case .connecting: return "connecting"
        case .up: return "up"
        case .changing(let departure, _): return "changing: \(phase(departure))"
        case .leaving(let departure): return "leaving: \(phase(departure))"
        case .stopped: return "stopped"
        }
    }

    /// What an event leads to in each of `states`, as "state actions"; "=" stands for nothing at all.
    static let rows: [(name: String, event: LinkLife.Event, after: UInt64, outcome: [String])] = [
        ("timer", .timer, 0, ["=", "=", "=", "=", "=", "=", "=", "=", "=", "="]),
        (
            "timer, late", .timer, 200 * second,
            ["connecting connect 0", "waiting abandon failed", "=", "=", "=", "=", "=", "=", "=", "="]
        ),
        ("connected", Lived.accepted, 0, ["=", "up announce", "=", "=", "=", "=", "=", "=", "=", "="]),
        ("refused", Lived.refused(5), 0, ["=", "waiting abandon failed", "=", "=", "=", "=", "=", "=", "=", "="]),
        (
            "lost", Lived.lost, 0,
            [
                "=", "waiting failed", "waiting ended", "connecting ended move connect 0",
                "connecting ended move connect 0", "connecting ended move connect 0", "stopped ended",
                "stopped ended", "stopped ended", "=",
            ]
        ),
        ("heard", .transport(.heard), 0, ["=", "=", "=", "=", "=", "=", "=", "=", "=", "="]),
        (
            "finished 7", .transport(.finished(id: 7, reason: 0)), 0,
            [
                "=", "=", "up finished 7", "changing: draining finished 7", "changing: disconnecting disconnect",
                "changing: disconnecting finished 7", "leaving: draining finished 7",
                "leaving: disconnecting disconnect", "leaving: disconnecting finished 7", "=",
            ]
        ),
        (
            "subscribed", .transport(.subscribed(id: 8, code: 0)), 0,
            [
                "=", "=", "up subscribed 8", "changing: draining subscribed 8", "changing: farewell subscribed 8",
                "changing: disconnecting subscribed 8", "leaving: draining subscribed 8",
                "leaving: farewell subscribed 8", "leaving: disconnecting subscribed 8", "=",
            ]
        ),
        (
            "message", .transport(.message(InboundMessage(topic: "t", payload: []))), 0,
            [
                "=", "=", "up received t", "changing: draining received t", "changing: farewell received t",
                "changing: disconnecting received t", "leaving: draining received t", "leaving: farewell received t",
                "leaving: disconnecting received t", "=",
            ]
        ),
        (
            "settled, idle", Lived.settled(isIdle: true, isWriting: true), 0,
            ["=", "=", "=", "changing: draining offline", "=", "=", "leaving: draining offline", "=", "=", "="]
        ),
        (
            "settled, written", Lived.settled(), 0,
            ["=", "=", "=", "=", "=", "connecting ended move connect 0", "=", "=", "stopped ended", "="]
        ),
        (
            "settled, late", Lived.settled(isWriting: true), 200 * second,
            [
                "=", "=", "=", "changing: draining offline", "changing: disconnecting disconnect",
                "connecting ended move connect 0", "leaving: draining offline", "leaving: disconnecting disconnect",
                "stopped ended", "=",
            ]
        ),
        (
            "written", .written, 0,
            ["=", "=", "=", "=", "=", "connecting ended move connect 0", "=", "=", "stopped ended", "="]
        ),
        (
            "offline 9", .offline(id: 9), 0,
            ["=", "=", "=", "changing: farewell", "=", "=", "leaving: farewell", "=", "=", "="]
        ),
        (
            "no offline", .offline(id: nil), 0,
            [
                "=", "=", "=", "changing: disconnecting disconnect", "=", "=", "leaving: disconnecting disconnect", "=",
                "=", "=",
            ]
        ),
        (
            "judged", .judged(isExpected: true, pause: second), 0,
            ["=", "=", "=", "=", "=", "=", "=", "=", "=", "="]
        ),
        (
            "change of the broker", other(), 0,
            [
                "connecting move connect 0", "connecting move connect 0", "changing: draining", "=", "=", "=", "=", "=",
                "=", "=",
            ]
        ),
        (
            "change in place", other { $0.ackTimeout = 5 }, 0,
            ["waiting take up", "connecting take up", "up take up", "up take up", "=", "=", "=", "=", "=", "="]
        ),
        (
            "stop", .stop(within: second), 0,
            [
                "stopped", "stopped abandon", "leaving: draining", "leaving: draining", "leaving: farewell",
                "leaving: disconnecting", "=", "=", "=", "=",
            ]
        ),
    ]

    @Test(arguments: rows.indices) func everyEventInEveryState(row: Int) {
        let row = Self.rows[row]
        for (state, outcome) in zip(Self.states, row.outcome) {
            var life = Self.life(state)
            let words = life.handle(row.event, now: Self.now + row.after)
            let found = ([Self.word(life.life)] + words).joined(separator: " ")
            #expect(found == (outcome == "=" ? state : outcome), "\(row.name), \(state)")
        }
        #expect(row.outcome.count == Self.states.count)
    }

    /// A connection that is silent is given up; in a good-bye, which is short, nobody looks.
    @Test func theWatchIsOfTheConnectionThatIsUp() {
        for state in Self.states {
            var life = Lived { $0.connection.mqtt.keepalive = 10 }
            _ = life.handle(.timer, now: 0)
            if state == "up" || state == "leaving: draining" { _ = life.handle(Lived.accepted, now: 0) }
            if state == "leaving: draining" { _ = life.handle(.stop(within: 100 * second), now: 0) }
            let words = life.handle(Lived.settled(), now: 15 * second)
            #expect(words == (state == "up" ? ["abandon", "ended"] : []))
        }
    }

    /// What an observer of the actions alone may see, whatever happens.
    struct Observer {
        enum Handle { case none, attempt, session }
        var handle = Handle.none
        var (hasSaidOffline, isDisconnected, isStopped) = (false, false, false)
        var (begun, ended) = (0, 0)
        var lastAttempt: UInt64?

        mutating func see(_ action: LinkLife.Action, now: UInt64, seed: UInt64) {
            #expect(!isStopped, "\(action.word) after the end, seed \(seed)")
            switch action {
            case .connect:
                #expect(handle == .none, "two handles, seed \(seed)")
                (handle, lastAttempt) = (.attempt, now)
            case .abandon: if handle == .attempt { handle = .none }
            case .decline:
                #expect(handle == .attempt, "seed \(seed)")
                handle = .none
            case .failed, .fallBack: if handle == .attempt { handle = .none }
            case .announce:
                #expect(handle == .attempt, "seed \(seed)")
                (handle, hasSaidOffline, isDisconnected) = (.session, false, false)
                begun += 1
            case .ended:
                #expect(handle == .session, "seed \(seed)")
                handle = .none
                ended += 1
            case .sayOffline:
                #expect(handle == .session && !isDisconnected, "seed \(seed)")
            case .disconnect:
                #expect(handle == .session && !isDisconnected, "seed \(seed)")
                isDisconnected = true
            case .move:
                if handle == .attempt { handle = .none }
                #expect(handle == .none, "seed \(seed)")
            case .takeUp: break
            case .finished, .subscribed, .received: #expect(handle == .session, "seed \(seed)")
            }
        }
    }

    /// 50 lives of 2000 events in any order: never two handles, each connection ended exactly once, no time that lies
    /// behind, and nothing at all after the end.
    @Test(arguments: 0..<50 as Range<UInt64>) func randomLives(seed: UInt64) {
        var dice = SplitMix64(state: seed &* 977)
        var life = Lived(brokers: 1 + Int(seed % 3), seed: seed) {
            $0.connection.mqtt.protocolVersion = seed % 2 == 0 ? .v5 : .v311
            ($0.connection.mqtt.keepalive, $0.connection.mqtt.reconnectMaximum) = (seed % 5 == 0 ? 10 : 0, 30)
        }
        var observer = Observer()
        var now: UInt64 = 0
        var change: UInt64 = 0
        for step in 0..<2000 {
            let event: LinkLife.Event
            switch Int.random(in: 0..<22, using: &dice) {
            case 0...4: event = .timer
            case 5, 6: event = Lived.accepted
            case 7: event = Lived.refused([1, 3, 5, 132, 135].randomElement(using: &dice) ?? 3)
            case 8: event = Lived.lost
            case 9: event = Lived.failed
            case 10: event = .transport(.finished(id: Int32.random(in: 1...4, using: &dice), reason: 0))
            case 11: event = .transport(.heard)
            case 12...14:
                event = Lived.settled(
                    isIdle: Bool.random(using: &dice), isWriting: Bool.random(using: &dice))
            case 15: event = .offline(id: Bool.random(using: &dice) ? 2 : nil)
            case 16: event = .written
            case 17:
                event = .judged(isExpected: Bool.random(using: &dice), pause: Bool.random(using: &dice) ? second : nil)
            case 18, 19:
                change += 1
                var options = life.life.options
                switch Int.random(in: 0..<3, using: &dice) {
                case 0: options.connection.brokers = [BrokerAddress(host: "b\(change % 3)", port: 1883, tls: false)]
                case 1: options.connection.mqtt.username += "x"
                default: options.connection.mqtt.reconnectMaximum = Double(10 + change % 20)
                }
                event = .change(.init(options, number: change))
            case 20: event = .transport(.subscribed(id: 1, code: 0))
            default: event = step > 1900 ? .stop(within: 5 * second) : .timer
            }
            if case .timer = event, let deadline = life.life.deadline, Bool.random(using: &dice) {
                now = max(now, deadline)
            } else {
                now += UInt64.random(in: 0...second / 10, using: &dice)
            }
            let actions = life.act(event, now: now)
            for action in actions { observer.see(action, now: now, seed: seed) }
            observer.isStopped = life.life.isStopped
            if life.life.isStopped { #expect(life.life.deadline == nil) }
            switch life.life.state {
            case .waiting(let until): #expect(until <= now + 30 * second && observer.handle == .none)
            case .connecting(let attempt):
                #expect(attempt.deadline <= now + 10 * second && observer.handle == .attempt)
            case .up, .changing, .leaving: #expect(observer.handle == .session)
            case .stopped: #expect(observer.handle != .session)
            }
            if case .timer = event, !life.life.isUp, let deadline = life.life.deadline,
                case .waiting = life.life.state
            {
                // With several brokers the next is tried at once, and after silence in a proof the next form.
                let isProof = actions.count == 1
                #expect(seed % 3 == 0 && !isProof ? deadline > now : deadline >= now, "seed \(seed)")
            }
            #expect(observer.begun - observer.ended == (observer.handle == .session ? 1 : 0))
        }
        #expect(observer.begun > 20, "seed \(seed)")
    }
}
