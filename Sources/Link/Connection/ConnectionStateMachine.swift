/// Decides when to connect, to which broker, and when to give up; it does nothing itself. Pure: the time and the
/// random numbers are passed in, the action to take is handed back.
///
///     idle ─start→ DOWN ─due→ CONNECTING ─CONNACK 0→ UP
///                   ↑            │ failure, refusal, no CONNACK in time   │ lost
///                   └────────────┴────────────────────────────────────────┘
public struct ConnectionStateMachine: Sendable, Equatable {
    public enum State: Sendable, Equatable {
        case idle
        /// Waiting for the time of the next attempt (ns).
        case down(until: UInt64)
        /// An attempt is under way and has until then (ns) to be answered.
        case connecting(deadline: UInt64)
        case up(since: UInt64)
        case stopped
    }

    public enum Event: Sendable, Equatable {
        case start
        /// The time may have come; harmless when it has not.
        case timer
        /// The attempt failed before the broker answered.
        case failed
        /// CONNACK with success.
        case accepted
        /// CONNACK with a refusal.
        case refused(Refusal)
        /// The broker wants to be asked in another way, at once.
        case again
        /// The connection is gone.
        case lost
        case stop
    }

    /// What a broker's refusal means for the next attempt.
    public enum Refusal: Sendable, Equatable {
        /// Nothing will change by itself: wrong password, not authorised, banned, protocol or client id not accepted.
        case permanent
        /// Busy, shutting down, over quota.
        case temporary

        /// - Parameter code: CONNACK return code of MQTT 3.1.1 (1 to 5) or reason code of MQTT 5 (128 and above).
        public init(code: Int) {
            switch code {
            case 1, 2, 4, 5, 132, 133, 134, 135, 138, 140: self = .permanent
            default: self = .temporary
            }
        }

        /// Wrong name or password, not authorised, banned, or another kind of authentication wanted.
        static func isAboutCredentials(_ code: Int) -> Bool { [4, 5, 134, 135, 138, 140].contains(code) }
    }

    public enum Action: Sendable, Equatable {
        /// Begin an attempt to the broker of this index.
        case connect(broker: Int)
        /// Drop the attempt or connection without ceremony.
        case abandon
        /// Publish the birth and everything that waits.
        case announce
        /// Say good-bye in order.
        case disconnect
    }

    public struct Timing: Sendable, Equatable {
        /// Nanoseconds.
        public var base: UInt64
        public var cap: UInt64
        public var connectTimeout: UInt64
        public init(base: UInt64, cap: UInt64, connectTimeout: UInt64 = 10_000_000_000) {
            self.base = base
            self.cap = max(base, cap)
            self.connectTimeout = connectTimeout
        }
    }

    public private(set) var state = State.idle
    /// Index of the broker of the present or next attempt.
    public private(set) var broker = 0
    private let brokerCount: Int
    private var timing: Timing
    private var jitter: DecorrelatedJitter
    /// Brokers tried since the last pause or connection.
    private var tried = 0
    /// One of those refused for good: the pause is the longest.
    private var refusedForGood = false

    /// - Parameter brokerCount: how many brokers there are to try in order, at least 1.
    public init(brokerCount: Int, timing: Timing) {
        self.brokerCount = max(1, brokerCount)
        self.timing = timing
        jitter = DecorrelatedJitter(base: timing.base, cap: timing.cap)
    }

    /// Other pauses, which begin anew; one under way is cut to the longest of them.
    mutating func change(_ timing: Timing, now: UInt64) {
        guard timing != self.timing else { return }
        self.timing = timing
        jitter = DecorrelatedJitter(base: timing.base, cap: timing.cap)
        if case .down(let until) = state { state = .down(until: min(until, now + timing.cap)) }
    }

    /// The end of a connection is nobody's fault, or was expected: the next pause is a first one.
    mutating func forgive() { jitter.reset() }

    /// Not before then (ns), when it waits for the next attempt.
    mutating func postpone(until time: UInt64) {
        if case .down(let until) = state { state = .down(until: max(until, time)) }
    }

    public var isUp: Bool { if case .up = state { true } else { false } }

    /// When the next `timer` event is due (ns); nil when only another event can change anything.
    public var deadline: UInt64? {
        switch state {
        case .down(let until): until
        case .connecting(let deadline): deadline
        case .idle, .up, .stopped: nil
        }
    }

    /// Takes one event at a time (ns of a monotonic clock); hands back what is to be done.
    public mutating func handle(
        _ event: Event, now: UInt64, using random: inout some RandomNumberGenerator
    ) -> Action? {
        switch (state, event) {
        case (.idle, .start):
            return connect(now)
        case (.down(let until), .timer) where now >= until:
            return connect(now)
        case (.connecting(let deadline), .timer) where now >= deadline:
            attemptEnded(now, &random)
            return .abandon
        case (.connecting, .failed), (.connecting, .lost):
            attemptEnded(now, &random)
            return nil
        case (.connecting, .refused(let refusal)):
            if refusal == .permanent { refusedForGood = true }
            attemptEnded(now, &random)
            return .abandon
        case (.connecting, .again):
            state = .down(until: now)
            return .abandon
        case (.connecting, .accepted):
            state = .up(since: now)
            (tried, refusedForGood) = (0, false)
            return .announce
        case (.up(let since), .lost), (.up(let since), .failed):
            // A connection that does not last is a failure like any other; only one that held for longer than the
            // first pause can be starts the pauses anew.
            if now >= since + 3 * min(timing.base, timing.cap) { jitter.reset() }
            (broker, tried) = (0, 0)
            state = .down(until: now + jitter.next(using: &random))
            return nil
        case (.up, .stop):
            state = .stopped
            return .disconnect
        case (.connecting, .stop):
            state = .stopped
            return .abandon
        case (_, .stop):
            state = .stopped
            return nil
        default:
            return nil
        }
    }

    private mutating func connect(_ now: UInt64) -> Action {
        state = .connecting(deadline: now + timing.connectTimeout)
        return .connect(broker: broker)
    }

    /// The next broker is tried at once; after the last one comes a pause.
    private mutating func attemptEnded(_ now: UInt64, _ random: inout some RandomNumberGenerator) {
        tried += 1
        broker = (broker + 1) % brokerCount
        if tried < brokerCount {
            state = .down(until: now)
            return
        }
        let pause = jitter.next(using: &random)
        // Nothing changes soon where one was refused for good; but a fleet shall not come back in step.
        let long = timing.cap - UInt64.random(in: 0...timing.cap / 4, using: &random)
        state = .down(until: now + (refusedForGood ? long : pause))
        (tried, refusedForGood) = (0, false)
    }
}
