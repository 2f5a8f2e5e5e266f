import Messages
import Testing
import Values

@testable import Settings

/// Changes of the overlay as revisions.
@Suite struct LedgerTests {
    @Test func withoutADocumentTheFileHolds() throws {
        let bench = try Bench(file: "trace: {rate_hz: 10}")
        #expect(bench.ledger.revision == 0 && bench.ledger.settings.configuration.trace.rate == 10)
        #expect(bench.ledger.settings.configuration.station.id == "host")
        #expect(bench.ledger.settings.effective["station"]?["id"] == "host")
        #expect(bench.ledger.revisions.count == 1 && bench.notes.isEmpty && bench.ledger.pending == nil)
        #expect(bench.ledger.shownOverlay == [:] && bench.ledger.needsRestart == [])
    }

    @Test func aPatchIsMergedIntoTheOverlayAndNullTakesAKeyOutOfIt() throws {
        var bench = try Bench(file: "trace: {rate_hz: 10, qos: 0}")
        let rev1 = try bench.set(["trace": ["rate_hz": 5, "block_s": "2 s"]])
        #expect(rev1 == 1)
        let rev2 = try bench.set(["trace": ["block_s": 3], "log": ["level": "debug"]])
        #expect(rev2 == 2)
        var c = bench.ledger.settings.configuration
        #expect(c.trace.rate == 5 && c.trace.block == 3 && c.trace.qos == 0 && c.log.level == .debug)
        #expect(bench.ledger.shownOverlay == ["trace": ["rate_hz": 5, "block_s": 3], "log": ["level": "debug"]])
        #expect(bench.ledger.settings.sources["trace.rate_hz"] == .overlay)
        let rev3 = try bench.set(["trace": ["rate_hz": .null]])
        #expect(rev3 == 3)
        c = bench.ledger.settings.configuration
        #expect(c.trace.rate == 10, "that of the file")
        let rev4 = try bench.set(["trace": .null, "log": .null])
        #expect(rev4 == 4)
        #expect(bench.ledger.settings.configuration.trace.block == 1 && bench.ledger.shownOverlay == [:])
        #expect(bench.ledger.revisions.map(\.changed)[4] == ["trace.block_s", "log.level"])
        let left = bench.ledger.revisions.filter { !$0.isGood }
        #expect(left == [])
    }

    @Test func whatChangesNothingMakesNoRevision() throws {
        var bench = try Bench()
        let rev5 = try bench.set([:])
        #expect(rev5 == 0)
        let rev6 = try bench.set(["trace": ["rate_hz": .null]])
        #expect(rev6 == 0)
        let rev7 = try bench.set(["trace": ["rate_hz": 5]])
        #expect(rev7 == 1)
        let rev8 = try bench.set(["trace": ["rate_hz": 5]], confirm: 10)
        #expect(rev8 == 1)
        #expect(bench.ledger.pending == nil)
        let proposal = try bench.ledger.propose(.merge(["trace": ["rate_hz": 5.0]]))
        #expect(proposal.changed == [])
    }

    /// `all` is written to x, y and z at the time of the change; it does not stand behind what is set later or before.
    @Test func allMeansTheThreeAxes() throws {
        var bench = try Bench()
        try bench.set(["axes": ["x": ["detection": ["threshold": "1 mg"]]]])
        try bench.set(["axes": ["all": ["detection": ["threshold": 2]], "z": ["detection": ["threshold": 3]]]])
        let axes = bench.ledger.settings.configuration.axes
        #expect([axes.x, axes.y, axes.z].map(\.detection.threshold) == [2, 2, 3])
        #expect(bench.ledger.revisions[2].changed.count == 3)
        try bench.set(["axes": ["all": ["detection": ["threshold": .null]]]])
        #expect(bench.ledger.shownOverlay == [:])
        let found = bench.errors(["axes": ["all": ["filter": ["simple": ["type": "lowpass", "corner_hz": 60]]]]])
        #expect(found.map(\.path) == ["/axes/all/filter/simple/corner_hz"], "\(found)")
        #expect(found.map(\.code) == [.crossField])
    }

