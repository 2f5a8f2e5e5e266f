import CSQLite
import Glibc

extension Database {
    /// Opens a file of ours and looks whether it is one; makes the tables in a new one.
    func open() throws(SpoolError) {
        try checkHead()
        try connect()
        if try number("SELECT count(*) FROM sqlite_schema") == 0, try number("PRAGMA application_id") == 0 {
            return try makeTables()
        }
        try identify()
        // Memory cards lose bits at rest, too: at each start.
        try check(upTo: Self.wholeCheckPages)
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
        guard (1...Schema.version).contains(version) else {
            throw damage("tables of version \(version), not \(Schema.version)")
        }
        let tables = try tables()
        guard tables == Schema.statements || version == 1 && tables == Schema.first else {
            throw damage("other tables than expected")
        }
        guard version < Schema.version else { return }
        try begin()
        if tables == Schema.first { try execute(Schema.fromFirst) }
        try execute(Schema.fromSecond)
        try execute("PRAGMA user_version=\(Schema.version)")
        try commit()
    }

    private func tables() throws(SpoolError) -> [String] {
        try texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    }
}
