import Messages

/// The life of the link as one state machine: it decides, and does nothing itself. Pure: the time and the random numbers
/// are passed in, the actions to take are returned.
///
///     waiting ──due──▶ connecting ──CONNACK 0──▶ up ──change──▶ changing ──over──▶ connecting, with other options
///        ▲                  │                    │ │                ▲ │
///        └──failed, refused─┴───────lost─────────┘ └──stop──▶ leaving◀┘──over──▶ stopped
///
/// What is only meaningful in a state is in that state: there are no limits, no watch and no messages on their way without
/// a connection. `changing` and `leaving` are the same good-bye with another end.
struct LinkLife {
    /// How long what waits is still sent before a change, and how long the whole good-bye may take (ns).
    static let drainingTime: UInt64 = 1_500_000_000
    static let departureTime: UInt64 = 3_000_000_000

    enum State {
        /// Until the time of the next attempt (ns).
        case waiting(until: UInt64)
        case connecting(Attempt)
        case up(Session)
        /// A good-bye, and the options that are taken up after it.
        case changing(Departure, Change)
        /// A good-bye for good.
        case leaving(Departure)
        case stopped
    }

    private(set) var state = State.waiting(until: 0)
    /// The options in use.
    private(set) var current: Change
    private var order: BrokerOrder
    private var protocols: ProtocolChoice

    init(_ first: Change) {
        (current, protocols) = (first, first.protocols)
        order = BrokerOrder(count: first.options.connection.brokers.count, timing: first.options.timing)
    }

    var options: LinkOptions { current.options }

    // MARK: what it is like now

    /// It is up, and nobody wants it otherwise.
    var isSteady: Bool { if case .up = state { true } else { false } }

    var isStopped: Bool { if case .stopped = state { true } else { false } }

    private var departure: Departure? {
        switch state {
        case .changing(let departure, _), .leaving(let departure): departure
        case .waiting, .connecting, .up, .stopped: nil
        }
    }

    var isUp: Bool { isSteady || departure.map { $0.phase != .disconnecting } == true }

    private var hasSession: Bool { isSteady || departure != nil }

    /// Waiting messages are being sent; the good-bye follows.
    var isDraining: Bool { if case .draining = departure?.phase { true } else { false } }

    /// When something is due even if nothing happens (ns).
    var deadline: UInt64? {
        switch state {
        case .waiting(let until): until
        case .connecting(let attempt): attempt.deadline
        case .up(let session): session.deadline
        case .changing(let departure, _), .leaving(let departure): departure.deadline
        case .stopped: nil
        }
    }

    /// The connection that there is, for what is sent and received over it; what is written to it without one is lost.
    var session: Session {
        switch state {
        case .up(let session): session
        case .changing(let departure, _), .leaving(let departure): departure.session
        case .waiting, .connecting, .stopped: Session.none
        }
    }

    // MARK: events

    /// Takes one event at a time (ns of a monotonic clock); returns what must be done, in order.
    mutating func handle(
        _ event: Event, now: UInt64, using random: inout AnyRandom
    ) -> [Action] {
        switch event {
        case .timer: timer(now, &random)
        case .transport(let event): transport(event, now, &random)
        case .settled(let isIdle, let isWriting, let line):
            settled(isIdle: isIdle, isWriting: isWriting, line, now, &random)
        case .offline(let id): depart(now) { $0.offline(id) }
        case .written: depart(now) { $0.phase == .disconnecting ? .end : .stay }
        case .judged(let isExpected, let pause): judged(isExpected: isExpected, pause: pause, now, &random)
        case .change(let new): change(to: new, now)
        case .stop(let time): stop(within: time, now)
        }
    }

    private mutating func timer(_ now: UInt64, _ random: inout AnyRandom) -> [Action] {
        switch state {
        case .waiting(let until):
            return now >= until ? [begin(now)] : []
        case .connecting(let attempt):
            guard now >= attempt.deadline else { return [] }
            let step = protocols.silent(attempt.broker, attempt.form, now: now)
            if step == .onward {
                state = .waiting(until: now)
                return [.abandon]
            }
            let failure = failed(attempt, "no CONNACK within \(Int(options.connection.connectTimeout)) s", now, &random)
            return [.abandon] + (step == .lesser ? [.fallBack(attempt.address, isRefused: false)] : []) + [failure]
        case .up, .changing, .leaving, .stopped:
            return []
        }
    }

    private mutating func begin(_ now: UInt64) -> Action {
        let broker = order.broker
        let attempt = Attempt(
            broker: broker, address: options.connection.brokers[broker], form: protocols.form(for: broker, now: now),
            deadline: now + options.connection.connectTimeout.nanoseconds)
        state = .connecting(attempt)
        return .connect(attempt)
    }

