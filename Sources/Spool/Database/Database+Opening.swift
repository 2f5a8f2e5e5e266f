import CSQLite
import Glibc

extension Database {
    /// Opens a file of ours and looks whether it is one; makes the tables in a new one.
    /// - Parameter boot: id of the machine's present start.
    func open(boot: String) throws(SpoolError) {
        // An orderly end leaves no log.
        let wasClosed = !hasLog
        try connect()
        if try number("SELECT count(*) FROM sqlite_schema") == 0, try number("PRAGMA application_id") == 0 {
            return try makeTables()
        }
        try identify()
        // After a kill the files are whole, because the kernel has them; after a power cut they may be torn.
        if !wasClosed, try fact(.boot) != Array(boot.utf8) { try check() }
    }

    private var hasLog: Bool {
        var status = stat()
        return stat(path + "-wal", &status) == 0 && status.st_size > 0
    }

    private func makeTables() throws(SpoolError) {
        try begin()
        for statement in Schema.statements { try execute(statement) }
        try execute("PRAGMA application_id=\(Schema.application)")
        try execute("PRAGMA user_version=\(Schema.version)")
        try commit()
    }

    private func identify() throws(SpoolError) {
        let application = try number("PRAGMA application_id") ?? 0
        guard application == Schema.application else { throw damage("a database of another program") }
        let version = try number("PRAGMA user_version") ?? 0
        guard version == Schema.version else { throw damage("tables of version \(version), not \(Schema.version)") }
        guard try texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid") == Schema.statements
        else { throw damage("other tables than expected") }
    }

    /// Reads the whole file up to 64 MB; of larger ones only the tables that matter most. What is damaged in the others
    /// shows when it is read.
    private func check() throws(SpoolError) {
        let whole = try filePages() <= 16_384
        let checks = whole ? ["quick_check(1)"] : ["quick_check(essential)", "quick_check(facts)"]
        for one in checks {
            let findings = try texts("PRAGMA \(one)")
            if findings != ["ok"] { throw damage(findings.first ?? "no result of quick_check") }
        }
    }

    private func damage(_ text: String) -> SpoolError { SpoolError(file: path, code: SQLITE_NOTADB, text: text) }
}

/// What the spool notes for itself, in the table of facts.
enum OwnFact: String {
    /// The machine's start during which the file was last opened.
    case boot = "spool.boot"
    /// Messages have smaller numbers than this.
    case reserved = "spool.reserved"
    /// Dropped messages by class.
    case dropped = "spool.dropped"
    case damaged = "spool.damaged"
}

extension Database {
    func fact(_ name: OwnFact) throws(SpoolError) -> [UInt8]? { try fact(name.rawValue) }
    func set(_ name: OwnFact, _ value: [UInt8]) throws(SpoolError) { try set(name.rawValue, value) }

    /// Whole numbers, separated by blanks.
    func numbers(_ name: OwnFact) throws(SpoolError) -> [Int64] {
        let text = String(decoding: try fact(name) ?? [], as: UTF8.self)
        return text.split(separator: " ").compactMap { Int64($0) }
    }

    func set(_ name: OwnFact, numbers: [Int64]) throws(SpoolError) {
        try set(name, Array(numbers.map { String($0) }.joined(separator: " ").utf8))
    }

    func fact(_ name: String) throws(SpoolError) -> [UInt8]? {
        let statement = try use(.getFact)
        statement.bind(1, name)
        return try statement.step() ? statement.bytes(0) : nil
    }

    func set(_ name: String, _ value: [UInt8]?) throws(SpoolError) {
        let statement = try use(value == nil ? .deleteFact : .setFact)
        statement.bind(1, name)
        guard let value else { return try statement.run() }
        let result: Result<Void, SpoolError> = value.withUnsafeBytes { bytes in
            statement.bind(2, bytes)
            do throws(SpoolError) { return .success(try statement.run()) } catch { return .failure(error) }
        }
        try result.get()
    }
}