    @Test func unitsAreTakenAndSIIsShown() throws {
        var bench = try Bench()
        try bench.set([
            "axes": ["x": ["detection": ["threshold": "5 mg", "window": "200 ms"]]], "sensor": ["range": "4 g"],
            "trace": ["block_s": "500 ms"], "spectrum": ["min_hz": "500 mHz"], "health": ["interval_s": "2 min"],
        ])
        let shown = bench.ledger.settings.effective
        #expect(shown["axes"]?["x"]?["detection"]?["threshold"] == .double(0.005 * 9.80665))
        #expect(shown["axes"]?["x"]?["detection"]?["window"] == "0.2 s")
        #expect(shown["sensor"]?["range"] == .double(4 * 9.80665) && shown["trace"]?["block_s"] == 0.5)
        #expect(shown["spectrum"]?["min_hz"] == 0.5 && shown["health"]?["interval_s"] == 120)
    }

    @Test func aChangeSaysWhenItTakesEffect() throws {
        var bench = try Bench()
        let proposal = try bench.ledger.propose(
            .merge([
                "trace": ["rate_hz": 5], "sensor": ["rate_hz": 200], "station": ["id": "new"],
                "mqtt": ["keepalive_s": 60],
            ]))
        #expect(proposal.live == ["trace.rate_hz", "mqtt.keepalive_s"])
        #expect(proposal.restartStream == ["sensor.rate_hz"] && proposal.needsRestart == ["station.id"])
        #expect(proposal.changed == ["station.id", "sensor.rate_hz", "trace.rate_hz", "mqtt.keepalive_s"])
        #expect(!proposal.reconnects)
        #expect(bench.ledger.revision == 0 && bench.ledger.settings.configuration.trace.rate == 20, "a dry run")
        try bench.set(["station": ["id": "new"]])
        #expect(bench.ledger.needsRestart == ["station.id"])
        try bench.set(["trace": ["rate_hz": 5]])
        #expect(bench.ledger.needsRestart == ["station.id"])
        try bench.restart(orderly: true)
        #expect(bench.ledger.needsRestart == [] && bench.ledger.settings.configuration.station.id == "new")
        try bench.change(.rollback(to: 0))
        #expect(bench.ledger.needsRestart == ["station.id"])
    }

    // MARK: refusals

    @Test func everythingWrongIsSaidAtOnce() throws {
        var bench = try Bench(file: "locked: [trace.qos, sensor]")
        let patch: Value = [
            "trace": ["rate_hz": 0, "qos": 0, "blokk_s": 1], "sensor": ["rate_hz": 50], "health": 5,
            "storage": ["directory": "/x"], "mqtt": ["reconnect": ["min_s": 60, "max_s": 30], "root": "other"],
        ]
        let found = bench.errors(.merge(patch), ifRevision: 3, confirm: 0.5)
        let wanted: [(String, CodedError.Code)] = [
            ("/if_rev", .conflict), ("/confirm_s", .range), ("/trace/rate_hz", .range), ("/trace/blokk_s", .unknownKey),
            ("/health", .type), ("/trace/qos", .locked), ("/sensor/rate_hz", .locked), ("/storage/directory", .locked),
            ("/mqtt/reconnect/max_s", .crossField),
        ]
        #expect(Set(found.map { "\($0.path) \($0.code)" }) == Set(wanted.map { "\($0.0) \($0.1)" }), "\(found)")
        #expect(found.count == wanted.count)
        #expect(found.first { $0.code == .unknownKey }?.nearest == "block_s")
        bench.ledger.reject(patch, found, source: "someone", now: today)
        let untouched = try Bench()
        #expect(bench.ledger.revision == 0 && bench.configuration.trace == untouched.configuration.trace)
        #expect(bench.ledger.lastRejected?.errors.count == found.count)
        // What stands in a wrong place may be a secret.
        let kept = MergePatch.apply(["trace": ["blokk_s": "***"], "health": "***"], to: patch)
        #expect(bench.ledger.lastRejected?.patch == kept && bench.ledger.lastRejected?.source == "someone")
    }

