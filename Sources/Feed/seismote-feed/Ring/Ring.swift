import Glibc
import Servers

/// The ring on the disk: packets, what is in none yet, events, and who the stations are. One connection writes (the hub's
/// thread), another reads (the server's thread).
final class Ring: @unchecked Sendable {
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
        "CREATE TABLE event(id TEXT PRIMARY KEY, station TEXT NOT NULL, onset INTEGER NOT NULL, payload BLOB NOT NULL) WITHOUT ROWID",
        forwarded, missingTime,
        "CREATE TABLE message(station TEXT NOT NULL, topic TEXT NOT NULL, payload BLOB NOT NULL, PRIMARY KEY(station, topic)) WITHOUT ROWID",
    ]
    /// How far another server has been given the records. (Rings of before have no such table.)
    private static let forwarded =
        "CREATE TABLE IF NOT EXISTS forwarded(target TEXT NOT NULL, station TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY(target, station)) WITHOUT ROWID"
    /// Finds what is missing of a channel. (Rings of before have no such index.)
    private static let missingTime = "CREATE INDEX IF NOT EXISTS missing_time ON missing(channel, start)"
    static let stationShift = Int64(40)

    let file: DatabaseFile

    /// - Parameter writes: makes the file where it is not there.
    init(folder: String, writes: Bool) throws(DatabaseError) {
        if writes { mkdir(folder, 0o750) }
        file = try DatabaseFile(
            folder + "/feed.db", application: Self.application, tables: Self.tables, .init(writes: writes))
        if writes { for table in [Self.forwarded, Self.missingTime] { try file.execute(table) } }
    }
}
