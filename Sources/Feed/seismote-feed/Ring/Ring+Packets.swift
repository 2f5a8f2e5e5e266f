import Feed
import Servers

extension Ring {
    static func key(_ station: Int64, _ sequence: UInt64) -> Int64 { station << stationShift | Int64(sequence) }

    /// A channel as it is kept.
    struct Channel {
        var number: Int64
        var station: Int64
        var location: String
        var code: String
        var rate: Double
        var next: Int64?
        var begin: Int64?
        var end: Int64?
        /// When the first record that did not come late begins.
        var orderedBegin: Int64?
    }

    struct Station {
        var number: Int64
        var id: String
        var network: String
        var code: String
        var first: UInt64
        var last: UInt64
    }

    func stations() throws(DatabaseError) -> [Station] {
        var found = try file.rows("SELECT n, id, network, code, last FROM station ORDER BY n") {
            Station(
                number: $0.int(0), id: $0.text(1), network: $0.text(2), code: $0.text(3), first: 1,
                last: UInt64(max(0, $0.int(4))))
        }
        for index in found.indices { found[index].first = try firstSequence(found[index].number, found[index].last) }
        return found
    }

    func firstSequence(_ station: Int64, _ last: UInt64) throws(DatabaseError) -> UInt64 {
        let keys = try file.rows(
            "SELECT key FROM packet WHERE key >= ? AND key < ? ORDER BY key LIMIT 1",
            [.int(station << Self.stationShift), .int((station + 1) << Self.stationShift)]
        ) { $0.int(0) }
        return keys.first.map { UInt64($0 & (1 << Self.stationShift - 1)) } ?? last + 1
    }

