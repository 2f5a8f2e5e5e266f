import DatabaseFiles
import Messages
import Settings
import Values

/// Reads what stations publish on `event/…` and a network on `network/event`. All of it comes from outside.
enum EventReading {
    /// Bytes of a message of a station, and of a network.
    private static let (mostStation, mostNetwork) = (16 << 10, 256 << 10)

    /// Content of a message.
    enum Reading: Equatable {
        case event(Ring.Event)
        /// The event was none, or is part of another.
        case withdrawn(id: String, version: Int64)
        /// A valid message that is not kept.
        case nothing
    }

    /// The time in which events are taken, nanoseconds of UTC.
    struct Window {
        var oldest: Int64
        var now: Int64
        /// How far ahead of the clock.
        var ahead: Int64
    }

    private static func check(
        _ time: Int64, _ what: String, _ window: Window
    ) throws(StationDirectory.Problem) {
        if time > window.now + window.ahead {
            throw .init(
                reason: .future,
                words: "\(what) \(Timestamp(nanoseconds: time)) is after the feed's clock; feed.ahead_s allows "
                    + "\(window.ahead / 1_000_000_000) s. Check both clocks")
        }
        if time < window.oldest {
            throw .init(
                reason: .old,
                words: "\(what) \(Timestamp(nanoseconds: time)) is older than what the ring keeps (feed.days)")
        }
    }

    /// - Parameter station: the id in the topic.
    static func station(
        _ station: String, _ payload: [UInt8], _ window: Window
    ) throws(StationDirectory.Problem) -> Reading {
        guard payload.count <= mostStation else {
            throw .init(reason: .size, words: "an event has \(payload.count) bytes; allowed are \(mostStation)")
        }
        guard let tree = try? JSONReader.read(payload), case .object = tree else {
            throw .init(reason: .syntax, words: "an event is no JSON object")
        }
        guard let event = StationEventReading(tree) else {
            throw .init(
                reason: .syntax, words: "an event has no event_id, or no onset that is a time from 1920 to 2199")
        }
        guard event.kind == .end else { return .nothing }
        guard EventID.isOf(station: station, event.eventID) else {
            throw .init(
                reason: .owner,
                words: "the event `\(event.eventID.prefix(60))` is none of the station of its topic: its id has to "
                    + "begin with `\(station)-` and may have A-Z, a-z, 0-9, _ and -, 128 characters at most")
        }
        try check(event.onset, "an onset of", window)
        return .event(
            .init(
                owner: station, id: event.eventID, version: 1, time: event.onset,
                updated: Int32(clamping: window.now / 1_000_000_000), payload: payload))
    }

    static func network(_ payload: [UInt8], _ window: Window) throws(StationDirectory.Problem) -> Reading {
        guard payload.count <= mostNetwork else {
            throw .init(reason: .size, words: "a network event has \(payload.count) bytes; allowed are \(mostNetwork)")
        }
        guard let tree = try? JSONReader.read(payload), let event = NetworkEventReading(tree) else {
            throw .init(
                reason: .syntax,
                words: "a network event is no JSON object with an event_id, `net-` and 1 to 60 of A-Z, a-z, 0-9, _ "
                    + "and -, and a version from 1 on")
        }
        let version = Int64(event.version)
        if event.isWithdrawn || event.isMerged { return .withdrawn(id: event.eventID, version: version) }
        guard let origin = event.origin else {
            throw .init(reason: .syntax, words: "a network event has no origin_time from 1920 to 2199")
        }
        try check(origin, "an origin time of", window)
        if let refused = event.refused.first {
            throw .init(
                reason: .place,
                words: "\(refused.member) of an event is "
                    + "\(String(decoding: refused.value.json().prefix(40), as: UTF8.self)); allowed is "
                    + "\(refused.allowed.lowerBound)…\(refused.allowed.upperBound)")
        }
        var row = Ring.Event(
            owner: "network", id: event.eventID, version: version, time: origin,
            updated: Int32(clamping: window.now / 1_000_000_000), payload: payload)
        (row.latitude, row.longitude) = (event.latitude ?? .nan, event.longitude ?? .nan)
        (row.depth, row.magnitude) = (event.depth ?? .nan, event.magnitude?.value ?? .nan)
        return .event(row)
    }
}

/// The events of the ring: at most so many of a station, and of all together no more bytes than their part of the ring. Whoever
/// has most gives first, its oldest.
final class EventArchive {
    private static let (mostOfStation, mostOfNetwork) = (2000, 1_000_000)
    private static let network = "network"
    private static let mostRemembered = 1000

    private let ring: Ring
    private let mostBytes: Int
    /// Where and when they were.
    private(set) var index: EventIndex
    private var uses: [String: (count: Int, bytes: Int)]
    private var bytes: Int
    /// Newest versions of network events that were withdrawn, so that an older one does not bring them back.
    private var withdrawn: [String: Int64] = [:]

    /// - Parameter mostBytes: of all events together.
    init(ring: Ring, mostBytes: Int) throws(DatabaseError) {
        (self.ring, self.mostBytes) = (ring, mostBytes)
        index = try ring.eventIndex()
        uses = try ring.eventUse()
        bytes = uses.values.reduce(0) { $0 + $1.bytes }
    }

