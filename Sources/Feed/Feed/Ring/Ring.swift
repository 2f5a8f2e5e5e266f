import DatabaseFiles
import Glibc
import MiniSEED

/// The ring on the disk: packets, what is in none yet, events, and who the stations are. One connection writes (the hub's
/// thread), others read (the server's threads, each its own).
public final class Ring: @unchecked Sendable {
    /// "SeiF", so that no other database is taken for ours.
    private static let application = 0x5365_6946
    private static let tables = [
        "CREATE TABLE station(n INTEGER PRIMARY KEY, id TEXT NOT NULL, network TEXT NOT NULL, code TEXT NOT NULL, last INTEGER NOT NULL DEFAULT 0, UNIQUE(network, code))",
        "CREATE TABLE channel(n INTEGER PRIMARY KEY, station INTEGER NOT NULL, location TEXT NOT NULL, code TEXT NOT NULL, rate REAL NOT NULL, next INTEGER, UNIQUE(station, location, code))",
        // The key is the station and the number of the packet; those that came late have negative keys.
        "CREATE TABLE packet(key INTEGER PRIMARY KEY, channel INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, data BLOB NOT NULL)",
        "CREATE INDEX packet_time ON packet(channel, start)",
        "CREATE TABLE tail(channel INTEGER PRIMARY KEY, start INTEGER NOT NULL, samples BLOB NOT NULL)",
        "CREATE TABLE missing(n INTEGER PRIMARY KEY, channel INTEGER NOT NULL, start INTEGER NOT NULL, stop INTEGER NOT NULL, samples INTEGER NOT NULL)",
        "CREATE TABLE message(station TEXT NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL, PRIMARY KEY(station, topic)) WITHOUT ROWID",
    ]
    /// Rings of before have none of these.
    private static let laterTables = [
        // How far another server has been given the records.
        "CREATE TABLE IF NOT EXISTS forwarded(target TEXT NOT NULL, station TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY(target, station)) WITHOUT ROWID",
        // Finds what is missing of a channel.
        "CREATE INDEX IF NOT EXISTS missing_time ON missing(channel, start)",
        // Events; an id belongs to its owner: another station may have the same.
        "CREATE TABLE IF NOT EXISTS occurrence(n INTEGER PRIMARY KEY, owner TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, time INTEGER NOT NULL, updated INTEGER NOT NULL, latitude REAL, longitude REAL, depth REAL, magnitude REAL, size INTEGER NOT NULL, payload BLOB NOT NULL, UNIQUE(owner, id))",
        // Has all that the index in memory is made of.
        "CREATE INDEX IF NOT EXISTS occurrence_time ON occurrence(time, updated, latitude, longitude, depth, magnitude, owner, size)",
        "CREATE INDEX IF NOT EXISTS occurrence_id ON occurrence(id)",
        "CREATE INDEX IF NOT EXISTS occurrence_owner ON occurrence(owner, time, size)",
    ]
    private static let stationShift = Int64(40)
    /// Bytes of the file that a record takes, with its keys.
    static let bytesOfRecord = 620

    private let file: DatabaseFile

    /// Bytes of a folder of so many that the write-ahead log may have.
    static func logBytes(of bytes: Int) -> Int { min(16 << 20, bytes / 10) }

    /// - Parameters:
    ///   - writes: makes the file where it is not there.
    ///   - bytes: of the folder; see ``logBytes(of:)``.
    public init(folder: String, writes: Bool, bytes: Int = 1_000_000_000) throws(DatabaseError) {
        if writes { mkdir(folder, 0o750) }
        var opening = DatabaseFile.Opening(writes: writes)
        opening.logBytes = Self.logBytes(of: bytes)
        file = try DatabaseFile(
            folder + "/feed.db", application: Self.application, tables: Self.tables, opening)
        if writes { for table in Self.laterTables { try file.execute(table) } }
    }