    @Test(arguments: [
        ("{\"storage\":{\"directory\":\"/x\"}}", "/storage/directory"),
        ("{\"storage\":{\"directory\":null}}", "/storage/directory"),
        ("{\"mqtt\":{\"password_file\":\"/etc/shadow\"}}", "/mqtt/password_file"),
        ("{\"mqtt\":{\"tls\":{\"ca_file\":\"/x\"}}}", "/mqtt/tls/ca_file"),
        ("{\"axes\":{\"all\":{\"signal\":\"step\"}}}", "/axes/all/signal"),
        ("{\"axes\":{\"x\":{\"signal\":\"step\"}}}", "/axes/x/signal"),
        ("{\"health\":{\"interval_s\":5}}", "/health/interval_s"),
        ("{\"spectrum\":{\"window_s\":5}}", "/spectrum/window_s"),
    ]) func lockedKeysAreRefused(_ patch: String, _ path: String) throws {
        let bench = try Bench(file: "locked: [axes.x.signal, health]", overrides: ["spectrum.window_s=7"])
        let found = bench.errors(try JSONReader.read(Array(patch.utf8)))
        #expect(found.map(\.path) == [path] && found.map(\.code) == [.locked], "\(found)")
    }

    /// Null on a group is for what has been set below it, not for what nobody could have set.
    @Test func nullOnAGroupWithLockedKeysIsAllowed() throws {
        var bench = try Bench(file: "locked: [trace.qos]")
        try bench.set(["trace": ["rate_hz": 5], "mqtt": ["keepalive_s": 60]])
        try bench.set(["trace": .null, "mqtt": .null, "storage": .null])
        #expect(bench.ledger.shownOverlay == [:])
    }

    @Test func anotherRevisionThanTheOneInForceIsAConflict() throws {
        var bench = try Bench()
        try bench.set(["trace": ["rate_hz": 5]])
        #expect(bench.errors(.merge([:]), ifRevision: 0).map(\.code) == [.conflict])
        #expect(bench.errors(.reset, ifRevision: 2).map(\.path) == ["/if_rev"])
        #expect(bench.errors(.rollback(to: 0), ifRevision: 1).isEmpty)
    }

    // MARK: back

    @Test func resetDropsTheOverlay() throws {
        var bench = try Bench(file: "trace: {qos: 0}")
        try bench.set(["trace": ["rate_hz": 5, "qos": 1]])
        let rev9 = try bench.change(.reset)
        #expect(rev9 == 2)
        #expect(bench.ledger.settings.configuration.trace.qos == 0 && bench.ledger.shownOverlay == [:])
    }

    @Test func aRevisionComesBackUnderANewNumber() throws {
        var bench = try Bench()
        #expect(bench.errors(.rollback(to: nil)).map(\.code) == [.conflict])
        for rate in 1...4 { try bench.set(["trace": ["rate_hz": .int(Int64(rate))]]) }
        let rev10 = try bench.change(.rollback(to: 2))
        #expect(rev10 == 5)
        #expect(bench.ledger.settings.configuration.trace.rate == 2)
        let rev11 = try bench.change(.rollback(to: nil))
        #expect(rev11 == 6)
        #expect(bench.ledger.settings.configuration.trace.rate == 4, "the last one that differs")
        let rev12 = try bench.change(.rollback(to: 0))
        #expect(rev12 == 7)
        #expect(bench.ledger.shownOverlay == [:])
        let found = bench.errors(.rollback(to: 8))
        #expect(found.map(\.path) == ["/to_rev"] && found.map(\.allowed) == ["0, 1, 2, 3, 4, 5, 6, 7"])
    }

    @Test func tenRevisionsAreKept() throws {
        var bench = try Bench()
        for rate in 1...15 { try bench.set(["trace": ["rate_hz": .int(Int64(rate))]]) }
        #expect(bench.ledger.revisions.map(\.number) == Array(6...15))
        try bench.restart()
        #expect(bench.ledger.revisions.map(\.number) == Array(6...15))
        #expect(bench.errors(.rollback(to: 5)).map(\.code) == [.range])
    }
}

extension Bench {
    var configuration: Configuration { ledger.settings.configuration }
}
