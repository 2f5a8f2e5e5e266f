import Association
import DatabaseFiles
import Glibc

/// Database of the detector on one broker: the log of what stations said, in the order in which it came, and what has
/// been published. With both, a program that was killed goes on as if nothing had been.
final class NetworkStore {
    private let file: DatabaseFile

    private static let tables = [
        // (The last two are of versions that knew one run of a station alone.)
        "CREATE TABLE station(id TEXT PRIMARY KEY, info BLOB, boot TEXT, seq INTEGER) WITHOUT ROWID",
        """
        CREATE TABLE log(n INTEGER PRIMARY KEY, arrival INTEGER NOT NULL, station TEXT NOT NULL, topic TEXT NOT NULL, \
        payload BLOB NOT NULL)
        """,
        """
        CREATE TABLE published(n INTEGER PRIMARY KEY, event TEXT NOT NULL, version INTEGER NOT NULL, payload BLOB NOT NULL, \
        sent INTEGER NOT NULL DEFAULT 0, UNIQUE(event, version))
        """,
    ]
    /// Runs of stations, those heard of last with the largest `n`. Not in files of earlier versions.
    private static let runs = """
        CREATE TABLE IF NOT EXISTS run(n INTEGER PRIMARY KEY AUTOINCREMENT, station TEXT NOT NULL, boot TEXT NOT NULL, \
        seq INTEGER NOT NULL, made INTEGER, UNIQUE(station, boot))
        """
    /// "SeiN", so that no other database is taken for ours.
    private static let application = 0x5365_694E
    /// Versions of network events that are kept.
    private static let keptVersions = 10_000
    /// Versions that are read at the start, and all that were not sent.
    private static let readVersions = 2000

    init(folder: String) throws(DatabaseError) {
        mkdir(folder, 0o750)
        // A second program would publish everything a second time.
        file = try DatabaseFile(
            folder + "/network.db", application: Self.application, tables: Self.tables,
            .init(isExclusive: true, synchronous: "FULL"))
        try file.execute(Self.runs)
    }

    // MARK: What there is

    func past() throws(DatabaseError) -> DiskJournal.Past {
        var past = DiskJournal.Past()
        past.versions = try file.rows(
            """
            SELECT event, version, payload, sent FROM published \
            WHERE sent = 0 OR n > (SELECT max(n) FROM published) - \(Self.readVersions) ORDER BY n
            """
        ) { row in
            (.init(eventID: row.text(0), version: Int(row.int(1)), payload: row.bytes(2)), row.int(3) != 0)
        }
        past.marks = try file.rows(
            """
            SELECT id, boot, seq, NULL, 0 AS n FROM station WHERE boot IS NOT NULL \
            UNION ALL SELECT station, boot, seq, made, n FROM run ORDER BY n
            """
        ) { row in
            let made = row.isNull(3) ? nil : row.int(3)
            return (row.text(0), .init(boot: row.text(1), number: Int(row.int(2)), made: made))
        }
        past.stations = try file.rows("SELECT id, info FROM station WHERE info IS NOT NULL ORDER BY id") { row in
            (row.text(0), row.bytes(1))
        }
        past.log = try file.rows(
            "SELECT station, payload, arrival FROM log WHERE topic = 'event/trigger' ORDER BY n"
        ) { row in (row.text(0), row.bytes(1), row.int(2)) }
        return past
    }

    // MARK: What comes

    /// All of it or nothing.
    func perform(_ operations: [DiskJournal.Operation]) throws(DatabaseError) {
        guard !operations.isEmpty else { return }
        try file.transaction { () throws(DatabaseError) in for one in operations { try perform(one) } }
    }

    private func perform(_ operation: DiskJournal.Operation) throws(DatabaseError) {
        switch operation {
        case .message(let station, let payload, let arrival):
            try file.run(
                "INSERT INTO log(arrival, station, topic, payload) VALUES(?, ?, 'event/trigger', ?)", .int(arrival),
                .text(station), .bytes(payload))
        case .info(let station, let payload):
            try file.run(
                "INSERT INTO station(id, info) VALUES(?, ?) ON CONFLICT(id) DO UPDATE SET info = excluded.info",
                .text(station), .bytes(payload))
        case .mark(let station, let mark): try setMark(station, mark)
        case .version(_, let version):
            try file.run(
                "INSERT OR IGNORE INTO published(event, version, payload) VALUES(?, ?, ?)", .text(version.eventID),
                .int(Int64(version.version)), .bytes(version.payload))
        case .sent(let eventID, let version, let andBefore):
            try file.run(
                andBefore
                    ? """
                    UPDATE published SET sent = 1 WHERE sent = 0 AND n <= (SELECT n FROM published WHERE event = ? AND \
                    version = ?)
                    """ : "UPDATE published SET sent = 1 WHERE event = ? AND version = ?", .text(eventID),
                .int(Int64(version)))
        case .trim(let time):
            try file.run("DELETE FROM log WHERE arrival < ?", .int(time))
            try file.run(
                "DELETE FROM published WHERE sent = 1 AND n <= (SELECT max(n) FROM published) - ?",
                .int(Int64(Self.keptVersions)))
        }
    }

    private func setMark(_ station: String, _ mark: SequenceWatch.Mark) throws(DatabaseError) {
        try file.run(
            "INSERT OR REPLACE INTO run(station, boot, seq, made) VALUES(?, ?, ?, nullif(?, 0))", .text(station),
            .text(mark.boot), .int(Int64(mark.number)), .int(mark.made ?? 0))
        try file.run(
            "DELETE FROM run WHERE n IN (SELECT n FROM run WHERE station = ? ORDER BY n DESC LIMIT -1 OFFSET ?)",
            .text(station), .int(Int64(SequenceWatch.runLimit)))
    }
}
