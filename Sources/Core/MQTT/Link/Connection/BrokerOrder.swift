/// Which broker is tried next, and after which pause. Pure: the time and the random numbers are passed in.
struct BrokerOrder: Sendable, Equatable {
    struct Timing: Sendable, Equatable {
        /// Nanoseconds.
        var base: UInt64
        var cap: UInt64
        init(base: UInt64, cap: UInt64) {
            self.base = base
            self.cap = max(base, cap)
        }
    }

    /// Index of the broker of the present or next attempt.
    private(set) var broker = 0
    private let count: Int
    private var timing: Timing
    private var jitter: DecorrelatedJitter
    /// Brokers tried since the last pause or connection.
    private var tried = 0
    /// One of those refused permanently: the pause is the longest.
    private var isRefused = false

    /// - Parameter count: how many brokers there are to try in order, at least 1.
    init(count: Int, timing: Timing) {
        self.count = max(1, count)
        self.timing = timing
        jitter = DecorrelatedJitter(base: timing.base, cap: timing.cap)
    }

    /// Other pauses, which begin anew.
    /// - Returns: the longest pause (ns) from now on; nil: nothing has changed.
    mutating func change(_ timing: Timing) -> UInt64? {
        guard timing != self.timing else { return nil }
        self.timing = timing
        jitter = DecorrelatedJitter(base: timing.base, cap: timing.cap)
        return timing.cap
    }

    /// An attempt failed. The next broker is tried at once; after the last one comes a pause.
    /// - Returns: when the next attempt is due (ns).
    mutating func failed(
        isPermanent: Bool, now: UInt64, using random: inout AnyRandom
    ) -> UInt64 {
        if isPermanent { isRefused = true }
        tried += 1
        broker = (broker + 1) % count
        if tried < count { return now }
        let pause = jitter.next(using: &random)
        // Nothing changes soon where one refused permanently; but a fleet must not come back in step.
        let long = timing.cap - UInt64.random(in: 0...timing.cap / 4, using: &random)
        defer { (tried, isRefused) = (0, false) }
        return now + (isRefused ? long : pause)
    }

    /// An attempt became a connection.
    mutating func succeeded() { (tried, isRefused) = (0, false) }

    /// A connection that came up at `since` was lost. One that did not last is a failure like any other; only one that
    /// held for longer than the first pause can be starts the pauses anew.
    /// - Returns: when the next attempt is due (ns).
    mutating func lost(since: UInt64, now: UInt64, using random: inout AnyRandom) -> UInt64 {
        if now >= since + 3 * min(timing.base, timing.cap) { jitter.reset() }
        (broker, tried) = (0, 0)
        return now + jitter.next(using: &random)
    }

    /// The end of a connection was expected: the next pause is a first one.
    /// - Returns: when the next attempt is due (ns).
    mutating func forgiven(now: UInt64, using random: inout AnyRandom) -> UInt64 {
        jitter.reset()
        return now + jitter.next(using: &random)
    }
}

/// Meaning of a CONNACK code that is not success for the next attempt: return codes of MQTT 3.1.1 (1 to 5) or reason
/// codes of MQTT 5 (128 and above).
enum ConnackCode {
    /// True for faults that do not pass: wrong password, not authorised, banned, protocol or client id not accepted.
    static func isPermanent(_ code: Int) -> Bool { [1, 132].contains(code) || isAboutCredentials(code) }

    /// Wrong name or password, not authorised, banned, another kind of authentication wanted, or the client id.
    static func isAboutCredentials(_ code: Int) -> Bool { [2, 4, 5, 133, 134, 135, 138, 140].contains(code) }
}

/// Pauses between attempts: each is random between the base and three times the one before, never above the cap.
/// Boards that lost the same broker at the same moment so come back spread out, and sooner than with plain
/// doubling. (M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.)
struct DecorrelatedJitter: Sendable, Equatable {
    /// Nanoseconds.
    let base: UInt64
    let cap: UInt64
    private var last: UInt64

    init(base: UInt64, cap: UInt64) {
        self.base = max(1, base)
        self.cap = max(self.base, cap)
        last = self.base
    }

    /// The next pause in nanoseconds.
    mutating func next(using random: inout some RandomNumberGenerator) -> UInt64 {
        let upper = last > cap / 3 ? max(base, min(cap, last) * 3) : last * 3
        last = min(cap, UInt64.random(in: base...max(base, upper), using: &random))
        return last
    }

    mutating func reset() { last = base }
}

/// A source of random numbers that is passed in as a function.
struct AnyRandom: RandomNumberGenerator {
    private let source: () -> UInt64
    init(_ source: @escaping () -> UInt64) { self.source = source }
    mutating func next() -> UInt64 { source() }
    static var system: AnyRandom {
        AnyRandom {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
    }
}

/// Finds a dead connection that nothing has reported yet: the peer is gone, or hangs. Pure: the time is
/// passed in.
///
/// libmosquitto 2.0.11 pings when it has heard nothing for the keepalive, and gives up after another one: twice the
/// keepalive, looked at once a second. Here it is over when nothing has come for 1.5 times the keepalive, which leaves the
/// ping half of it, and when the broker answers pings but acknowledges nothing for a while.
struct ConnectionWatch: Sendable, Equatable {
    enum Verdict: Sendable, Equatable { case silent, unacknowledged }

    /// Longest time without a byte from the broker (ns); nil: no limit.
    private var silence: UInt64?
    /// Longest time without an acknowledgement while some are awaited (ns).
    var patience: UInt64
    private var heardAt: UInt64 = 0
    private var waitingSince: UInt64?
    private var line: LineState?

    init(patience: UInt64) { self.patience = patience }

    /// A connection came up.
    /// - Parameter keepalive: seconds, the broker's if it has said one; 0: none.
    mutating func begin(now: UInt64, keepalive: Int) {
        silence = keepalive > 0 ? UInt64(keepalive) * 1_500_000_000 : nil
        heardAt = now
        waitingSince = nil
        line = nil
    }

    /// Bytes have come.
    mutating func heard(now: UInt64) { heardAt = now }

    mutating func acknowledged(now: UInt64) {
        heardAt = now
        waitingSince = nil
    }

    /// To be called after all that can change it.
    /// - Parameters:
    ///   - isWaiting: messages are on their way without acknowledgement.
    ///   - isWriting: bytes wait for the line; the broker cannot acknowledge what it does not have.
    ///   - line: a slow line with a backlog is no dead one. The ping waits behind all that was given to the kernel, so
    ///     that no answer can be expected before that has left; as long as it does, the peer is there.
    mutating func look(now: UInt64, isWaiting: Bool, isWriting: Bool, line: LineState? = nil) {
        if let line, let before = self.line, line.waiting > 0, before.waiting > 0,
            line.acknowledged > before.acknowledged
        {
            heardAt = now
            if waitingSince != nil { waitingSince = now }
        }
        self.line = line
        if !isWaiting { waitingSince = nil } else if isWriting || waitingSince == nil { waitingSince = now }
    }

    /// Reason why the connection must be given up now; nil: it works.
    func verdict(now: UInt64) -> Verdict? {
        if let silence, now >= heardAt + silence { return .silent }
        if let waitingSince, now >= waitingSince + patience { return .unacknowledged }
        return nil
    }

    /// When the next verdict may be due (ns).
    var deadline: UInt64? {
        let first = silence.map { heardAt + $0 }
        let second = waitingSince.map { $0 + patience }
        guard let first, let second else { return first ?? second }
        return min(first, second)
    }
}