    func channels() throws(DatabaseError) -> [Channel] {
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

    func packets(_ station: Int64, from sequence: UInt64, most: Int) throws(DatabaseError) -> [FeedPacket] {
        try file.rows(
            """
            SELECT key, location, code, start, stop, data FROM packet JOIN channel ON channel.n = packet.channel \
            WHERE key >= ? AND key < ? ORDER BY key LIMIT ?
            """,
            [
                .int(Self.key(station, sequence)), .int((station + 1) << Self.stationShift), .int(Int64(most)),
            ]
        ) { row in
            FeedPacket(
                sequence: UInt64(row.int(0) & (1 << Self.stationShift - 1)), location: row.text(1),
                channel: row.text(2), start: row.int(3), end: row.int(4), record: row.bytes(5))
        }
    }

    /// The first packet of a station, in the order of numbers, whose samples reach a time.
    func sequence(_ station: Int64, reaching time: Int64) throws(DatabaseError) -> UInt64? {
        let keys = try file.rows(
            """
            SELECT min((SELECT min(key) FROM (SELECT key FROM packet WHERE channel = channel.n AND key > 0 AND \
            start >= ? - 600000000000 AND stop >= ? ORDER BY start LIMIT 8))) FROM channel WHERE station = ?
            """, [.int(time), .int(time), .int(station)]
        ) { $0.isNull(0) ? nil : $0.int(0) }
        return keys.compactMap { $0 }.first.map { UInt64($0 & (1 << Self.stationShift - 1)) }
    }

    /// Records of a channel that have samples in a time, in the order of time, those that came late among them.
    func records(
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
    func spans(
        _ channel: Int64, _ time: ClosedRange<Int64>, most: Int = .max
    ) throws(DatabaseError) -> [(start: Int64, end: Int64)] {
        try file.rows(
            """
            SELECT start, stop FROM packet WHERE channel = ? AND start >= ? AND start <= ? AND stop >= ? \
            ORDER BY start DESC LIMIT ?
            """,
            [
                .int(channel), .int(time.lowerBound - 600_000_000_000), .int(time.upperBound), .int(time.lowerBound),
                .int(Int64(most)),
            ]
        ) { ($0.int(0), $0.int(1)) }.reversed()
    }

    /// What was declared missing of a channel and begins at a time at the latest: from the first sample that is missing to
    /// the first that is not, the newest first. Samples that have come later are in records nevertheless.
    func holes(_ channel: Int64, until time: Int64, most: Int) throws(DatabaseError) -> [ClosedRange<Int64>] {
        try file.rows(
            "SELECT start, stop FROM missing WHERE channel = ? AND start <= ? ORDER BY start DESC LIMIT ?",
            [.int(channel), .int(time), .int(Int64(most))]
        ) { $0.int(0)...max($0.int(0), $0.int(1)) }
    }

    func rate(of channel: Int64) throws(DatabaseError) -> Double? {
        try file.rows("SELECT rate FROM channel WHERE n = ?", [.int(channel)]) { $0.real(0) }.first
    }

    // MARK: Writing

    func addStation(_ id: String, _ network: String, _ code: String) throws(DatabaseError) -> Int64 {
        try file.run("INSERT INTO station(id, network, code) VALUES(?, ?, ?)", .text(id), .text(network), .text(code))
        return file.lastRow
    }

    func addChannel(_ station: Int64, _ location: String, _ code: String, _ rate: Double) throws(DatabaseError) -> Int64
    {
        try file.run(
            "INSERT INTO channel(station, location, code, rate) VALUES(?, ?, ?, ?)", .int(station), .text(location),
            .text(code), .real(rate))
        return file.lastRow
    }

    func add(_ packet: Packetiser.Made, key: Int64, channel: Int64) throws(DatabaseError) {
        try file.run(
            "INSERT INTO packet(key, channel, start, stop, data) VALUES(?, ?, ?, ?, ?)", .int(key), .int(channel),
            .int(packet.start), .int(packet.end), .bytes(packet.bytes))
    }

    func setLast(_ station: Int64, _ last: UInt64) throws(DatabaseError) {
        try file.run("UPDATE station SET last = ? WHERE n = ?", .int(Int64(last)), .int(station))
    }

    /// What is in no packet yet, and what comes next.
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

    func addMissing(_ channel: Int64, _ start: Int64, _ stop: Int64, _ samples: Int) throws(DatabaseError) {
        try file.run(
            "INSERT INTO missing(channel, start, stop, samples) VALUES(?, ?, ?, ?)", .int(channel), .int(start),
            .int(stop), .int(Int64(samples)))
    }

    /// Forgets packets of before a time.
    /// - Returns: how many.
    func trim(before time: Int64, channels: [Int64]) throws(DatabaseError) -> Int {
        var count = 0
        for channel in channels {
            try file.run("DELETE FROM packet WHERE channel = ? AND start < ?", .int(channel), .int(time))
            count += file.changes
        }
        try file.run("DELETE FROM missing WHERE stop < ?", .int(time))
        try file.run("DELETE FROM event WHERE onset < ?", .int(time))
        return count
    }

    /// Bytes of the file that hold something.
    func usedBytes() throws(DatabaseError) -> Int {
        let pages = try file.number("PRAGMA page_count") - file.number("PRAGMA freelist_count")
        return Int(pages * (try file.number("PRAGMA page_size")))
    }

    func oldest() throws(DatabaseError) -> Int64? {
        try file.rows(
            "SELECT min(first) FROM (SELECT (SELECT min(start) FROM packet WHERE channel = channel.n) AS first FROM channel)"
        ) {
            $0.isNull(0) ? nil : $0.int(0)
        }.first ?? nil
    }

    // MARK: Another server

    /// By station, such as `XX_BASE`: the number of the newest packet that a server has been given.
    func given(to target: String) throws(DatabaseError) -> [String: UInt64] {
        let rows = try file.rows("SELECT station, sequence FROM forwarded WHERE target = ?", [.text(target)]) {
            ($0.text(0), UInt64(max(0, $0.int(1))))
        }
        return Dictionary(rows) { $1 }
    }

    func set(given: [String: UInt64], to target: String) throws(DatabaseError) {
        for (station, sequence) in given {
            try file.run(
                "INSERT OR REPLACE INTO forwarded(target, station, sequence) VALUES(?, ?, ?)", .text(target),
                .text(station), .int(Int64(sequence)))
        }
    }

    // MARK: Messages

    func set(_ station: String, _ topic: String, _ payload: [UInt8]) throws(DatabaseError) {
        try file.run(
            "INSERT OR REPLACE INTO message(station, topic, payload) VALUES(?, ?, ?)", .text(station), .text(topic),
            .bytes(payload))
    }

    func messages() throws(DatabaseError) -> [(station: String, topic: String, payload: [UInt8])] {
        try file.rows("SELECT station, topic, payload FROM message") { ($0.text(0), $0.text(1), $0.bytes(2)) }
    }

    func add(event id: String, _ station: String, onset: Int64, _ payload: [UInt8]) throws(DatabaseError) {
        try file.run(
            "INSERT OR REPLACE INTO event(id, station, onset, payload) VALUES(?, ?, ?, ?)", .text(id), .text(station),
            .int(onset), .bytes(payload))
    }

    func remove(event id: String) throws(DatabaseError) { try file.run("DELETE FROM event WHERE id = ?", .text(id)) }

    /// The newest first.
    func events(from: Int64, to: Int64, most: Int) throws(DatabaseError) -> [(station: String, payload: [UInt8])] {
        try file.rows(
            "SELECT station, payload FROM event WHERE onset >= ? AND onset <= ? ORDER BY onset DESC LIMIT ?",
            [.int(from), .int(to), .int(Int64(most))]
        ) { ($0.text(0), $0.bytes(1)) }
    }
}
