import Messages

/// Reads back what a broker retains of topics of ours from a run before this one, once with each broker. Pure: says what
/// to subscribe to, and is told what comes of it.
///
/// The subscriptions are the first packets of a connection, before anything of this run. The broker's answer and the
/// retained values come within a round trip; a cluster may look a value up a little later. Until then the topics are not
/// emptied. What is sent to them comes back to us as well: that shows that we may read them. Where it does not come back,
/// nothing is known of what was retained.
struct ReadBack {
    /// How long the broker may take to answer, and to send our own value back (ns).
    static let patience: UInt64 = 10_000_000_000
    /// How long a retained value may come after the answer (ns).
    static let grace: UInt64 = 1_000_000_000

    enum State: Equatable {
        /// The subscriptions are not all answered.
        case asking
        case listening
        /// The topics may be emptied; a value of this run is waited for.
        case verifying
        /// With what is known of the right to read.
        case over(isReadable: Bool)
    }

    let topics: [String]
    private(set) var state = State.asking
    /// Time at which it is due even if nothing happens (ns).
    private(set) var deadline: UInt64?
    private var unanswered: [String]
    /// Retained values that have come.
    private var values: [InboundMessage] = []
    private var hasRead = false

    init(_ topics: [String], now: UInt64) {
        self.topics = topics
        unanswered = topics
        deadline = now + Self.patience
    }

    /// The topics must not be emptied yet.
    var isHolding: Bool { state == .asking || state == .listening }

    /// The broker has answered a subscription, or has not in time.
    mutating func answered(_ topic: String, isGranted: Bool, now: UInt64) {
        guard case .asking = state else { return }
        guard isGranted else { return end(isReadable: false) }
        unanswered.removeAll { $0 == topic }
        guard unanswered.isEmpty else { return }
        state = .listening
        deadline = now + Self.grace
        stopListening(now)
    }

    /// True when the message is on one of the topics.
    mutating func takes(_ message: InboundMessage, now: UInt64) -> Bool {
        guard topics.contains(message.topic) else { return false }
        hasRead = true
        // (The broker's answer may come behind the value.)
        if message.isRetained, !values.contains(where: { $0.topic == message.topic }) { values.append(message) }
        stopListening(now)
        if state == .verifying { end(isReadable: true) }
        return true
    }

    /// The values that were retained, each once, when the topics may be emptied.
    mutating func takeValues() -> [InboundMessage] {
        guard !isHolding else { return [] }
        defer { values.removeAll() }
        return values
    }

    /// - Parameter isBusy: what was sent has not left yet, so that no answer can be there.
    mutating func look(now: UInt64, isBusy: Bool) {
        guard let due = deadline, now >= due else { return }
        if isBusy {
            deadline = now + Self.grace
        } else if state == .listening {
            verify(now)
        } else {
            end(isReadable: hasRead)
        }
    }

    private mutating func stopListening(_ now: UInt64) {
        if state == .listening, values.count == topics.count { verify(now) }
    }

    private mutating func verify(_ now: UInt64) {
        if hasRead { return end(isReadable: true) }
        state = .verifying
        deadline = now + Self.patience
    }

    private mutating func end(isReadable: Bool) {
        state = .over(isReadable: isReadable)
        deadline = nil
    }
}

/// Notices that somebody else has written a retained topic of ours, and when we say our own word again
/// (``RetainedCorrection``). Pure.
///
/// So the topics stay subscribed to. Presence alone is answered without growing pauses, so that a station that is there
/// never counts as gone.
struct RetainedWatch: Sendable, Equatable {
    /// Answers on one topic that make a finding.
    static let enough: UInt64 = 3
    /// Topics that are remembered.
    static let limit = 64

    private struct Entry: Sendable, Equatable {
        var topic: String
        var isPresence: Bool
        var correction = RetainedCorrection()
        var count: UInt64 = 0
    }

    private var entries: [Entry] = []

    /// When something is due (ns).
    var deadline: UInt64? { entries.reduce(nil) { earliest($0, $1.correction.due) } }

    /// Topics that others overwrite again and again; nil: none.
    var finding: LinkStatistics.Overwritten? {
        let found = entries.filter { $0.count >= Self.enough }
        guard !found.isEmpty else { return nil }
        return .init(topics: found.map(\.topic), count: found.reduce(0) { $0 + $1.count })
    }

    /// A value has come on a topic of ours.
    /// - Parameter isOurs: it is the one that we say.
    mutating func heard(_ topic: String, isOurs: Bool, isPresence: Bool, now: UInt64) {
        guard let index = entries.firstIndex(where: { $0.topic == topic }) else {
            guard !isOurs, entries.count < Self.limit else { return }
            var entry = Entry(topic: topic, isPresence: isPresence)
            entry.correction.heard(isOwn: false, now: now)
            entries.append(entry)
            return
        }
        entries[index].correction.heard(isOwn: isOurs, now: now)
    }

    /// The topics on which our word is to be said now.
    mutating func takeDue(now: UInt64) -> [String] {
        var topics: [String] = []
        for index in entries.indices
        where entries[index].correction.takeDue(now: now, isPresence: entries[index].isPresence) {
            topics.append(entries[index].topic)
            entries[index].count += 1
        }
        return topics
    }

    /// Forgets what has been quiet for long.
    mutating func look(now: UInt64) {
        guard !entries.isEmpty else { return }
        entries.removeAll { $0.correction.isOver(now: now) }
    }

    /// A connection is over: in the next one everything is said anew.
    mutating func disconnected() { for index in entries.indices { entries[index].correction.disconnected() } }
}

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
