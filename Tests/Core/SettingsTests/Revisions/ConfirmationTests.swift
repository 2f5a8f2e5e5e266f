import Messages
import Testing
import Values

@testable import Settings

/// Changes that go back by themselves.
@Suite struct ConfirmationTests {
    @Test(arguments: [
        "{\"uri\":\"mqtt://other\"}", "{\"username\":\"u\"}", "{\"password\":\"p\"}", "{\"root\":\"r\"}",
        "{\"tls\":{\"alpn\":\"mqtt\"}}", "{\"tls\":{\"min_version\":1.3}}", "{\"protocol\":\"3.1.1\"}",
    ]) func aNewConnectionNeedsAConfirmation(_ patch: String) throws {
        var bench = try Bench()
        let change: Value = ["mqtt": try JSONReader.read(Array(patch.utf8))]
        let found = bench.errors(change)
        #expect(found.map(\.path) == ["/confirm_s"] && found.map(\.code) == [.crossField])
        try bench.set(change, confirm: 60)
        #expect(bench.ledger.pending?.needsNewConnection == true && bench.ledger.revisions.last?.isGood == false)
        #expect(bench.ledger.pending?.deadline == today + minute)
    }

    @Test(arguments: ["{\"keepalive_s\":10}", "{\"reconnect\":{\"max_s\":60}}", "{\"will_delay_s\":0}"])
    func otherSettingsOfTheConnectionNeedNone(_ patch: String) throws {
        let bench = try Bench()
        #expect(bench.errors(["mqtt": try JSONReader.read(Array(patch.utf8))]).isEmpty)
    }

    @Test func itIsConfirmedOverAConnectionMadeAfterTheChange() throws {
        var bench = try Bench()
        try bench.set(["mqtt": ["root": "r"]], confirm: 60)
        for connection in [UInt64(0), 1] { #expect(bench.confirmation(1, connection) == [.conflict]) }
        #expect(bench.confirmation(2, 2) == [.conflict])
        #expect(bench.ledger.pending != nil)
        let rev1 = try bench.ledger.confirm(revision: 1, connection: 2)
        #expect(rev1 == 1)
        #expect(bench.ledger.pending == nil && bench.ledger.revisions.last?.isGood == true)
        let nothing = bench.ledger.revert(now: today)
        #expect(nothing == nil)
        #expect(bench.confirmation(nil, 3) == [.conflict])
    }

    @Test func aChangeThatLeavesTheConnectionIsConfirmedOverAny() throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]], confirm: 60)
        let rev2 = try bench.ledger.confirm(revision: nil, connection: 1)
        #expect(rev2 == 1)
    }

    @Test func itGoesBackAndTheRevisionRises() throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]])
        try bench.set(["mqtt": ["root": "r"], "trace": ["qos": 0]], confirm: 60)
        let reverted = bench.ledger.revert(now: today + minute)
        let proposal = try #require(reverted)
        #expect(proposal.changed == ["trace.qos", "mqtt.root"] && proposal.reconnects)
        #expect(bench.ledger.revision == 3 && bench.ledger.pending == nil)
        #expect(bench.configuration.mqtt.root == "seismote" && bench.configuration.trace.rate == 5)
        #expect(bench.ledger.revisions.map(\.isGood) == [true, true, false, true])
        try bench.restart()
        #expect(bench.ledger.revision == 3 && bench.configuration.mqtt.root == "seismote")
    }

    /// Whatever is set while a change waits would go with it, or keep it: so nothing is.
    @Test func whileAChangeWaitsOnlyTheWayBackIsOpen() throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]])
        try bench.set(["mqtt": ["root": "r"]], confirm: 60)
        #expect(bench.errors(["trace": ["qos": 0]]).map(\.code) == [.conflict])
        #expect(bench.errors(.reset, confirm: 60).map(\.code) == [.conflict])
        #expect(bench.errors(.rollback(to: 0), confirm: 60).map(\.code) == [.conflict])
        #expect(bench.errors(.rollback(to: 1)).isEmpty)
        let rev3 = try bench.change(.rollback(to: nil))
        #expect(rev3 == 3)
        #expect(bench.ledger.pending == nil && bench.configuration.mqtt.root == "seismote")
        #expect(bench.ledger.revisions.map(\.isGood) == [true, true, false, true])
    }

    @Test func aRestartLeavesTheRestOfTheTime() throws {
        var bench = try Bench()
        try bench.set(["mqtt": ["root": "r"]], confirm: 60)
        try bench.restart(orderly: true, after: 20_000_000_000)
        #expect(bench.ledger.pending?.deadlineMonotonic == 40_000_000_000)
        #expect(bench.configuration.mqtt.root == "r" && bench.ledger.pending?.connection == 0)
        try bench.restart(orderly: true, after: 41_000_000_000)
        #expect(bench.notes.map(\.kind) == [.ranOut] && bench.configuration.mqtt.root == "seismote")
        #expect(bench.ledger.revision == 2)
    }

    /// A clock that went back never makes the time longer than was asked for.
    @Test func aClockThatJumpsLeavesTheTimeBounded() throws {
        var bench = try Bench()
        try bench.set(["mqtt": ["root": "r"]], confirm: 60)
        try bench.restart(orderly: true, after: -1000 * minute)
        #expect(bench.ledger.pending?.deadlineMonotonic == minute)
    }

    @Test func aResetOrRollbackThatChangesTheConnectionNeedsAConfirmationToo() throws {
        var bench = try Bench()
        try bench.set(["mqtt": ["root": "r"]], confirm: 60)
        try bench.ledger.confirm(revision: nil, connection: 2)
        #expect(bench.errors(.reset).map(\.path) == ["/confirm_s"])
        #expect(bench.errors(.rollback(to: 0)).map(\.path) == ["/confirm_s"])
        #expect(bench.errors(.reset, confirm: 60).isEmpty)
    }
}
