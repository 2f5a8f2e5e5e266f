import Messages
import Testing
import Values

@testable import Settings

/// What comes back after a restart.
@Suite struct ReopeningTests {
    @Test func reopeningChangesNothing() throws {
        var bench = try Bench(file: "trace: {qos: 0}")
        try bench.set(["axes": ["all": ["filter": "none"]], "trace": ["block_s": 0.1]])
        try bench.set(["mqtt": ["password": "secret", "root": "r"]], confirm: 60)
        bench.ledger.reject(["a": 1], [CodedError("/a", .unknownKey, "No.")], source: "s", now: today)
        let before = bench.ledger.document
        for _ in 0..<3 {
            let read = try JSONReader.read(bench.ledger.document.json())
            let (again, notes) = try SettingsLedger.open(bench.layers, document: read, now: today)
            #expect(again.document == before && notes.isEmpty)
            #expect(again.settings == bench.ledger.settings)
            bench.ledger = again
        }
    }

    @Test func anOverlayThatTheFileOfTodayMakesInvalidIsLeft() throws {
        var bench = try Bench(file: "sensor: {rate_hz: 200}")
        try bench.set(["trace": ["qos": 0]])
        try bench.set(["trace": ["rate_hz": 150]])
        try bench.restart(orderly: true, file: "sensor: {rate_hz: 100}")
        #expect(bench.notes.map(\.kind) == [.refused] && bench.notes[0].errors.map(\.code) == [.crossField])
        #expect(bench.configuration.trace.rate == 20 && bench.configuration.trace.qos == 0)
        #expect(bench.ledger.revision == 3)
        try bench.restart(orderly: true)
        #expect(bench.notes.isEmpty && bench.ledger.revision == 3)
    }

    @Test func whatTheFileLocksNowIsTakenOut() throws {
        var bench = try Bench()
        try bench.set(["trace": ["qos": 0, "rate_hz": 5]])
        try bench.restart(orderly: true, file: "locked: [trace.qos]")
        #expect(bench.notes.map(\.kind) == [.locked])
        #expect(bench.configuration.trace.qos == 1 && bench.configuration.trace.rate == 5)
        #expect(bench.errors(.rollback(to: 1)).isEmpty)
        let rev1 = try bench.change(.rollback(to: 1))
        #expect(rev1 == 2, "without the locked key it is what is in force")
        try bench.restart(orderly: true)
        #expect(bench.notes.isEmpty)
    }

    @Test func aWrongFileIsStillAnError() throws {
        #expect(throws: CodedErrors.self) { _ = try Bench(file: "trace: {qos: 7}") }
    }

    @Test(arguments: [
        "[]", "{}", "{\"v\":2,\"revisions\":[]}", "{\"v\":1}", "{\"v\":1,\"revisions\":[]}",
        "{\"v\":1,\"revisions\":[1]}",
        "{\"v\":1,\"revisions\":[{\"rev\":-1,\"t\":0,\"source\":\"\",\"changed\":[],\"good\":true,\"overlay\":{}}]}",
        "{\"v\":1,\"revisions\":[{\"rev\":1,\"t\":0,\"source\":\"\",\"changed\":[],\"good\":true,\"overlay\":7}]}",
        "{\"v\":1,\"revisions\":[{\"rev\":1,\"t\":-9223372036854775808,\"source\":\"\",\"changed\":[],\"good\":true,\"overlay\":{}}]}",
        "{\"v\":1,\"revisions\":[{\"rev\":1,\"t\":0,\"source\":\"\",\"changed\":[],\"good\":true,\"overlay\":{}}],\"pending\":{\"deadline\":1,\"seconds\":1e300,\"reconnects\":true}}",
        "{\"v\":1,\"revisions\":[{\"rev\":1,\"t\":0,\"source\":\"\",\"changed\":[],\"good\":true,\"overlay\":{}}],\"trial\":{}}",
        "{\"v\":1,\"revisions\":[{\"rev\":1,\"t\":0,\"source\":\"\",\"changed\":[],\"good\":true,\"overlay\":{}}],\"rejected\":3}",
    ]) func aDocumentThatIsNoneIsLeft(_ text: String) throws {
        let bench = try Bench(document: try JSONReader.read(Array(text.utf8)))
        #expect(bench.notes.map(\.kind) == [.damaged] && bench.ledger.revision == 0)
        #expect(bench.configuration.trace == TraceConfiguration())
    }

    // MARK: deaths