    /// All of it or nothing is on the disk afterwards.
    public func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        try file.transaction(body)
    }

    // MARK: Stations and channels

    /// A channel as it is kept.
    public struct Channel: Sendable {
        public var number: Int64
        public var station: Int64
        public var location: String
        public var code: String
        public var rate: Double
        /// Nanoseconds of UTC: of the sample that comes next, and of the first and last one in records.
        public var next: Int64?
        public var begin: Int64?
        public var end: Int64?
        /// When the first record that did not come late begins.
        var orderedBegin: Int64?
    }

    public struct Station: Sendable {
        public var number: Int64
        /// As in topics.
        public var id: String
        public var network: String
        public var code: String
        /// Numbers of its oldest and newest packet.
        public var first: UInt64
        public var last: UInt64
    }

    public func stations() throws(DatabaseError) -> [Station] {
        var found = try file.rows("SELECT n, id, network, code, last FROM station ORDER BY n") {
            Station(
                number: $0.int(0), id: $0.text(1), network: $0.text(2), code: $0.text(3), first: 1,
                last: UInt64(max(0, $0.int(4))))
        }
        for index in found.indices { found[index].first = try firstSequence(found[index].number, found[index].last) }
        return found
    }

    /// - Returns: the number of the oldest packet; above `last` where there is none.
    func firstSequence(_ station: Int64, _ last: UInt64) throws(DatabaseError) -> UInt64 {
        let keys = try file.rows(
            "SELECT key FROM packet WHERE key >= ? AND key < ? ORDER BY key LIMIT 1",
            [.int(Self.key(station, 0)), .int(Self.key(station + 1, 0))]
        ) { $0.int(0) }
        return keys.first.map(Self.sequence) ?? last + 1
    }

    public func channels() throws(DatabaseError) -> [Channel] {
        try file.rows(
            """
            SELECT n, station, location, code, rate, next, (SELECT min(start) FROM packet WHERE channel = channel.n), \
            (SELECT stop FROM packet WHERE channel = channel.n ORDER BY start DESC LIMIT 1), \
            (SELECT start FROM packet WHERE channel = channel.n AND key > 0 ORDER BY start LIMIT 1) FROM channel ORDER BY n
            """
        ) { row in
            Channel(
                number: row.int(0), station: row.int(1), location: row.text(2), code: row.text(3), rate: row.real(4),
                next: row.isNull(5) ? nil : row.int(5), begin: row.isNull(6) ? nil : row.int(6),
                end: row.isNull(7) ? nil : row.int(7), orderedBegin: row.isNull(8) ? nil : row.int(8))
        }
    }

    public func rate(of channel: Int64) throws(DatabaseError) -> Double? {
        try file.rows("SELECT rate FROM channel WHERE n = ?", [.int(channel)]) { $0.real(0) }.first
    }

    func addStation(_ id: String, _ network: String, _ code: String) throws(DatabaseError) -> Int64 {
        try file.run("INSERT INTO station(id, network, code) VALUES(?, ?, ?)", .text(id), .text(network), .text(code))
        return file.lastRow
    }

    func addChannel(
        _ station: Int64, _ location: String, _ code: String, _ rate: Double
    ) throws(DatabaseError) -> Int64 {
        try file.run(
            "INSERT INTO channel(station, location, code, rate) VALUES(?, ?, ?, ?)", .int(station), .text(location),
            .text(code), .real(rate))
        return file.lastRow
    }

    // MARK: Packets

    private static func key(_ station: Int64, _ sequence: UInt64) -> Int64 {
        station << stationShift | Int64(truncatingIfNeeded: sequence & (1 << 40 - 1))
    }

    private static func sequence(_ key: Int64) -> UInt64 { UInt64(key & (1 << stationShift - 1)) }

    /// Packets of a station with numbers from `sequence` on, in order.
    public func packets(_ station: Int64, from sequence: UInt64, most: Int) throws(DatabaseError) -> [FeedPacket] {
        try file.rows(
            """
            SELECT key, location, code, start, stop, data FROM packet JOIN channel ON channel.n = packet.channel \
            WHERE key >= ? AND key < ? ORDER BY key LIMIT ?
            """,
            [.int(Self.key(station, sequence)), .int(Self.key(station + 1, 0)), .int(Int64(most))]
        ) { row in
            FeedPacket(
                sequence: Self.sequence(row.int(0)), location: row.text(1), channel: row.text(2), start: row.int(3),
                end: row.int(4), record: row.bytes(5))
        }
    }

    /// The first packet of a station, in the order of numbers, whose samples reach a time.
    public func sequence(_ station: Int64, reaching time: Int64) throws(DatabaseError) -> UInt64? {
        let keys = try file.rows(
            """
            SELECT min((SELECT min(key) FROM (SELECT key FROM packet WHERE channel = channel.n AND key > 0 AND \
            start >= ? - 600000000000 AND stop >= ? ORDER BY start LIMIT 8))) FROM channel WHERE station = ?
            """, [.int(time), .int(time), .int(station)]
        ) { $0.isNull(0) ? nil : $0.int(0) }
        return keys.compactMap { $0 }.first.map(Self.sequence)
    }

    /// Records of a channel that have samples in a time, in the order of time, those that came late among them.
    /// - Parameter after: only those that begin later.
    public func records(
        _ channel: Int64, from: Int64, to: Int64, after: Int64, most: Int
    ) throws(DatabaseError) -> [(start: Int64, end: Int64, data: [UInt8])] {
        // A record lasts 10 minutes at most (Packetiser).
        try file.rows(
            """
            SELECT start, stop, data FROM packet WHERE channel = ? AND start > ? AND start >= ? AND start <= ? \
            AND stop >= ? ORDER BY start LIMIT ?
            """,
            [
                .int(channel), .int(after), .int(from - 600_000_000_000), .int(to), .int(from), .int(Int64(most)),
            ]
        ) { ($0.int(0), $0.int(1), $0.bytes(2)) }
    }

    /// Times of the first and last sample of a channel's records of a time, in the order of their begin.
    /// - Parameter most: so many of them, the newest.
    public func spans(
        _ channel: Int64, _ time: ClosedRange<Int64>, most: Int = .max
    ) throws(DatabaseError) -> [(start: Int64, end: Int64)] {
        try file.rows(
            """
            SELECT start, stop FROM packet WHERE channel = ? AND start >= ? AND start <= ? AND stop >= ? \
            ORDER BY start DESC LIMIT ?
            """,
            [
                .int(channel), .int(max(time.lowerBound, .min + 600_000_000_000) - 600_000_000_000),
                .int(time.upperBound), .int(time.lowerBound), .int(Int64(most)),
            ]
        ) { ($0.int(0), $0.int(1)) }.reversed()
    }

    /// The same in the order of time, a part after the other.
    /// - Parameters:
    ///   - after: only those that begin later.
    ///   - most: so many of them, the oldest.
    public func spans(
        _ channel: Int64, _ time: ClosedRange<Int64>, after: Int64, most: Int
    ) throws(DatabaseError) -> [(start: Int64, end: Int64)] {
        try file.rows(
            """
            SELECT start, stop FROM packet WHERE channel = ? AND start > ? AND start >= ? AND start <= ? AND stop >= ? \
            ORDER BY start LIMIT ?
            """,
            [
                .int(channel), .int(after), .int(max(time.lowerBound, .min + 600_000_000_000) - 600_000_000_000),
                .int(time.upperBound), .int(time.lowerBound), .int(Int64(most)),
            ]
        ) { ($0.int(0), $0.int(1)) }
    }

    public func add(
        _ packet: Packetiser.Made, number: UInt64, of station: Int64, channel: Int64
    ) throws(DatabaseError) {
        try add(packet, key: Self.key(station, number), channel)
    }

    /// Adds a packet that is not in the order of numbers.
    public func add(late packet: Packetiser.Made, channel: Int64) throws(DatabaseError) {
        try add(packet, key: min(0, try file.number("SELECT min(key) FROM packet")) - 1, channel)
    }

    private func add(_ packet: Packetiser.Made, key: Int64, _ channel: Int64) throws(DatabaseError) {
        try file.run(
            "INSERT INTO packet(key, channel, start, stop, data) VALUES(?, ?, ?, ?, ?)", .int(key), .int(channel),
            .int(packet.start), .int(packet.end), .bytes(packet.bytes))
    }

    func setLast(_ station: Int64, _ last: UInt64) throws(DatabaseError) {
        try file.run("UPDATE station SET last = ? WHERE n = ?", .int(Int64(last)), .int(station))
    }

    /// Sets the samples that are in no packet yet, and the next time.
    func setTail(_ channel: Int64, _ tail: ChannelBlock?, next: Int64) throws(DatabaseError) {
        if let tail {
            let bytes = tail.samples.withUnsafeBytes { [UInt8]($0) }
            try file.run(
                "INSERT OR REPLACE INTO tail(channel, start, samples) VALUES(?, ?, ?)", .int(channel), .int(tail.start),
                .bytes(bytes))
        } else {
            try file.run("DELETE FROM tail WHERE channel = ?", .int(channel))
        }
        try file.run("UPDATE channel SET next = ? WHERE n = ?", .int(next), .int(channel))
    }

    func tails() throws(DatabaseError) -> [(channel: Int64, start: Int64, samples: [Int32])] {
        try file.rows("SELECT channel, start, samples FROM tail") { row in
            let bytes = row.bytes(2)
            let samples = bytes.withUnsafeBytes { raw in
                (0..<bytes.count / 4).map { raw.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self) }
            }
            return (row.int(0), row.int(1), samples)
        }
    }

    /// Returns the number of packets of each channel.
    func packetCounts() throws(DatabaseError) -> [Int64: Int] {
        let rows = try file.rows("SELECT channel, count(*) FROM packet GROUP BY channel") {
            ($0.int(0), Int($0.int(1)))
        }
        return Dictionary(rows) { $1 }
    }

    /// Packets and holes that begin before a time go.
    /// - Returns: how many packets of each channel.
    public func trim(before time: Int64, channels: [Int64]) throws(DatabaseError) -> [Int64: Int] {
        var counts: [Int64: Int] = [:]
        for channel in channels {
            try file.run("DELETE FROM packet WHERE channel = ? AND start < ?", .int(channel), .int(time))
            if file.changes > 0 { counts[channel] = file.changes }
        }
        try file.run("DELETE FROM missing WHERE stop < ?", .int(time))
        return counts
    }

    /// The oldest packets of a station go: those that came late before the others.
    /// - Returns: how many of each channel.
    public func trim(_ station: Int64, channels: [Int64], packets count: Int) throws(DatabaseError) -> [Int64: Int] {
        var counts: [Int64: Int] = [:]
        var left = count
        for channel in channels where left > 0 {
            try file.run(
                "DELETE FROM packet WHERE key IN (SELECT key FROM packet WHERE channel = ? AND key <= 0 ORDER BY start LIMIT ?)",
                .int(channel), .int(Int64(left)))
            if file.changes > 0 { counts[channel, default: 0] += file.changes }
            left -= file.changes
        }
        guard left > 0 else { return counts }
        let oldest = try file.rows(
            "SELECT key, channel FROM packet WHERE key >= ? AND key < ? ORDER BY key LIMIT ?",
            [.int(Self.key(station, 0)), .int(Self.key(station + 1, 0)), .int(Int64(left))]
        ) { ($0.int(0), $0.int(1)) }
        guard let first = oldest.first, let last = oldest.last else { return counts }
        try file.run("DELETE FROM packet WHERE key >= ? AND key <= ?", .int(first.0), .int(last.0))
        for (_, channel) in oldest { counts[channel, default: 0] += 1 }
        return counts
    }

    /// Bytes of the file that hold something.
    func usedBytes() throws(DatabaseError) -> Int {
        let pages = try file.number("PRAGMA page_count") - file.number("PRAGMA freelist_count")
        return Int(pages * (try file.number("PRAGMA page_size")))
    }

    // MARK: Holes

    /// - Parameters:
    ///   - start: time of the first sample that is missing.
    ///   - stop: time of the first that is not.
    func addMissing(_ channel: Int64, _ start: Int64, _ stop: Int64, _ samples: Int) throws(DatabaseError) {
        try file.run(
            "INSERT INTO missing(channel, start, stop, samples) VALUES(?, ?, ?, ?)", .int(channel), .int(start),
            .int(stop), .int(Int64(samples)))
    }

    /// The oldest holes of a channel go, so that so many are left at most.
    func trimHoles(_ channel: Int64, to most: Int) throws(DatabaseError) {
        try file.run(
            "DELETE FROM missing WHERE channel = ? AND start <= (SELECT start FROM missing WHERE channel = ? ORDER BY start DESC LIMIT 1 OFFSET ?)",
            .int(channel), .int(channel), .int(Int64(most)))
    }

    /// Ranges that were declared missing of a channel and begin at a time at the latest: from the first sample that is
    /// missing to the first that is not, the newest first. Samples that have come later are in records nevertheless.
    public func holes(_ channel: Int64, until time: Int64, most: Int) throws(DatabaseError) -> [ClosedRange<Int64>] {
        try file.rows(
            "SELECT start, stop FROM missing WHERE channel = ? AND start <= ? ORDER BY start DESC LIMIT ?",
            [.int(channel), .int(time), .int(Int64(most))]
        ) { $0.int(0)...max($0.int(0), $0.int(1)) }
    }

    /// The newest holes of all channels: the channel's number, and as above.
    public func holes(most: Int) throws(DatabaseError) -> [(channel: Int64, from: Int64, to: Int64)] {
        try file.rows("SELECT channel, start, stop FROM missing ORDER BY n DESC LIMIT ?", [.int(Int64(most))]) {
            ($0.int(0), $0.int(1), $0.int(2))
        }
    }

    // MARK: Another server

    /// By station, such as `XX_BASE`: the number of the newest packet that a server has been given.
    public func given(to target: String) throws(DatabaseError) -> [String: UInt64] {
        let rows = try file.rows("SELECT station, sequence FROM forwarded WHERE target = ?", [.text(target)]) {
            ($0.text(0), UInt64(max(0, $0.int(1))))
        }
        return Dictionary(rows) { $1 }
    }

    public func set(given: [String: UInt64], to target: String) throws(DatabaseError) {
        for (station, sequence) in given {
            try file.run(
                "INSERT OR REPLACE INTO forwarded(target, station, sequence) VALUES(?, ?, ?)", .text(target),
                .text(station), .int(Int64(sequence)))
        }
    }

    // MARK: Messages

    public func set(_ station: String, _ topic: String, _ payload: [UInt8]) throws(DatabaseError) {
        try file.run(
            "INSERT OR REPLACE INTO message(station, topic, payload) VALUES(?, ?, ?)", .text(station), .text(topic),
            .bytes(payload))
    }

    /// Removes a station's messages.
    func removeMessages(of station: String) throws(DatabaseError) {
        try file.run("DELETE FROM message WHERE station = ?", .text(station))
    }

    public func messages() throws(DatabaseError) -> [(station: String, topic: String, payload: [UInt8])] {
        try file.rows("SELECT station, topic, payload FROM message") { ($0.text(0), $0.text(1), $0.bytes(2)) }
    }

    // MARK: Events

    /// An event as it is kept. The place, depth and magnitude are NaN where it has none.
    public struct Event: Sendable, Equatable {
        /// A station's id, or `network`.
        public var owner: String
        public var id: String
        public var version: Int64
        /// Origin time, or onset: nanoseconds of UTC.
        public var time: Int64
        /// When this version came, seconds of UTC.
        public var updated: Int32
        public var latitude = Double.nan
        public var longitude = Double.nan
        /// Kilometres.
        public var depth = Double.nan
        public var magnitude = Double.nan
        public var payload: [UInt8]

        public init(owner: String, id: String, version: Int64, time: Int64, updated: Int32, payload: [UInt8]) {
            (self.owner, self.id, self.version) = (owner, id, version)
            (self.time, self.updated, self.payload) = (time, updated, payload)
        }
    }

    /// Adds an event. One of the same owner and id must have been removed before.
    /// - Returns: its row.
    public func add(_ event: Event) throws(DatabaseError) -> Int64 {
        // (SQLite keeps NaN as NULL.)
        try file.run(
            "INSERT INTO occurrence(owner, id, version, time, updated, latitude, longitude, depth, magnitude, size, payload) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            .text(event.owner), .text(event.id), .int(event.version), .int(event.time), .int(Int64(event.updated)),
            .real(event.latitude), .real(event.longitude), .real(event.depth), .real(event.magnitude),
            .int(Int64(event.payload.count)), .bytes(event.payload))
        return file.lastRow
    }

    /// Reads an owner's event.
    public func event(
        of owner: String, id: String
    ) throws(DatabaseError) -> (row: Int64, time: Int64, version: Int64, size: Int)? {
        try file.rows(
            "SELECT n, time, version, size FROM occurrence WHERE owner = ? AND id = ?", [.text(owner), .text(id)]
        ) { ($0.int(0), $0.int(1), $0.int(2), Int($0.int(3))) }.first
    }

    /// The oldest event of an owner.
    func oldestEvent(of owner: String) throws(DatabaseError) -> (row: Int64, time: Int64, size: Int)? {
        try file.rows(
            "SELECT n, time, size FROM occurrence WHERE owner = ? ORDER BY time LIMIT 1", [.text(owner)]
        ) { ($0.int(0), $0.int(1), Int($0.int(2))) }.first
    }

    func removeEvent(row: Int64) throws(DatabaseError) {
        try file.run("DELETE FROM occurrence WHERE n = ?", .int(row))
    }

    /// Events of before a time go.
    func removeEvents(before time: Int64) throws(DatabaseError) {
        try file.run("DELETE FROM occurrence WHERE time < ?", .int(time))
    }

    /// Returns the number of events of each owner, and their bytes.
    func eventUse() throws(DatabaseError) -> [String: (count: Int, bytes: Int)] {
        let rows = try file.rows("SELECT owner, count(*), sum(size) FROM occurrence GROUP BY owner") {
            ($0.text(0), (count: Int($0.int(1)), bytes: Int($0.int(2))))
        }
        return Dictionary(rows) { $1 }
    }

    /// The index of all events.
    func eventIndex() throws(DatabaseError) -> EventIndex {
        var index = EventIndex()
        _ = try file.rows(
            "SELECT n, time, updated, latitude, longitude, depth, magnitude, owner FROM occurrence ORDER BY time, n"
        ) { row in
            func real(_ column: Int32) -> Double { row.isNull(column) ? .nan : row.real(column) }
            index.insert(
                .init(
                    row: row.int(0), time: row.int(1), latitude: real(3), longitude: real(4), depth: real(5),
                    magnitude: real(6), updated: Int32(clamping: row.int(2)), owner: index.number(of: row.text(7))))
        }
        return index
    }

    /// Rows of all events with an id, whoever's they are.
    public func rows(ofEvent id: String) throws(DatabaseError) -> [Int64] {
        try file.rows("SELECT n FROM occurrence WHERE id = ? ORDER BY n LIMIT 100", [.text(id)]) { $0.int(0) }
    }

    /// The events of these rows, in this order; those that have gone are left out.
    public func events(rows: some Sequence<Int64>) throws(DatabaseError) -> [(owner: String, payload: [UInt8])] {
        var found: [(owner: String, payload: [UInt8])] = []
        for row in rows {
            found += try file.rows("SELECT owner, payload FROM occurrence WHERE n = ?", [.int(row)]) {
                (owner: $0.text(0), payload: $0.bytes(1))
            }
        }
        return found
    }

    /// Events as rings of before have them: one for an id, whoever's it was; they leave the old table.
    func takeOldEvents() throws(DatabaseError) -> [(owner: String, payload: [UInt8])] {
        guard try file.number("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'event'") > 0 else {
            return []
        }
        let old = try file.rows("SELECT station, payload FROM event ORDER BY onset") {
            (owner: $0.text(0), payload: $0.bytes(1))
        }
        try file.execute("DROP TABLE event")
        return old
    }
}
