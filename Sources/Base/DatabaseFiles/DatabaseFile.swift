import CSQLite
import Glibc

/// A SQLite file of a program beside the agent. (The agent's own, `Spool/Database`, is set up for little memory and few
/// writes to a card, and mends what is damaged; these programs run where there is enough of both.) For one thread.
public final class DatabaseFile {
    public let path: String
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// How a file is opened.
    public struct Opening: Sendable {
        /// Makes the file where it is not there, and writes to it.
        public var writes = true
        /// No other program may open it.
        public var isExclusive = false
        /// `NORMAL`: all is there after a kill, but after a power cut the last seconds may be gone; `FULL`: they are not.
        public var synchronous = "NORMAL"
        /// Bytes that the write-ahead log keeps on the disk; half of them go into the file as soon as they are there.
        public var logBytes = 16 << 20

        public init(writes: Bool = true, isExclusive: Bool = false, synchronous: String = "NORMAL") {
            (self.writes, self.isExclusive, self.synchronous) = (writes, isExclusive, synchronous)
        }
    }

    /// - Parameters:
    ///   - application: four letters as a number, so that no other database is taken for this one.
    ///   - tables: what makes a new file.
    public init(_ path: String, application: Int, tables: [String], _ opening: Opening) throws(DatabaseError) {
        self.path = path
        let flags =
            SQLITE_OPEN_NOMUTEX | (opening.writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY)
        guard sqlite3_open_v2(path, &handle, flags, nil) == SQLITE_OK else { throw failure() }
        sqlite3_busy_timeout(handle, 2000)
        try execute("PRAGMA cache_size=-4096")
        guard opening.writes else { return }
        if opening.isExclusive { try execute("PRAGMA locking_mode=EXCLUSIVE") }
        try execute("PRAGMA journal_mode=WAL")
        try execute("PRAGMA synchronous=\(opening.synchronous)")
        try execute("PRAGMA journal_size_limit=\(opening.logBytes)")
        // (SQLite's own default is 1000 pages.)
        try execute("PRAGMA wal_autocheckpoint=\(max(16, min(1000, opening.logBytes / 8192)))")
        let found = try number("PRAGMA application_id")
        guard found != application else { return }
        guard found == 0, try number("SELECT count(*) FROM sqlite_schema") == 0 else {
            throw DatabaseError(message: "\(path) is a database of another program")
        }
        try transaction { () throws(DatabaseError) in
            for table in tables { try execute(table) }
            try execute("PRAGMA application_id=\(application)")
        }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(handle)
    }

    /// Value for a `?`.
    public enum Parameter {
        case int(Int64)
        case real(Double)
        case text(String)
        case bytes([UInt8])
    }

    /// A row of an answer; columns count from 0.
    public struct Row {
        let statement: OpaquePointer
        public func int(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
        public func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }
        public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
        public func bytes(_ column: Int32) -> [UInt8] {
            guard let base = sqlite3_column_blob(statement, column) else { return [] }
            return [UInt8](UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(statement, column))))
        }
        public func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
    }

    public func execute(_ sql: String) throws(DatabaseError) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    /// All of it or nothing.
    public func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
        try execute("BEGIN IMMEDIATE")
        do throws(DatabaseError) {
            try body()
            try execute("COMMIT")
        } catch {
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// The first column of the first row; 0 where there is none.
    public func number(_ sql: String, _ parameters: Parameter...) throws(DatabaseError) -> Int64 {
        try rows(sql, parameters) { $0.int(0) }.first ?? 0
    }

    public func rows<T>(
        _ sql: String, _ parameters: [Parameter] = [], _ read: (Row) -> T
    ) throws(DatabaseError) -> [T] {
        let statement = try prepared(sql, parameters)
        defer { finish(statement) }
        var result: [T] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: result.append(read(Row(statement: statement)))
            case SQLITE_DONE: return result
            default: throw failure()
            }
        }
    }

    public func run(_ sql: String, _ parameters: Parameter...) throws(DatabaseError) {
        let statement = try prepared(sql, parameters)
        defer { finish(statement) }
        guard sqlite3_step(statement) == SQLITE_DONE else { throw failure() }
    }

    public var lastRow: Int64 { sqlite3_last_insert_rowid(handle) }
    /// Rows that the last statement has changed.
    public var changes: Int { Int(sqlite3_changes(handle)) }

    private func failure() -> DatabaseError {
        DatabaseError(message: "\(path): \(handle.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory")")
    }

    private func finish(_ statement: OpaquePointer) {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
    }

    private func prepared(_ sql: String, _ parameters: [Parameter]) throws(DatabaseError) -> OpaquePointer {
        var statement = statements[sql]
        if statement == nil {
            guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK
            else { throw failure() }
            statements[sql] = statement
        }
        guard let statement else { throw failure() }
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT, a cast in C
        for (index, parameter) in parameters.enumerated() {
            let at = Int32(index + 1)
            switch parameter {
            case .int(let number): sqlite3_bind_int64(statement, at, number)
            case .real(let number): sqlite3_bind_double(statement, at, number)
            case .text(let text): sqlite3_bind_text(statement, at, text, -1, copied)
            case .bytes(let bytes): sqlite3_bind_blob64(statement, at, bytes, UInt64(bytes.count), copied)
            }
        }
        return statement
    }
}

/// The file cannot be used; a sentence that names it.
public struct DatabaseError: Error {
    public var message: String
    public init(message: String) { self.message = message }
}
