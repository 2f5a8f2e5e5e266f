import DatabaseFiles
import TestSupport
import Testing

struct DatabaseFileTests {
    private static let application = 0x5365_6954

    private func open(_ path: String, application: Int = application) throws(DatabaseError) -> DatabaseFile {
        try DatabaseFile(
            path, application: application, tables: ["CREATE TABLE one(n INTEGER PRIMARY KEY, word TEXT, data BLOB)"],
            .init())
    }

    @Test func keepsWhatWasCommitted() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        do {
            let file = try open(path)
            try file.transaction { () throws(DatabaseError) in
                try file.run("INSERT INTO one(word, data) VALUES(?, ?)", .text("zwölf"), .bytes([0, 255]))
            }
            #expect(throws: DatabaseError.self) {
                try file.transaction { () throws(DatabaseError) in
                    try file.run("INSERT INTO one(word) VALUES(?)", .text("no"))
                    throw DatabaseError(message: "changed its mind")
                }
            }
        }
        let file = try open(path)
        let rows = try file.rows("SELECT word, data, NULL FROM one") { ($0.text(0), $0.bytes(1), $0.isNull(2)) }
        #expect(rows.count == 1 && rows[0].0 == "zwölf" && rows[0].1 == [0, 255] && rows[0].2)
        #expect(try file.number("SELECT count(*) FROM one WHERE n > ?", .int(0)) == 1)
    }

    @Test func aDatabaseOfAnotherProgramIsLeftAlone() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.db")
        do { _ = try open(path) }
        #expect(throws: DatabaseError.self) { try open(path, application: 1) }
        #expect(throws: DatabaseError.self) { try open(folder.path("")) }
    }

    /// 1 is NORMAL: all is there after a kill; 2 is FULL: also after a power cut. 0 would be neither.
    @Test(arguments: [("NORMAL", 1), ("FULL", 2)])
    func whatWasCommittedOutlivesAKill(_ word: String, _ number: Int64) throws {
        let folder = try TemporaryFolder()
        let file = try DatabaseFile(
            folder.path("a.db"), application: Self.application, tables: [], .init(synchronous: word))
        #expect(try file.number("PRAGMA synchronous") == number)
        #expect(try file.rows("PRAGMA journal_mode") { $0.text(0) } == ["wal"])
        let usual = try open(folder.path("b.db"))
        #expect(try usual.number("PRAGMA synchronous") == 1)
    }
}