    private mutating func failed(
        _ attempt: Attempt, _ reason: String, code: Int = 0, _ now: UInt64,
        _ random: inout AnyRandom
    ) -> Action {
        state = .waiting(
            until: order.failed(isPermanent: ConnackCode.isPermanent(code), now: now, using: &random))
        return .failed(attempt.address, reason: reason, code: code)
    }

    private mutating func transport(
        _ event: MQTTEvent, _ now: UInt64, _ random: inout AnyRandom
    ) -> [Action] {
        switch event {
        case .connected(var limits):
            guard case .connecting(let attempt) = state else { return [] }
            guard protocols.accepted(attempt.broker, attempt.form, limits, now: now) else {
                state = .waiting(until: now)
                return [.decline]
            }
            order.succeeded()
            if attempt.form.version == .v311 {
                // It cannot say more than it has accepted.
                limits.maximumQoS = min(limits.maximumQoS, attempt.form.willQoS == 0 ? 0 : 2)
                limits.retainAvailable = limits.retainAvailable && attempt.form.willIsRetained
            }
            var watch = ConnectionWatch(patience: options.ackTimeout.nanoseconds)
            watch.begin(now: now, keepalive: limits.serverKeepalive ?? options.connection.mqtt.keepalive)
            state = .up(
                Session(
                    broker: attempt.broker, address: attempt.address, version: attempt.form.version, since: now,
                    limits: limits, watch: watch))
            return [.announce]
        case .refused(let code, let reason):
            guard case .connecting(let attempt) = state else { return [] }
            if protocols.refused(attempt.broker, attempt.form, code: code, now: now) {
                state = .waiting(until: now)
                return [.abandon, .fallBack(attempt.address, isRefused: true)]
            }
            return [.abandon, failed(attempt, "\(reason) (\(code))", code: code, now, &random)]
        case .lost(let reason, let byPeer, let code, let isMalformed):
            let loss = Loss(reason: reason, byPeer: byPeer, code: code, isMalformed: isMalformed)
            return lost(loss, now, &random)
        case .heard:
            session.watch.heard(now: now)
            return []
        case .finished(let id, let reason):
            if departure?.phase == .farewell(id: id) { return depart(now) { $0.heard() } }
            return hasSession ? [.finished(id: id, reason: reason)] : []
        case .subscribed(let id, let code): return hasSession ? [.subscribed(id: id, code: code)] : []
        case .message(let message): return hasSession ? [.received(message)] : []
        }
    }

    private mutating func lost(
        _ loss: Loss, _ now: UInt64, _ random: inout AnyRandom
    ) -> [Action] {
        switch state {
        case .connecting(let attempt):
            var step = ProtocolChoice.Step.wait
            if loss.byPeer {
                step = protocols.hungUp(attempt.broker, attempt.form, now: now)
            } else {
                protocols.failed(attempt.broker)
            }
            if step == .onward {
                state = .waiting(until: now)
                return [.abandon]
            }
            let failure = failed(attempt, loss.reason ?? "", now, &random)
            let isOld = step == .lesser && attempt.form.version == .v5
            return isOld ? [.fallBack(attempt.address, isRefused: false), failure] : [failure]
        case .up(let session):
            protocols.ended(session.broker, session.version, now: now)
            state = .waiting(until: order.lost(since: session.since, now: now, using: &random))
            let fallsBack = loss.isMalformed && protocols.malformed(session.broker, session.version, now: now)
            return [.ended(session, loss)] + (fallsBack ? [.fallBack(session.address, isRefused: false)] : [])
        case .changing(let departure, _), .leaving(let departure):
            // What ends it after the DISCONNECT is that.
            return end(departure.phase == .disconnecting ? nil : loss, now)
        case .waiting, .stopped:
            return []
        }
    }

    /// Watches the connection: a dead one is given up, and what was not acknowledged is sent again
    /// in the next. A good-bye goes on.
    private mutating func settled(
        isIdle: Bool, isWriting: Bool, _ line: LineState?, _ now: UInt64,
        _ random: inout AnyRandom
    ) -> [Action] {
        guard isSteady else { return depart(now) { $0.settled(isIdle: isIdle, isWriting: isWriting, now: now) } }
        let isWaiting =
            !session.inFlight.isEmpty || session.trial.map { $0.isProbe && $0.passesAt == nil } == true
        session.watch.look(now: now, isWaiting: isWaiting, isWriting: isWriting, line: line)
        guard let verdict = session.watch.verdict(now: now) else { return [] }
        let reason =
            switch verdict {
            case .silent: "nothing has come from the broker for 1.5 times the keepalive"
            case .unacknowledged: "the broker acknowledges nothing for \(Int(options.ackTimeout)) s"
            }
        return [.abandon] + lost(Loss(reason: reason, isHalfOpen: true), now, &random)
    }

