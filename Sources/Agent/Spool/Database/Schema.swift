import Messages

/// The tables with messages that wait: one for each class, so that each is in order without an index to keep up.
enum Table: Int, CaseIterable {
    case essential = 0
    case state, trace

    init(_ priority: Priority) {
        switch priority {
        case .essential: self = .essential
        case .state: self = .state
        case .trace: self = .trace
        }
    }

    var priority: Priority {
        switch self {
        case .essential: .essential
        case .state: .state
        case .trace: .trace
        }
    }

    var name: String {
        switch self {
        case .essential: "essential"
        case .state: "state"
        case .trace: "trace"
        }
    }
}

/// Form of a file of ours.
enum Schema {
    /// "Seis", in the file's first page: what kind of database it is.
    static let application: Int64 = 0x5365_6973
    /// Version of these tables. Files of later versions are moved aside.
    static let version: Int64 = 4

    /// In the order in which SQLite lists them.
    static let statements: [String] =
        Table.allCases.map { table in
            """
            CREATE TABLE \(table.name)(key INTEGER PRIMARY KEY, state INTEGER NOT NULL, made INTEGER NOT NULL, \
            topic TEXT NOT NULL, qos INTEGER NOT NULL, retain INTEGER NOT NULL, history INTEGER NOT NULL, \
            content TEXT NOT NULL, expiry INTEGER, event TEXT, part INTEGER, sum INTEGER NOT NULL, \
            payload BLOB NOT NULL)
            """
        } + [
            "CREATE INDEX waiting ON essential(key) WHERE state = 0",
            "CREATE INDEX events ON essential(event, part) WHERE event IS NOT NULL",
            "CREATE INDEX ends ON essential(key) WHERE part = 2",
            ring + ", unit REAL)",
            "CREATE TABLE facts(name TEXT PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID",
            levels,
        ] + vibration

    private static let ring = """
        CREATE TABLE ring(slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, start INTEGER NOT NULL, finish INTEGER NOT NULL, \
        samples INTEGER NOT NULL, rate REAL NOT NULL, format INTEGER NOT NULL, sum INTEGER NOT NULL, \
        records BLOB NOT NULL
        """
    private static let levels =
        "CREATE TABLE levels(slot INTEGER PRIMARY KEY, number INTEGER NOT NULL, sum INTEGER NOT NULL, columns BLOB NOT NULL)"

    private static let vibration = [
        """
        CREATE TABLE vibration(number INTEGER PRIMARY KEY, added INTEGER NOT NULL, format INTEGER NOT NULL, \
        sum INTEGER NOT NULL, columns BLOB NOT NULL)
        """,
        "CREATE INDEX added ON vibration(added)",
    ]

    /// Tables of version 1, and what makes them those of version 2.
    static var first: [String] { third.dropLast().map { $0 == ring + ", unit REAL)" ? ring + ")" : $0 } }
    static let fromFirst = "ALTER TABLE ring ADD COLUMN unit REAL; " + levels
    /// Tables of versions 2 and 3, and what makes them those of now.
    static var third: [String] { statements.dropLast(vibration.count) }
    static var fromThird: String { vibration.joined(separator: "; ") }
    /// Makes the checksums of version 2, which did not tell what became of a message, those of version 3.
    static var fromSecond: String {
        [1, 2].map { state in
            let mark = StoredMessage.mark(state: state)
            return "UPDATE essential SET sum = (sum | \(mark)) - (sum & \(mark)) WHERE state = \(state); "
        }.joined()
    }

    /// Indices that can be made again from the tables.
    static let indices = ["waiting", "events", "ends", "added"]

    /// Overhead in the size of a message, beside payload and topic.
    static let overhead = 64
    static let size = "length(payload) + length(CAST(topic AS BLOB)) + \(overhead)"
}

