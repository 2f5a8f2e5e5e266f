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

/// Where and when the events of the ring were, in memory: questions are answered by looking at these alone, and only events
/// that are asked for are read from the disk. 56 bytes for an event.
public struct EventIndex: Sendable {
    /// One event. What it does not have is NaN.
    public struct Entry: Sendable, Equatable {
        /// Its row in the ring.
        public var row: Int64
        /// Origin time, or the onset of a station's event: nanoseconds of UTC.
        public var time: Int64
        /// Degrees.
        public var latitude: Double
        public var longitude: Double
        /// Kilometres.
        public var depth: Double
        public var magnitude: Double
        /// Seconds of UTC when its newest version came.
        public var updated: Int32
        /// Owner; see ``EventIndex/owners``.
        public var owner: Int32

        public init(
            row: Int64, time: Int64, latitude: Double = .nan, longitude: Double = .nan, depth: Double = .nan,
            magnitude: Double = .nan, updated: Int32 = 0, owner: Int32 = 0
        ) {
            (self.row, self.time, self.updated, self.owner) = (row, time, updated, owner)
            (self.latitude, self.longitude, self.depth, self.magnitude) = (latitude, longitude, depth, magnitude)
        }
    }

    /// Ids of stations, and `network`.
    public private(set) var owners: [String] = []
    private var numbers: [String: Int32] = [:]
    /// In the order of time; of equal times in that of rows.
    private var entries: [Entry] = []

    public init() {}

    public var count: Int { entries.count }

    /// The number that stands for an owner.
    public mutating func number(of owner: String) -> Int32 {
        if let known = numbers[owner] { return known }
        numbers[owner] = Int32(owners.count)
        owners.append(owner)
        return Int32(owners.count - 1)
    }

    private static func precedes(_ a: Entry, _ b: Entry) -> Bool { a.time != b.time ? a.time < b.time : a.row < b.row }

    /// The place of the first entry that is not before a time and row.
    private func place(_ time: Int64, _ row: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let one = entries[middle]
            if one.time < time || one.time == time && one.row < row { low = middle + 1 } else { high = middle }
        }
        return low
    }

    public mutating func insert(_ entry: Entry) {
        if let last = entries.last, Self.precedes(last, entry) { return entries.append(entry) }
        entries.insert(entry, at: place(entry.time, entry.row))
    }

    public mutating func remove(row: Int64, time: Int64) {
        let place = place(time, row)
        if place < entries.count, entries[place].row == row { entries.remove(at: place) }
    }

    /// Forgets all before a time.
    public mutating func remove(before time: Int64) { entries.removeFirst(place(time, .min)) }

    /// Conditions of a search: all that are set must hold.
    public struct Question: Sendable {
        public enum Order: String, Sendable, CaseIterable {
            case time
            case timeAscending = "time-asc"
            case magnitude
            case magnitudeAscending = "magnitude-asc"
        }

        /// Nanoseconds of UTC, both ends included.
        public var from = Int64.min
        public var to = Int64.max
        /// Degrees; a west above the east goes over 180°.
        public var box: GeoBox?
        public var circle: GeoCircle?
        /// Kilometres.
        public var depth: ClosedRange<Double>?
        public var magnitude: ClosedRange<Double>?
        /// Seconds of UTC: changed after this.
        var updatedAfter: Int32?
        /// Only these rows.
        public var among: Set<Int64>?
        public var order = Order.time
        /// So many of the answer's first are left out.
        public var offset = 0
        public var limit = 1000

        public init() {}

        fileprivate func takes(_ entry: Entry, at place: (latitude: Double, longitude: Double)) -> Bool {
            // (A comparison with NaN is false: what an event does not have is within no limits.)
            if let magnitude, !(magnitude.lowerBound <= entry.magnitude && entry.magnitude <= magnitude.upperBound) {
                return false
            }
            if let depth, !(depth.lowerBound <= entry.depth && entry.depth <= depth.upperBound) { return false }
            if let among, !among.contains(entry.row) { return false }
            if let updatedAfter, entry.updated <= updatedAfter { return false }
            if let box, !box.contains(place.latitude, place.longitude) { return false }
            return circle?.contains(place.latitude, place.longitude) ?? true
        }
    }

    /// Rows of the events that are asked for, in the order that is asked for.
    /// - Parameters:
    ///   - place: of an owner whose events have none of their own; nil: it has none.
    ///   - serves: whether the events of an owner may be seen.
    public func rows(
        _ question: Question, place: (String) -> (latitude: Double, longitude: Double)?, serves: (String) -> Bool
    ) -> [Int64] {
        let places = owners.map { place($0) ?? (.nan, .nan) }
        let served = owners.map(serves)
        let (first, behind) = (
            self.place(question.from, .min),
            question.to == .max ? entries.count : self.place(question.to + 1, .min)
        )
        guard first < behind, question.limit > 0 else { return [] }
        func takes(_ entry: Entry) -> Bool {
            guard served[Int(entry.owner)] else { return false }
            let own = (entry.latitude, entry.longitude)
            return question.takes(entry, at: entry.latitude.isNaN ? places[Int(entry.owner)] : own)
        }
        var found: [Int64] = []
        var skipped = 0
        switch question.order {
        case .time, .timeAscending:
            for step in 0..<(behind - first) where found.count < question.limit {
                let entry = entries[question.order == .time ? behind - 1 - step : first + step]
                guard takes(entry) else { continue }
                if skipped < question.offset { skipped += 1 } else { found.append(entry.row) }
            }
        case .magnitude, .magnitudeAscending:
            let isUp = question.order == .magnitudeAscending
            // Events without a magnitude come last; of equal ones the newest first.
            var taken = entries[first..<behind].filter(takes)
            taken.sort { a, b in
                if a.magnitude.isNaN || b.magnitude.isNaN || a.magnitude == b.magnitude {
                    return a.magnitude.isNaN == b.magnitude.isNaN ? Self.precedes(b, a) : b.magnitude.isNaN
                }
                return isUp ? a.magnitude < b.magnitude : a.magnitude > b.magnitude
            }
            found = taken.dropFirst(question.offset).prefix(question.limit).map(\.row)
        }
        return found
    }
}