    private mutating func judged(
        isExpected: Bool, pause: UInt64?, _ now: UInt64, _ random: inout AnyRandom
    ) -> [Action] {
        guard case .waiting(var until) = state else { return [] }
        if isExpected { until = order.forgiven(now: now, using: &random) }
        state = .waiting(until: max(until, now + (pause ?? 0)))
        return []
    }

    // MARK: other options, and the end

    private mutating func change(to new: Change, _ now: UInt64) -> [Action] {
        let isSame = !options.needsNewConnection(for: new.options)
        switch state {
        case .waiting, .connecting:
            return isSame ? takeUp(new, now) : move(to: new, wasSaid: false, now)
        case .up(let session):
            if isSame { return takeUp(new, now) }
            let departure = Departure(
                session: session, phase: .draining(until: now + Self.drainingTime), end: now + Self.departureTime)
            state = .changing(departure, new)
            return []
        case .changing(let departure, _):
            if isSame, case .draining = departure.phase {
                state = .up(departure.session)
                return takeUp(new, now)
            }
            state = .changing(departure, new)
            return []
        case .leaving, .stopped:
            return []
        }
    }

    /// Takes up settings that need no other connection.
    private mutating func takeUp(_ new: Change, _ now: UInt64) -> [Action] {
        let old = current
        current = new
        session.watch.patience = options.ackTimeout.nanoseconds
        // A pause that is under way is cut to the longest of the new ones.
        if let longest = order.change(options.timing), case .waiting(let until) = state {
            state = .waiting(until: min(until, now + longest))
        }
        return [.takeUp(from: old)]
    }

    /// Begins anew with all state that belongs to one broker.
    private mutating func move(to new: Change, wasSaid: Bool, _ now: UInt64) -> [Action] {
        let old = current
        current = new
        if options.connection.brokers != old.options.connection.brokers
            || options.connection.version != old.options.connection.version
        {
            protocols = new.protocols
        }
        order = BrokerOrder(count: options.connection.brokers.count, timing: options.timing)
        return [.move(from: old, wasSaid: wasSaid), begin(now)]
    }

    private mutating func stop(within time: UInt64, _ now: UInt64) -> [Action] {
        // The last tenth is kept for the farewell.
        let (until, end) = (now + time / 10 * 9, now + time)
        switch state {
        case .waiting:
            state = .stopped
        case .connecting:
            // Nobody listens; the last will speaks for us.
            state = .stopped
            return [.abandon]
        case .up(let session):
            state = .leaving(Departure(session: session, phase: .draining(until: until), end: end))
        case .changing(var departure, _):
            if case .draining = departure.phase { departure.phase = .draining(until: until) }
            departure.end = end
            state = .leaving(departure)
        case .leaving, .stopped: break
        }
        return []
    }

    // MARK: the good-bye

    /// Takes the good-bye, where there is one, a step further.
    private mutating func depart(_ now: UInt64, _ decide: (inout Departure) -> Departure.Step) -> [Action] {
        var departure: Departure
        let next: Change?
        switch state {
        case .changing(let present, let change): (departure, next) = (present, change)
        case .leaving(let present): (departure, next) = (present, nil)
        case .waiting, .connecting, .up, .stopped: return []
        }
        var step = decide(&departure)
        let saysOffline = next.map { mustSayOffline(departure.session, before: $0.options) } ?? true
        if step == .sayOffline, !saysOffline { step = .disconnect }
        if step == .disconnect { departure.phase = .disconnecting }
        state = next.map { .changing(departure, $0) } ?? .leaving(departure)
        switch step {
        case .stay: return []
        case .sayOffline: return [.sayOffline]
        case .disconnect: return [.disconnect(keepsWill: !departure.saysOffline && !saysOffline)]
        case .end: return end(nil, now)
        }
    }

    /// - Parameter loss: nil: it was orderly.
    private mutating func end(_ loss: Loss?, _ now: UInt64) -> [Action] {
        switch state {
        case .changing(let departure, let change):
            let loss = loss ?? Loss(reason: "the settings of the connection change")
            return [.ended(departure.session, loss)] + move(to: change, wasSaid: departure.isHeard, now)
        case .leaving(let departure):
            state = .stopped
            return [.ended(departure.session, loss ?? Loss())]
        case .waiting, .connecting, .up, .stopped:
            return []
        }
    }

    /// Where we come back to the same topic of the same broker, the last will says it when we do not. With 3.1.1 nobody
    /// delays it, nor publishes it after a DISCONNECT.
    private func mustSayOffline(_ session: Session, before new: LinkOptions) -> Bool {
        session.version == .v311 || new.connection.brokers != options.connection.brokers
            || new.connection.clientID != options.connection.clientID
            || new.presence != options.presence || new.connection.mqtt.willDelay != options.connection.mqtt.willDelay
    }
}

