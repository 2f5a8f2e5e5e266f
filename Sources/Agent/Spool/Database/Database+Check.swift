import CSQLite
import Glibc

/// Looks whether a database is as SQLite and we have left it.
extension Database {
    /// The whole file is read up to so many pages (64 MB); of larger ones only the tables that matter most.
    static let wholeCheckPages = 16_384

    /// What is always the same in the head of a file of ours: offset, and the values that may stand there. SQLite calls some
    /// of the others "read-only" or "unsupported", which would be taken for a fault that goes away.
    private static let head: [(offset: Int, values: [[UInt8]])] = [
        (0, [Array("SQLite format 3\0".utf8)]), (16, [[0x10, 0]]), (18, [[1, 1], [2, 2]]), (20, [[0, 64, 32, 32]]),
        (44, [[0, 0, 0, 0], [0, 0, 0, 4]]), (52, [[0, 0, 0, 0]]), (56, [[0, 0, 0, 0], [0, 0, 0, 1]]),
        (64, [[0, 0, 0, 0]]),
    ]

    /// Looks at the head of a file before SQLite does; an empty file, or none, is none of ours yet.
    func checkHead() throws(SpoolError) {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return }
        defer { Glibc.close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 100) { $1 = max(0, pread(file, $0.baseAddress, 100, 0)) }
        guard bytes.count == 100 else { return }
        for (offset, values) in Self.head where !values.contains(where: { bytes[offset...].starts(with: $0) }) {
            throw damage("the head of the file is damaged, or not ours (byte \(offset))")
        }
    }

    /// Looks whether trees, free pages and indices agree. An index that does not agree with its table is made again.
    /// - Parameter pages: larger files are not read as a whole.
    /// - Throws: an error that `isDamage`, when anything else is wrong.
    func check(upTo pages: Int) throws(SpoolError) {
        let whole = try filePages() <= pages
        let checks =
            whole
            ? ["integrity_check"]
            : ["essential", "facts"].map { "integrity_check(\($0))" } + ["ring", "levels"].map { "quick_check(\($0))" }
        for one in checks {
            let findings = try texts("PRAGMA \(one)")
            if findings == ["ok"] { continue }
            let indices = Set(Schema.indices.filter { index in findings.contains { $0.hasSuffix(" index \(index)") } })
            let isOfIndices = findings.allSatisfy { finding in indices.contains { finding.hasSuffix(" index \($0)") } }
            guard isOfIndices, !indices.isEmpty else { throw damage(findings.first ?? "no result of \(one)") }
            try makeAgain(indices.sorted())
            guard try texts("PRAGMA \(one)") == ["ok"] else { throw damage(findings[0]) }
        }
    }

    /// Looks whether the index of what waits has what its table has, without reading more than that.
    func checkWaiting() throws(SpoolError) {
        let sums = "SELECT count(*) || ' ' || total(key) FROM essential"
        let index = try texts("\(sums) INDEXED BY waiting WHERE state = 0")
        guard try texts("\(sums) NOT INDEXED WHERE state = 0") != index else { return }
        try makeAgain(["waiting"])
    }

    private func makeAgain(_ indices: [String]) throws(SpoolError) {
        try begin()
        do throws(SpoolError) {
            for index in indices { try execute("REINDEX \(index)") }
            try commit()
        } catch {
            rollBack()
            throw error
        }
        rebuilt += indices
    }

    func damage(_ text: String) -> SpoolError { SpoolError(file: path, code: SQLITE_NOTADB, text: text) }
}
