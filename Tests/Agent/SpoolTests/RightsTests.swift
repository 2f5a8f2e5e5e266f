import Glibc
import TestSupport
import Testing

@testable import Spool

/// Who may read what is stored.
@Suite(.serialized) struct RightsTests {
    /// A defect: without the service's umask the database could be read by everybody, and its lock by the group.
    @Test func filesAreOfTheStationAloneWhateverTheUmask() throws {
        let folder = try TemporaryFolder()
        let before = umask(0)
        defer { umask(before) }
        let spool = try folder.open()
        for name in ["spool.db", "spool.db-wal", "spool.lock"] {
            var found = stat()
            #expect(stat(folder.path("s/\(name)"), &found) == 0 && found.st_mode & 0o777 == 0o600, "\(name)")
        }
        _ = consume spool
    }
}