extension LinkOptions {
    fileprivate var timing: BrokerOrder.Timing {
        .init(
            base: max(10_000_000, connection.mqtt.reconnectMinimum.nanoseconds),
            cap: connection.mqtt.reconnectMaximum.nanoseconds)
    }

    /// The longest pause between attempts (ns).
    var longestPause: UInt64 { timing.cap }
}

extension Double {
    /// This number of seconds in nanoseconds.
    var nanoseconds: UInt64 { UInt64(max(0, min(self, 1e9)) * 1e9) }
}

/// States, events and actions of the link's life.
extension LinkLife {
    /// An attempt that is to be answered by its deadline (ns).
    struct Attempt: Equatable {
        var broker: Int
        var address: BrokerAddress
        var form: ConnectForm
        var deadline: UInt64
    }

    /// An orderly good-bye.
    struct Departure {
        enum Phase: Equatable {
            /// Sends waiting messages until then (ns).
            case draining(until: UInt64)
            /// `offline` was handed over with this number.
            case farewell(id: Int32)
            /// DISCONNECT is on its way.
            case disconnecting
        }
        let session: Session
        var phase: Phase
        /// The whole must be over then (ns).
        var end: UInt64
        /// `offline` was handed over, and taken by the broker.
        var saysOffline = false
        var isHeard = false

        enum Step { case stay, sayOffline, disconnect, end }

        var deadline: UInt64? {
            if case .draining(let until) = phase { earliest(until, session.messageDeadline) } else { end }
        }

        func settled(isIdle: Bool, isWriting: Bool, now: UInt64) -> Step {
            switch phase {
            case .draining(let until): isIdle || now >= until ? .sayOffline : .stay
            case .farewell: now >= end ? .disconnect : .stay
            case .disconnecting: now >= end || !isWriting ? .end : .stay
            }
        }

        /// - Parameter id: nil: `offline` cannot be handed over.
        mutating func offline(_ id: Int32?) -> Step {
            guard case .draining = phase else { return .stay }
            guard let id else { return .disconnect }
            (phase, saysOffline) = (.farewell(id: id), true)
            return .stay
        }

        /// The broker has `offline`.
        mutating func heard() -> Step {
            isHeard = true
            return .disconnect
        }
    }

    /// Other options. They never change, and are shared: copies of so many texts would cost tens of kilobytes of program.
    final class Change: Sendable {
        let options: LinkOptions
        /// Rises when another connection is needed.
        let number: UInt64
        /// Versions that these brokers are known to speak.
        let protocols: ProtocolChoice

        init(_ options: LinkOptions, number: UInt64) {
            self.options = options
            self.number = number
            protocols = ProtocolChoice(options)
        }
    }

    enum Event {
        /// The time may have come; harmless when it has not.
        case timer
        case transport(MQTTEvent)
        /// All that can be done now is done: nothing waits and nothing is on its way (asked for while draining), bytes
        /// wait for the line, and what the kernel knows of them.
        case settled(isIdle: Bool, isWriting: Bool, line: LineState?)
        /// `offline` was handed over under this number; nil: it could not be.
        case offline(id: Int32?)
        /// No bytes wait for the line.
        case written
        /// Verdict on the end of the last connection: it was expected, so that the next pause is a first one, or
        /// another station has our client id, so that the pause is this long at least (ns).
        case judged(isExpected: Bool, pause: UInt64?)
        case change(Change)
        /// An orderly stop that takes no longer than this (ns).
        case stop(within: UInt64)
    }

    enum Action {
        /// Begin an attempt.
        case connect(Attempt)
        /// Drop the attempt or connection without ceremony.
        case abandon
        /// The broker has accepted an attempt, but a better one is to be made first: say good-bye, and nothing else.
        case decline
        /// A connection came up: publish the birth and everything that waits.
        case announce
        /// A connection is over: what was on its way waits again.
        indirect case ended(Session, Loss)
        /// An attempt failed, or the broker refused it with this CONNACK code.
        case failed(BrokerAddress, reason: String, code: Int)
        /// The next attempt is with MQTT 3.1.1, because the broker refused 5, hung up on it or sent a malformed packet of 5.
        case fallBack(BrokerAddress, isRefused: Bool)
        case sayOffline
        /// - keepsWill: the broker publishes the last will when we do not come back (MQTT 5).
        case disconnect(keepsWill: Bool)
        /// Other options are in use that need no other connection.
        case takeUp(from: Change)
        /// Other options are in use, and all that was known of the brokers before is void.
        /// - wasSaid: the broker has heard `offline`.
        case move(from: Change, wasSaid: Bool)
        /// For the messages and subscriptions of the session.
        case finished(id: Int32, reason: Int)
        case subscribed(id: Int32, code: Int)
        case received(InboundMessage)
    }
}