/// Every statement that is used again and again; `table` is the class where it has one.
enum Query: Int, CaseIterable {
    case begin, commit, pageCount, freePages
    case insert, next, nextOfTheRest, look, delete, deliver, oldest
    case oldestKept, oldestWaveforms, oldestOthers
    case unfinished, newestTrigger, waveforms, lastEnd, ends, endsOfEvents
    case appendSegment, replaceSegment, deleteSegment, records
    case getFact, setFact, deleteFact, factNames
    case sums, segments
    case setLevels, levels, ofEvent, eventParts
    case row, messages, setState, setEventText, allLevels, deleteLevels, allFacts, deleteFactBytes
    case setVibration, vibration, allVibration, oldestVibration, newestVibration, deleteVibration

    static let count = allCases.count * Table.allCases.count

    private static let columns =
        "key, made, topic, qos, retain, history, content, expiry, event, part, sum, payload"

    func sql(_ table: Table) -> String {
        let name = table.name
        switch self {
        case .begin: return "BEGIN IMMEDIATE"
        case .commit: return "COMMIT"
        case .pageCount: return "PRAGMA page_count"
        case .freePages: return "PRAGMA freelist_count"
        case .insert:
            return """
                INSERT INTO \(name)(key, made, topic, qos, retain, history, content, expiry, event, part, sum, \
                payload, state) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)
                """
        case .next:
            return """
                SELECT \(Self.columns) FROM essential INDEXED BY waiting WHERE state = 0 AND key > ?1 \
                ORDER BY key LIMIT ?2
                """
        case .nextOfTheRest:
            return """
                SELECT \(Self.columns) FROM state WHERE key > ?1 UNION ALL \
                SELECT \(Self.columns) FROM trace WHERE key > ?1 ORDER BY key LIMIT ?2
                """
        case .look: return "SELECT \(Schema.size), state, event IS NOT NULL FROM \(name) WHERE key = ?"
        case .delete: return "DELETE FROM \(name) WHERE key = ?"
        case .deliver: return "UPDATE essential SET state = ?2, sum = (sum | ?3) - (sum & ?3) WHERE key = ?1"
        case .oldest:
            let index = table == .essential ? "INDEXED BY waiting" : ""
            return "SELECT key, \(Schema.size), made FROM \(name) \(index) WHERE state = 0 ORDER BY key LIMIT ?"
        case .oldestKept:
            return "SELECT key, \(Schema.size), made FROM essential WHERE state <> 0 ORDER BY key LIMIT ?"
        case .oldestWaveforms:
            return """
                SELECT key, \(Schema.size), made FROM essential INDEXED BY waiting WHERE state = 0 AND part = 3 \
                ORDER BY key LIMIT ?
                """
        case .oldestOthers:
            return """
                SELECT key, \(Schema.size), made FROM essential INDEXED BY waiting WHERE state = 0 \
                AND event IS NULL ORDER BY key LIMIT ?
                """
        case .unfinished:
            return """
                SELECT event, coalesce(max(key) FILTER (WHERE part = 2), 0) AS ended FROM essential INDEXED BY events \
                WHERE event IS NOT NULL GROUP BY event HAVING max(key) FILTER (WHERE part < 2) > ended ORDER BY min(key)
                """
        case .newestTrigger:
            return """
                SELECT \(Self.columns) FROM essential WHERE key = (SELECT max(key) FROM essential INDEXED BY events \
                WHERE event = ?1 AND part < 2 AND key < ?2 AND key > ?3)
                """
        case .waveforms:
            return """
                SELECT \(Self.columns) FROM essential INDEXED BY events WHERE event = ?1 AND part = 3 AND key > \
                (SELECT coalesce(max(key), 0) FROM essential INDEXED BY events WHERE event = ?1 AND part = 2) ORDER BY key
                """
        case .lastEnd:
            return """
                SELECT \(Self.columns) FROM essential INDEXED BY ends WHERE part = 2 ORDER BY key DESC
                """
        case .ends: return "SELECT key, event FROM essential INDEXED BY ends WHERE part = 2"
        case .endsOfEvents:
            return "SELECT key, event FROM essential INDEXED BY events WHERE event IS NOT NULL AND part = 2"
        case .appendSegment: return "INSERT INTO ring VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        case .replaceSegment:
            return """
                UPDATE ring SET number = ?2, start = ?3, finish = ?4, samples = ?5, rate = ?6, format = ?7, sum = ?8, \
                records = ?9, unit = ?10 WHERE slot = ?1
                """
        case .deleteSegment: return "DELETE FROM ring WHERE slot = ?"
        case .records: return "SELECT records, sum FROM ring WHERE slot = ? AND number = ?"
        case .getFact: return "SELECT value, sum FROM facts WHERE name = ?"
        case .setFact:
            return """
                INSERT INTO facts VALUES(?1, ?2, ?3) ON CONFLICT(name) \
                DO UPDATE SET value = excluded.value, sum = excluded.sum
                """
        case .deleteFact: return "DELETE FROM facts WHERE name = ?"
        case .factNames: return "SELECT name FROM facts ORDER BY name"
        case .sums:
            return """
                SELECT count(*) FILTER (WHERE state = 0), sum(\(Schema.size)) FILTER (WHERE state = 0), \
                count(*) FILTER (WHERE state <> 0), sum(\(Schema.size)) FILTER (WHERE state <> 0), max(key) \
                FROM \(name)
                """
        case .setLevels: return "INSERT OR REPLACE INTO levels VALUES(?1, ?2, ?3, ?4)"
        case .levels: return "SELECT columns, sum, number FROM levels WHERE slot = ?1"
        case .ofEvent:
            return """
                SELECT \(Self.columns) FROM essential INDEXED BY events WHERE event = ?1 AND part BETWEEN ?2 AND ?3 \
                AND key > ?4 ORDER BY key LIMIT ?5
                """
        case .row: return "SELECT \(Self.columns) FROM \(name) NOT INDEXED WHERE key = ?"
        case .eventParts:
            return """
                SELECT event, min(key) FROM essential INDEXED BY events WHERE event IS NOT NULL AND part < 3 \
                GROUP BY event ORDER BY min(key) DESC
                """
        case .messages: return "SELECT \(Self.columns), state FROM \(name) NOT INDEXED"
        case .setState: return "UPDATE essential SET state = ?2 WHERE key = ?1"
        case .setEventText: return "UPDATE essential SET event = CAST(event AS TEXT) WHERE key = ?"
        case .allLevels: return "SELECT slot, number, sum, columns FROM levels"
        case .deleteLevels: return "DELETE FROM levels WHERE slot = ?"
        case .setVibration:
            return """
                INSERT INTO vibration VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT(number) \
                DO UPDATE SET format = excluded.format, sum = excluded.sum, columns = excluded.columns
                """
        case .vibration:
            return """
                SELECT number, added, format, sum, columns FROM vibration WHERE number BETWEEN ?1 AND ?2 \
                ORDER BY number LIMIT ?3
                """
        case .allVibration: return "SELECT number, added, format, sum, columns FROM vibration NOT INDEXED"
        case .oldestVibration:
            return """
                SELECT number FROM vibration INDEXED BY added WHERE added < ?1 ORDER BY added, number LIMIT ?2
                """
        case .newestVibration:
            return """
                SELECT number, added, format, sum, columns FROM vibration INDEXED BY added ORDER BY added DESC LIMIT 1
                """
        case .deleteVibration: return "DELETE FROM vibration WHERE number = ?"
        case .allFacts: return "SELECT name, value, sum FROM facts"
        case .deleteFactBytes: return "DELETE FROM facts WHERE CAST(name AS BLOB) = ?"
        case .segments:
            return "SELECT slot, number, start, finish, samples, rate, format, length(records), unit FROM ring"
        }
    }
}
