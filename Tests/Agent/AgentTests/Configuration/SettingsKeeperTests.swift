import Foundation
import Messages
import TestSupport
import Testing
import Values

@testable import Agent
@testable import Settings

/// What was set remotely on the disk: the old or the new, whole, whatever happens.
@Suite struct SettingsKeeperTests {
    private static let layers = SettingsLayers(file: Array("storage: {directory: /s}".utf8), stationID: "host")

    private static let faults: [FaultyFiles.Fault] = [.death, .death, .tornDeath, .error(ENOSPC), .error(EIO)]

    private static func open(_ files: FaultyFiles) throws -> SettingsKeeper {
        let bytes = files.contents("/s/settings.json")
        let document = try bytes.map { bytes throws in try JSONReader.read(bytes) }
        let (ledger, notes) = try SettingsLedger.open(layers, document: document, now: HostClock.wall())
        return SettingsKeeper(ledger, notes, files: files)
    }

    /// Random valid changes, each with a fault at any call of the write: an error, the end of the process before the call
    /// or amid it, with or without a power cut. More of them with SEISMOTE_PATCHES.
    @Test(arguments: [1, 2]) func theOldOrTheNewIsFoundWhole(seed: UInt64) throws {
        let count = ProcessInfo.processInfo.environment["SEISMOTE_PATCHES"].flatMap { Int($0) } ?? 400
        var random = SeededGenerator(seed: seed)
        let files = FaultyFiles()
        var keeper = try Self.open(files)
        var seen = (old: 0, new: 0, refused: 0)
        for step in 0..<count / 2 {
            let proposal = try keeper.propose(.merge(RandomPatch.make(&random)))
            let old = keeper.ledger
            guard proposal.overlay != old.revisions.last?.overlay else { continue }
            let fault = Self.faults[Int.random(in: 0..<Self.faults.count, using: &random)]
            files.plan(fault, after: Int.random(in: 0...16, using: &random))
            let revision = try? keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
            if revision == nil {
                seen.refused += 1
                #expect(keeper.ledger.revision == old.revision && keeper.settings == old.settings, "step \(step)")
            }
            if case .error = fault, revision == nil, Bool.random(using: &random) {
                // The process lives on, and so does what was there before.
                let found = try Self.open(files)
                #expect(found.ledger.revision == old.revision && found.settings == old.settings, "step \(step)")
            }
            files.restart(powerCut: Bool.random(using: &random), &random)
            keeper = try Self.open(files)
            #expect(keeper.notes == [], "step \(step)")
            if keeper.ledger.revision == old.revision {
                seen.old += 1
                #expect(keeper.ledger.revisions == old.revisions && revision == nil, "step \(step)")
            } else {
                seen.new += 1
                #expect(keeper.ledger.revision == old.revision + 1, "step \(step)")
                #expect(keeper.settings == proposal.settings, "step \(step)")
            }
        }
        print("found the old \(seen.old) times, the new \(seen.new) times; refused \(seen.refused)")
        #expect(seen.old > count / 20 && seen.new > count / 20)
    }

    /// The calls of a write: a file of its own is whole and durable before it takes the name of the old one.
    @Test func aWriteMakesTheFileDurableBeforeItCounts() throws {
        let files = FaultyFiles()
        let keeper = try Self.open(files)
        files.plan(nil, after: 0)
        let proposal = try keeper.propose(.merge(["trace": ["qos": 0]]))
        _ = try keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
        #expect(files.calls >= 8)
        var random = SeededGenerator(seed: 1)
        files.restart(powerCut: true, &random)
        let found = try Self.open(files)
        #expect(found.settings.configuration.trace.qos == 0 && found.ledger.revision == 1)
    }

    @Test func nothingIsWrittenWithoutAChange() throws {
        let files = FaultyFiles()
        let keeper = try Self.open(files)
        keeper.started()
        keeper.ended()
        #expect(files.calls == 0)
    }

