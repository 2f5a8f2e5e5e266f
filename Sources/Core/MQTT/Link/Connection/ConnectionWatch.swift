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