    @Test func threeDeathsSoonAfterAChangeTakeItBack() throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]])
        try bench.restart(orderly: true, after: 20 * minute)
        try bench.set(["trace": ["rate_hz": 4]])
        for _ in 0..<2 {
            try bench.restart(after: minute)
            #expect(bench.notes.isEmpty && bench.configuration.trace.rate == 4)
        }
        try bench.restart(after: minute)
        #expect(bench.notes.map(\.kind) == [.died] && bench.notes[0].revision == 2)
        #expect(bench.configuration.trace.rate == 5 && bench.ledger.revision == 3)
        #expect(bench.ledger.needsRestart == [])
        for _ in 0..<5 { try bench.restart(after: minute) }
        #expect(bench.configuration.trace.rate == 5, "that one was in force for twenty minutes: it is not to blame")
    }

    @Test func aYoungRevisionThatIsGoneBackToIsOnTrialInTurn() throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]])
        try bench.set(["trace": ["rate_hz": 4]])
        for _ in 0..<3 { try bench.restart(after: minute / 2) }
        #expect(bench.configuration.trace.rate == 5)
        for _ in 0..<3 { try bench.restart(after: minute / 2) }
        #expect(bench.configuration.trace.rate == 20 && bench.ledger.shownOverlay == [:])
        for _ in 0..<5 { try bench.restart(after: minute / 2) }
        #expect(bench.ledger.shownOverlay == [:])
    }

    @Test func deathsLaterThanTenMinutesOrOrderlyEndsDoNotCount() throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]])
        for _ in 0..<6 { try bench.restart(orderly: true, after: minute) }
        #expect(bench.configuration.trace.rate == 5)
        try bench.restart(after: 10 * minute)
        for _ in 0..<6 { try bench.restart(after: minute) }
        #expect(bench.configuration.trace.rate == 5 && bench.ledger.revision == 1)
    }

    /// What takes effect with the next start is on trial from there.
    @Test func theTimeCountsFromTheStartThatTakesTheChangeUp() throws {
        var bench = try Bench()
        try bench.set(["station": ["id": "new"]])
        try bench.restart(orderly: true, after: 60 * minute)
        for _ in 0..<3 { try bench.restart(after: minute) }
        #expect(bench.notes.map(\.kind) == [.died] && bench.configuration.station.id == "host")
    }

    /// A board whose clock begins in the past with each start: no time of it says how long a change was in force.
    @Test(arguments: [0, today - 1000 * minute, today + minute], [false, true])
    func aChangeThatHasProvenGoodIsNotTakenBackHoweverTheClockBegins(_ start: Int64, isConfirmed: Bool) throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]], confirm: isConfirmed ? 60 : nil)
        if isConfirmed {
            try bench.ledger.confirm(revision: nil, connection: 1)
        } else {
            let early = bench.ledger.lived(monotonic: 10 * minute - 1)
            #expect(!early)
            let isProven = bench.ledger.lived(monotonic: 10 * minute)
            #expect(isProven)
        }
        for _ in 0..<6 {
            bench.now = start
            try bench.restart(after: minute)
            #expect(bench.notes == [] && bench.configuration.trace.rate == 5)
        }
    }

    /// It counts from the start of the process that has lived so long with it.
    @Test func theTimeThatAProcessLivesEndsATrial() throws {
        var bench = try Bench(now: 0)
        try bench.set(["trace": ["rate_hz": 5]])
        try bench.restart()
        let note = bench.ledger.started(now: 0, monotonic: 100 * minute)
        #expect(note == nil && bench.ledger.trial?.deaths == 2)
        let early = bench.ledger.lived(monotonic: 110 * minute - 1)
        let isProven = bench.ledger.lived(monotonic: 110 * minute)
        #expect(!early && isProven)
        for _ in 0..<4 { try bench.restart(after: minute) }
        #expect(bench.notes == [] && bench.configuration.trace.rate == 5)
    }

    /// What takes effect with the next start has proven nothing by a confirmation, nor by time before that.
    @Test func aChangeThatAwaitsTheNextStartStaysOnTrial() throws {
        var bench = try Bench()
        try bench.set(["station": ["id": "new"]], confirm: 60)
        try bench.ledger.confirm(revision: nil, connection: 2)
        let isProven = bench.ledger.lived(monotonic: 60 * minute)
        #expect(!isProven)
        try bench.restart(orderly: true, after: 60 * minute)
        for _ in 0..<3 { try bench.restart(after: minute) }
        #expect(bench.notes.map(\.kind) == [.died] && bench.configuration.station.id == "host")
    }

    @Test func withoutAChangeNothingIsToBeWritten() throws {
        var bench = try Bench()
        let before = bench.ledger.document
        let note = bench.ledger.started(now: today)
        #expect(note == nil)
        #expect(bench.ledger.document == before)
        bench.ledger.ended()
        #expect(bench.ledger.document == before)
    }

    // MARK: secrets

    @Test func aSecretIsKeptButNeverShown() throws {
        var bench = try Bench()
        try bench.set(["mqtt": ["username": "u", "password": "hunter2"]], confirm: 60)
        #expect(bench.configuration.mqtt.password == "hunter2")
        try bench.ledger.confirm(revision: nil, connection: 2)
        try bench.restart(orderly: true)
        #expect(bench.configuration.mqtt.password == "hunter2", "it survives")
        #expect(bench.ledger.settings.effective["mqtt"]?["password"] == "***")
        #expect(bench.ledger.shownOverlay["mqtt"]?["password"] == "***")
        let rev2 = try bench.set(["mqtt": ["password": "***", "username": "u"]])
        #expect(rev2 == 1, "as it is")
        #expect(bench.configuration.mqtt.password == "hunter2")
        let other: Value = ["mqtt": ["password": "hunter3", "passwrd": "hunter4", "nothing": 1]]
        let found = bench.errors(other)
        bench.ledger.reject(other, found, source: "", now: today)
        let long = String(repeating: "hunter5", count: 50)
        let many = bench.errors(["mqtt": ["password": .string(long)]]) + bench.errors(["mqtt": ["password": 77_777]])
        let shown = [try #require(bench.ledger.lastRejected?.value), .array(many.map(\.value))]
        for value in shown {
            let text = String(decoding: value.json(), as: UTF8.self)
            #expect(!text.contains("hunter") && !text.contains("77777"), "\(text)")
        }
        #expect(many.map(\.code) == [.range, .type])
        let locked = try Bench(file: "locked: [mqtt]").errors(["mqtt": ["password": "hunter2"]])
        #expect(locked.map(\.code) == [.locked] && locked[0].got == "***")
        // There is no such key: who knows what was meant.
        #expect(bench.ledger.lastRejected?.patch["mqtt"]?["nothing"] == "***")
    }

    @Test func aLongRefusedChangeIsNotKept() throws {
        var bench = try Bench()
        let long = Value.array(Array(repeating: "xxxxxxxxxx", count: 10_000))
        bench.ledger.reject(["a": long], [], source: String(repeating: "s", count: 10_000), now: today)
        #expect(bench.ledger.document.json().count < 2000)
    }
}