    @Test func aChangeThatTheDiskDoesNotTakeIsNotInForce() throws {
        let files = FaultyFiles()
        let keeper = try Self.open(files)
        let proposal = try keeper.propose(.merge(["trace": ["qos": 0]]))
        files.plan(.error(ENOSPC), after: 0)
        do throws(CodedErrors) {
            _ = try keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
            Issue.record("adopted")
        } catch { #expect(error.errors.map(\.code) == [.unavailable]) }
        #expect(keeper.ledger.revision == 0 && keeper.settings.configuration.trace.qos == 1)
        let again = try keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
        #expect(again == 1)
    }

    @Test func refusedChangesDoNotWearOutTheDisk() throws {
        let files = FaultyFiles()
        let keeper = try Self.open(files)
        files.plan(nil, after: 0)
        for i in 0..<50 { keeper.reject(["trace": ["qos": .int(Int64(i))]], [], source: "test") }
        #expect(files.calls < 12 && keeper.ledger.lastRejected?.patch["trace"]?["qos"] == 49)
        keeper.ended()
        let found = try Self.open(files)
        #expect(found.ledger.lastRejected?.patch["trace"]?["qos"] == 49)
    }

    // MARK: real files

    @Test func aDamagedFileIsSetAsideAndTheFileHolds() throws {
        let folder = try TemporaryFolder()
        let layers = SettingsLayers(file: Array("storage: {directory: \"\(folder.url.path)\"}".utf8))
        let keeper = try SettingsKeeper(layers)
        let proposal = try keeper.propose(.merge(["mqtt": ["password": "p"]]), confirm: 60)
        _ = try keeper.adopt(proposal, confirm: 60, source: "test", connection: 1)
        let path = folder.path("settings.json")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? Int) == 0o600, "it has the password")
        let reopened = try SettingsKeeper(layers)
        #expect(reopened.settings.configuration.mqtt.password == "p")
        try Data("{\"v\":1,".utf8).write(to: URL(fileURLWithPath: path))
        let looked = try SettingsKeeper(layers, setsAside: false)
        #expect(looked.notes.map(\.kind) == [.damaged] && FileManager.default.fileExists(atPath: path))
        let again = try SettingsKeeper(layers)
        #expect(again.notes.map(\.kind) == [.damaged] && again.ledger.revision == 0)
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
        again.started()
        let clean = try SettingsKeeper(layers)
        #expect(clean.notes.isEmpty)
    }

    /// Two revisions in a real file: the latitude was 10, then 48.
    private static func changedTwice(_ folder: TemporaryFolder) throws -> (layers: SettingsLayers, path: String) {
        let layers = SettingsLayers(file: Array("storage: {directory: \"\(folder.url.path)\"}".utf8))
        let keeper = try SettingsKeeper(layers)
        for latitude in [10.25, 48.5] {
            let patch: Value = ["station": ["latitude": .double(latitude), "longitude": 11]]
            _ = try keeper.adopt(keeper.propose(.merge(patch)), confirm: nil, source: "test", connection: 1)
        }
        return (layers, folder.path("settings.json"))
    }

    /// Defect: 6 of 90 flipped bits gave other settings in silence, such as another latitude.
    @Test func noFlippedBitGivesOtherSettingsInSilence() throws {
        let folder = try TemporaryFolder()
        let (layers, path) = try Self.changedTwice(folder)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let whole = try SettingsLedger.stored(layers, now: HostClock.wall())
        #expect(whole.isSealed && whole.notes.isEmpty && whole.ledger.settings.configuration.station.latitude == 48.5)
        let document = try JSONReader.read(bytes)
        var (found, same) = (0, 0)
        for bit in 0..<8 * bytes.count {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            do throws(CodedError) {
                let (read, _) = try SealedDocument.read(damaged, known: SettingsLedger.documentKeys)
                same += 1
                #expect(read == document, "bit \(bit)")
            } catch { found += 1 }
            // The way of the agent's start as a whole, of some.
            guard bit % 61 == 0 else { continue }
            try Data(damaged).write(to: URL(fileURLWithPath: path))
            let start = try SettingsLedger.stored(layers, now: HostClock.wall())
            #expect(start.notes.map(\.kind) == [.damaged] && start.ledger.revision == 1, "bit \(bit)")
            #expect(start.ledger.settings.configuration.station.latitude == 10.25, "bit \(bit)")
        }
        print("\(found) of \(8 * bytes.count) flipped bits found, \(same) change nothing")
        #expect(found == 8 * bytes.count)
    }

    @Test func theFileBeforeADamagedOneHoldsAlsoWhereNothingCanBeWritten() throws {
        let folder = try TemporaryFolder()
        let (layers, path) = try Self.changedTwice(folder)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try Data(text.replacingOccurrences(of: "48.5", with: "49.5").utf8).write(to: URL(fileURLWithPath: path))
        // One start after the other that does not come as far as to write anything.
        #expect(try SettingsKeeper(layers).notes.map(\.kind) == [.damaged])
        let next = try SettingsKeeper(layers)
        #expect(next.ledger.revision == 1 && next.settings.configuration.station.latitude == 10.25)
        #expect(try String(contentsOfFile: path + ".damaged", encoding: .utf8).contains("49.5"))
        next.started()
        let last = try SettingsKeeper(layers)
        #expect(last.notes.isEmpty && last.ledger.revision == 1)
        // Both: the settings file alone.
        for name in [path, path + ".before"] { try Data("{".utf8).write(to: URL(fileURLWithPath: name)) }
        let none = try SettingsKeeper(layers)
        #expect(none.notes.map(\.kind) == [.damaged] && none.ledger.revision == 0)
    }

    /// Files of earlier versions have no check sum, and a person takes it out to edit one. Either is sealed at the start.
    @Test func aFileWithoutACheckSumIsTakenAndGetsOne() throws {
        let folder = try TemporaryFolder()
        let (layers, path) = try Self.changedTwice(folder)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        guard case .object(let members) = try JSONReader.read(bytes) else { return }
        let unsealed = Value.object(members.filter { $0.key != SealedDocument.member }).json()
        let edited = String(decoding: unsealed, as: UTF8.self)
            .replacingOccurrences(of: "48.5", with: "49.5")
        try Data((edited + "\n").utf8).write(to: URL(fileURLWithPath: path))
        let keeper = try SettingsKeeper(layers)
        #expect(keeper.notes.isEmpty && keeper.settings.configuration.station.latitude == 49.5)
        keeper.started()
        let again = try SettingsLedger.stored(layers, now: HostClock.wall())
        #expect(again.isSealed && again.ledger.settings == keeper.settings)
    }

    /// The real agent, killed at any moment of its start, when it writes down that it has started.
    @Test func anAgentKilledAtItsStartLeavesAWholeFile() throws {
        let rounds = ProcessInfo.processInfo.environment["SEISMOTE_KILLS"].flatMap { Int($0) } ?? 12
        let folder = try TemporaryFolder()
        let layers = SettingsLayers(
            file: Array("sensor: {driver: simulate}\nstorage: {directory: \"\(folder.url.path)\"}".utf8))
        let file = try folder.write("seismote.yaml", String(decoding: layers.file ?? [], as: UTF8.self))
        let path = folder.path("settings.json")
        var changed = 0
        for round in 0..<rounds {
            try? FileManager.default.removeItem(atPath: path)
            let keeper = try SettingsKeeper(layers)
            for rate in 1...3 {
                let proposal = try keeper.propose(.merge(["trace": ["rate_hz": .int(Int64(rate))]]))
                _ = try keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
            }
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let agent = try ChildProcess(AgentProcess.program, ["--config", file])
            usleep(UInt32(1000 * (round % 40)))
            agent.signal(SIGKILL)
            _ = agent.wait(within: 10)
            let found = try SettingsKeeper(layers)
            #expect(found.notes == [] && found.ledger.revision == 3, "round \(round)")
            #expect(found.settings.configuration.trace.rate == 3)
            if try Data(contentsOf: URL(fileURLWithPath: path)) != before { changed += 1 }
        }
        print("killed \(rounds) times, \(changed) of them after the file was written anew")
    }

    @Test func theAgentAndTheToolTakeTheOverlayUp() throws {
        let folder = try TemporaryFolder()
        let text = "station: {id: board}\nsensor: {driver: simulate}\nstorage: {directory: \"\(folder.url.path)\"}"
        let keeper = try SettingsKeeper(SettingsLayers(file: Array(text.utf8)))
        let proposal = try keeper.propose(.merge(["trace": ["rate_hz": 7]]))
        _ = try keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
        let file = try folder.write("seismote.yaml", text)
        let check = try ChildProcess(AgentProcess.program, ["--check", "--config", file])
        #expect(check.wait(within: 20) == 0 && check.errors == "")
        let tool = AgentProcess.builtProgram("seismote")
        let explain = try ChildProcess(tool, ["config", "explain", "trace.rate_hz", "--config", file])
        #expect(explain.wait(within: 20) == 0)
        #expect(explain.output.contains("trace.rate_hz = 7") && explain.output.contains("overlay"), "\(explain.output)")
        // Locked since: taken out, and said.
        _ = try folder.write("seismote.yaml", text + "\nlocked: [trace]\n")
        let locked = try ChildProcess(AgentProcess.program, ["--check", "--config", file])
        #expect(locked.wait(within: 20) == 0 && locked.errors.contains("locked"), "\(locked.errors)")
    }
}
