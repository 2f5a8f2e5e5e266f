import Association
import DatabaseFiles
import Foundation
import TestSupport
import Testing

@testable import seismote_network

/// What `seismote network` keeps of the runs of stations.
@Suite struct NetworkStoreTests {
    private static func marks(_ store: NetworkStore) throws -> [String] {
        try store.past().marks.map { "\($0.station) \($0.mark.boot) \($0.mark.number) \($0.mark.made ?? -1)" }
    }

    /// A defect: of each station the last run alone was there after a restart.
    @Test func allRunsOfAStationAreThereAfterARestart() throws {
        let folder = try TemporaryFolder()
        do {
            let store = try NetworkStore(folder: folder.path("db"))
            try store.perform([.mark(station: "a", .init(boot: "1", number: 7, made: 5))])
            try store.perform([.mark(station: "b", .init(boot: "1", number: 1))])
            try store.perform([.mark(station: "a", .init(boot: "2", number: 0, made: 9))])
            try store.perform([.mark(station: "a", .init(boot: "1", number: 8, made: 6))])
        }
        let store = try NetworkStore(folder: folder.path("db"))
        #expect(try Self.marks(store) == ["b 1 1 -1", "a 2 0 9", "a 1 8 6"])
        for run in 0..<40 { try store.perform([.mark(station: "a", .init(boot: "run \(run)", number: run))]) }
        let kept = try store.past().marks.filter { $0.station == "a" }
        #expect(kept.count == SequenceWatch.runLimit && kept.last?.mark.boot == "run 39")
        #expect(try store.past().marks.contains { $0.station == "b" })
    }

    @Test func whatAnEarlierVersionHasKeptIsTheFirstOfTheRuns() throws {
        let folder = try TemporaryFolder()
        do {
            let file = try DatabaseFile(
                folder.path("network.db"), application: 0x5365_694E,
                tables: [
                    "CREATE TABLE station(id TEXT PRIMARY KEY, info BLOB, boot TEXT, seq INTEGER) WITHOUT ROWID",
                    "INSERT INTO station(id, boot, seq) VALUES('a', 'old', 12)",
                    "CREATE TABLE log(n INTEGER PRIMARY KEY, arrival, station, topic, payload)",
                    "CREATE TABLE published(n INTEGER PRIMARY KEY, event, version, payload, sent, UNIQUE(event, version))",
                ], .init())
            _ = file
        }
        let store = try NetworkStore(folder: folder.path(""))
        try store.perform([.mark(station: "a", .init(boot: "new", number: 0))])
        #expect(try Self.marks(store) == ["a old 12 -1", "a new 0 -1"])
    }
}
