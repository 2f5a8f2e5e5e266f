/// Notices that another station has our client id. Pure.
///
/// A broker keeps only the newest connection of a client id: two stations with one id disconnect each other for ever. With
/// MQTT 5 it should say so (0x8E); mosquitto 2.0.11 does not. Otherwise working connections just end, for no visible
/// reason: some of those within ten minutes are a good sign, and a foreign value on our own topic when we come back is a
/// sure one.
struct DuplicateWatch: Sendable, Equatable {
    /// DISCONNECT with this reason (MQTT 5): session taken over.
    static let takenOver = 142
    /// Number of ends without a reason, and of foreign values on our topic, that make a finding.
    static let enough = 4
    static let enoughWords = 3
    /// Silence before the end of a connection from which no message is at fault (ns).
    static let idle: UInt64 = 200_000_000
    /// Signs are forgotten after this time without another, while there is no finding (ns).
    static let memory: UInt64 = 600_000_000_000

    /// Times that our place was taken.
    private var count: UInt64 = 0
    private var words = 0
    private var isSaid = false
    private var lastSign: UInt64 = 0
    private var upSince: UInt64?
    /// The last connection ended like that.
    private var isNew = false
    private var pause: UInt64 = 0
    /// After a connection of this length the other station counts as gone (ns).
    private var calm: UInt64 = 60_000_000_000

    /// Finding to report; nil: nothing.
    var finding: LinkStatistics.Duplicate? {
        let isSure = isSaid || words >= Self.enoughWords
        return isSure || count >= Self.enough ? .init(count: count, isSure: isSure) : nil
    }

    /// There was a sign.
    var isSuspected: Bool { count > 0 }

    mutating func connected(now: UInt64) { upSince = now }

    /// A connection ended.
    /// - Parameters:
    ///   - wasWell: messages were acknowledged, and nothing was on its way.
    ///   - idle: how long nothing was sent before the end (ns).
    mutating func lost(byPeer: Bool, code: Int, wasWell: Bool, idle: UInt64, now: UInt64) {
        upSince = nil
        // Once it is known, every such end is one more.
        isNew = code == Self.takenOver || byPeer && code == 0 && (wasWell && idle >= Self.idle || finding != nil)
        guard isNew else { return }
        if finding == nil, now - lastSign > Self.memory { (count, words) = (0, 0) }
        if code == Self.takenOver { isSaid = true }
        count += 1
        lastSign = now
    }

    /// Our own topic says what we have not said.
    mutating func foreignWords(now: UInt64) {
        if finding == nil, now - min(now, lastSign) > Self.memory { (count, words) = (0, 0) }
        words = min(words + 1, Self.enoughWords)
        lastSign = now
    }

    /// How long to wait after the end of a connection (ns), more with each: two stations that compete must not trouble the
    /// broker, nor those who read.
    mutating func nextPause(longest: UInt64, using random: inout some RandomNumberGenerator) -> UInt64? {
        guard isNew, finding != nil else { return nil }
        let longest = min(longest, 300_000_000_000)
        pause = min(max(2 * pause, longest / 32), longest)
        // The other may wait as long as we do.
        calm = 2 * max(pause, min(longest, 30_000_000_000))
        return pause - UInt64.random(in: 0...pause / 4, using: &random)
    }

    mutating func look(now: UInt64) {
        guard finding != nil, let since = upSince, now - min(now, max(since, lastSign)) >= calm else { return }
        self = DuplicateWatch()
        upSince = since
    }
}
