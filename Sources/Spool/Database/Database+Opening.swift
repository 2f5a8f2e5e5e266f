import CSQLite
import Glibc

extension Database {
    /// Opens a file of ours and looks whether it is one; makes the tables in a new one.
    /// - Parameters:
    ///   - boot: id of the machine's present start.
    ///   - isSuspect: its log was damaged or is lost.
    func open(boot: String, isSuspect: Bool = false) throws(SpoolError) {
        // An orderly end leaves no log.
        let wasClosed = !hasLog
        try connect()
        if try number("SELECT count(*) FROM sqlite_schema") == 0, try number("PRAGMA application_id") == 0 {
            return try makeTables()
        }
        try identify()
        // After a kill the files are whole, because the kernel has them; after a power cut they may be torn.
        if isSuspect {
            try check(true)
        } else if !wasClosed, try fact(.boot) != Array(boot.utf8) {
            try check(false)
        }
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
        guard version == Schema.version || version == 1 else {
            throw damage("tables of version \(version), not \(Schema.version)")
        }
        if version == 1, try tables() == Schema.first {
            try begin()
            try execute(Schema.fromFirst)
            try execute("PRAGMA user_version=\(Schema.version)")
            try commit()
        }
        guard try tables() == Schema.statements else { throw damage("other tables than expected") }
    }

    private func tables() throws(SpoolError) -> [String] {
        try texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    }

    /// Reads the whole file up to 64 MB; of larger ones only the tables that matter most. What is damaged in the others
    /// shows when it is read.
    /// - Parameter isThorough: whether the indices have what the tables have, too.
    private func check(_ isThorough: Bool) throws(SpoolError) {
        let whole = try filePages() <= 16_384
        let kind = isThorough ? "integrity" : "quick"
        let checks = whole ? ["\(kind)_check(1)"] : ["\(kind)_check(essential)", "quick_check(facts)"]
        for one in checks {
            let findings = try texts("PRAGMA \(one)")
            if findings != ["ok"] { throw damage(findings.first ?? "no result of quick_check") }
        }
    }

    private func damage(_ text: String) -> SpoolError { SpoolError(file: path, code: SQLITE_NOTADB, text: text) }
}