    /// Adds an event, in the place of an older version of it.
    /// - Returns: how many events of which owners had to go for it.
    func add(_ event: Ring.Event) throws(DatabaseError) -> [String: Int] {
        if event.owner == Self.network, event.version <= withdrawn[event.id] ?? .min { return [:] }
        if let known = try ring.event(of: event.owner, id: event.id) {
            // Of a network the newest version counts, of a station the newest message.
            if event.owner == Self.network, event.version <= known.version { return [:] }
            try remove(row: known.row, time: known.time, size: known.size, of: event.owner)
        }
        let row = try ring.add(event)
        index.insert(
            .init(
                row: row, time: event.time, latitude: event.latitude, longitude: event.longitude, depth: event.depth,
                magnitude: event.magnitude, updated: event.updated, owner: index.number(of: event.owner)))
        let use = uses[event.owner] ?? (0, 0)
        uses[event.owner] = (use.count + 1, use.bytes + event.payload.count)
        bytes += event.payload.count
        return try giveUp(event.owner)
    }

    private func giveUp(_ owner: String) throws(DatabaseError) -> [String: Int] {
        var gone: [String: Int] = [:]
        let most = owner == Self.network ? Self.mostOfNetwork : Self.mostOfStation
        while true {
            let isTooMany = uses[owner]?.count ?? 0 > most
            guard isTooMany || bytes > mostBytes,
                let giver = isTooMany
                    ? owner : uses.max(by: { ($0.value.bytes, $0.key) < ($1.value.bytes, $1.key) })?.key,
                let oldest = try ring.oldestEvent(of: giver)
            else { return gone }
            try remove(row: oldest.row, time: oldest.time, size: oldest.size, of: giver)
            gone[giver, default: 0] += 1
        }
    }

    /// A network event is none, or part of another.
    func withdraw(_ id: String, version: Int64) throws(DatabaseError) {
        guard version > withdrawn[id] ?? .min else { return }
        if let known = try ring.event(of: Self.network, id: id) {
            guard version > known.version else { return }
            try remove(row: known.row, time: known.time, size: known.size, of: Self.network)
        }
        if withdrawn.count >= Self.mostRemembered { withdrawn = [:] }
        withdrawn[id] = version
    }

    func trim(before time: Int64) throws(DatabaseError) {
        let count = index.count
        index.remove(before: time)
        guard index.count < count else { return }
        try ring.removeEvents(before: time)
        uses = try ring.eventUse()
        bytes = uses.values.reduce(0) { $0 + $1.bytes }
    }

    private func remove(row: Int64, time: Int64, size: Int, of owner: String) throws(DatabaseError) {
        try ring.removeEvent(row: row)
        index.remove(row: row, time: time)
        let use = uses[owner] ?? (1, size)
        uses[owner] = use.count <= 1 ? nil : (use.count - 1, use.bytes - size)
        bytes -= size
    }
}

/// Descriptions of stations on the disk for the next run: at most so many bytes of all together. Stations that send no
/// samples give first, the one that was heard of first; the broker retains the descriptions in any case.
struct MessageArchive {
    /// Bytes of the file that a message takes besides its own.
    private static let bytesOfRow = 2048

    private let ring: Ring
    private let mostBytes: Int
    private var bytes = 0
    private var uses: [String: [String: Int]] = [:]
    /// Stations in the order in which they were first heard of.
    private var order: [String] = []

    /// - Parameter mostBytes: of all messages together.
    init(ring: Ring, mostBytes: Int) { (self.ring, self.mostBytes) = (ring, mostBytes) }

    /// Takes note of a former run's message that is on the disk already.
    mutating func know(_ station: String, _ topic: String, bytes count: Int) {
        if uses[station] == nil { order.append(station) }
        let use = count + Self.bytesOfRow
        bytes += use - (uses[station]?[topic] ?? 0)
        uses[station, default: [:]][topic] = use
    }

    /// Keeps a message in the place of the one before.
    /// - Parameter hasSamples: whether there are samples of a station.
    mutating func set(
        _ station: String, _ topic: String, _ payload: [UInt8], hasSamples: (String) -> Bool
    ) throws(DatabaseError) {
        try ring.set(station, topic, payload)
        know(station, topic, bytes: payload.count)
        try limit(hasSamples)
    }

    /// - Parameter hasSamples: whether there are samples of a station.
    mutating func limit(_ hasSamples: (String) -> Bool) throws(DatabaseError) {
        guard bytes > mostBytes else { return }
        // (A tenth more, so that not each message looks through all of them.)
        let enough = mostBytes - mostBytes / 10
        for isLast in [false, true] {
            var kept: [String] = []
            for station in order {
                guard bytes > enough, isLast || !hasSamples(station) else {
                    kept.append(station)
                    continue
                }
                try ring.removeMessages(of: station)
                bytes -= uses.removeValue(forKey: station)?.values.reduce(0, +) ?? 0
            }
            order = kept
        }
    }
}
