import Messages
import Testing

@testable import seismote_update

/// An update on a machine that is a value, cut before each of its acts, and with a disk that is full from each of its writes on.
@Suite struct UpdaterTests {
    private static func machine(_ request: String? = "2 u auto upwards", isBad: Bool = false) -> FakeMachine {
        let machine = FakeMachine()
        machine.disk.request = request
        machine.isBad = isBad
        return machine
    }

    private static func run(_ machine: FakeMachine) throws -> Bool {
        var limits = UpdateLimits()
        (limits.patience, limits.settle, limits.calm) = (45, 5, 20)
        return try Updater(machine, limits: limits).run()
    }

    /// One of both versions, whole, which samples; nothing is left, and the end is told and counted once.
    private static func expectWhole(_ machine: FakeMachine, _ context: String) {
        let disk = machine.disk
        #expect(disk.job == nil && disk.request == nil, "\(context)")
        #expect(machine.runs && disk.state == "ii ", "\(context)")
        #expect(disk.database == disk.version && disk.settings == disk.version, "\(context): \(disk)")
        let phase = disk.told?.message.phase
        #expect(phase?.isEnd == true && machine.shown == disk.told, "\(context)")
        #expect((phase == .updated) == (disk.version == "2"), "\(context): \(disk)")
        #expect(disk.told?.message.id == "u" && disk.told?.message.version == "2", "\(context)")
        let counts = disk.counts
        #expect(counts.updated + counts.returned + counts.refused + counts.failed == 1, "\(context): \(counts)")
        #expect(disk.told?.message.ended == counts, "\(context)")
    }

    @Test(arguments: [false, true]) func anUpdateGoesToItsEnd(isBad: Bool) throws {
        let machine = Self.machine(isBad: isBad)
        #expect(try Self.run(machine))
        Self.expectWhole(machine, "")
        #expect(machine.disk.told?.message.phase == (isBad ? .returned : .updated))
        #expect(machine.disk.told?.message.reason == (isBad ? "the agent does not start: nothing works" : nil))
        let told = machine.acts.filter { $0.hasPrefix("tell ") }
        #expect(
            told
                == ["tell requested", "tell fetching", "tell installing", "tell installing", "tell watching"]
                + (isBad ? ["tell returning", "tell returned"] : ["tell updated"]))
    }

    @Test(arguments: [false, true]) func aPowerCutBeforeEachActLeavesOneVersionWhole(isBad: Bool) throws {
        let whole = Self.machine(isBad: isBad)
        _ = try Self.run(whole)
        #expect(whole.acts.count > 30)
        for number in whole.acts.indices {
            let machine = Self.machine(isBad: isBad)
            machine.cutBefore = number
            #expect(throws: PowerCut.self) { try Self.run(machine) }
            machine.restartAfterCut()
            // (A request that was taken, and is no job yet, is gone: nothing was changed.)
            if machine.disk.job == nil, machine.disk.request == nil, machine.disk.told == nil {
                #expect(try Self.run(machine))
                #expect(machine.disk.version == "1" && machine.runs)
                continue
            }
            #expect(try Self.run(machine))
            if machine.shown == nil { machine.shown = machine.disk.told }
            Self.expectWhole(machine, "cut before \(number), \(whole.acts[number])")
        }
    }

    /// A cut in every start after a cut: no step is begun for ever.
    @Test func aStepThatIsCutAgainAndAgainEndsTheUpdate() throws {
        let whole = Self.machine()
        _ = try Self.run(whole)
        for number in whole.acts.indices {
            let machine = Self.machine()
            machine.cutBefore = number
            var isOver = false
            for _ in 0..<40 where !isOver {
                do { isOver = try Self.run(machine) } catch is PowerCut {
                    machine.restartAfterCut()
                    machine.cutBefore = ["over", "end", "back"].contains(machine.disk.job?["step"]) ? nil : 8
                }
            }
            #expect(isOver, "\(whole.acts[number])")
            #expect(machine.disk.job == nil && machine.runs && machine.disk.state == "ii ")
        }
    }

    /// From each act on: the agent runs whenever the program ends, and with room again the update ends.
    @Test(arguments: [false, true], [false, true])
    func aDiskThatIsFullFromAnyActOnNeverLeavesTheAgentStopped(isBad: Bool, isOnlyForLarge: Bool) throws {
        let whole = Self.machine(isBad: isBad)
        _ = try Self.run(whole)
        for number in whole.acts.indices {
            let machine = Self.machine(isBad: isBad)
            (machine.fullFrom, machine.isOnlyForLarge) = (number, isOnlyForLarge)
            let context = "full from \(number), \(whole.acts[number])"
            let isDone = try Self.run(machine)
            #expect(machine.runs, "\(context)")
            #expect(machine.shown != nil || !isDone, "\(context)")
            if isDone, machine.disk.job == nil {
                #expect(machine.shown?.message.phase.isEnd == true, "\(context)")
            }
            let wasTaken = machine.disk.job != nil
            machine.fullFrom = nil
            #expect(try Self.run(machine), "\(context)")
            if wasTaken || isOnlyForLarge { Self.expectWhole(machine, context) }
            #expect(machine.disk.state == "ii " && machine.runs, "\(context)")
        }
    }

    /// A disk that has room again after a moment.
    @Test func oneWriteThatFailsEndsTheUpdateAndNoMore() throws {
        let whole = Self.machine()
        _ = try Self.run(whole)
        for number in whole.acts.indices {
            let machine = Self.machine()
            (machine.fullFrom, machine.fullFor) = (number, 1)
            if try !Self.run(machine) { _ = try Self.run(machine) }
            #expect(machine.disk.job == nil && machine.runs && machine.disk.state == "ii ", "\(whole.acts[number])")
        }
    }

    // MARK: requests

    @Test func aRequestWhileAnUpdateIsUnderWayIsRefusedAndAnswered() throws {
        let machine = Self.machine()
        machine.happens[20] = { $0.request = "3 second auto upwards" }
        #expect(try Self.run(machine))
        #expect(machine.disk.told?.message.phase == .updated && machine.disk.told?.message.id == "u")
        let refused = try #require(machine.disk.told?.refused)
        #expect(refused.id == "second" && refused.version == "3" && refused.phase == .refused)
        #expect(refused.reason?.contains("an update to 2 is under way") == true)
        #expect(machine.disk.counts == .init(updated: 1, refused: 1))
        #expect(machine.said.contains { $0.contains("came while this update was under way is refused") })
    }

    /// Whenever it comes: carried out, or refused with an answer; never dropped.
    @Test func aRequestAtAnyMomentHasAnAnswer() throws {
        let whole = Self.machine()
        _ = try Self.run(whole)
        for number in whole.acts.indices.dropFirst(2) {
            let machine = Self.machine()
            machine.happens[number] = { $0.request = "3 second auto upwards" }
            #expect(try Self.run(machine))
            // (The path unit starts the program for one that comes at its end.)
            if machine.isAsked { #expect(try Self.run(machine)) }
            let told = machine.disk.told
            #expect(told?.refused?.id == "second" || told?.message.id == "second", "\(whole.acts[number])")
            let counts = machine.disk.counts
            #expect(counts.updated + counts.refused == 2, "\(whole.acts[number]): \(counts)")
        }
    }

    @Test func afterAFailureANewRequestIsTakenAndAnsweredTruthfully() throws {
        let machine = Self.machine(isBad: true)
        // (The package of before has gone bad.)
        machine.happens[40] = { $0.hasOld = false }
        #expect(try !Self.run(machine))
        #expect(machine.shown?.message.phase == .failed && machine.runs)
        machine.happens = [:]
        machine.disk.request = "3 second auto upwards"
        #expect(try !Self.run(machine))
        #expect(machine.disk.request == nil)
        let refused = try #require(machine.shown?.refused)
        #expect(refused.id == "second" && refused.version == "3")
        #expect(refused.reason?.contains("the update to 2 has failed") == true)
        #expect(machine.shown?.message.phase == .failed)
        // And it is not forgotten: with the package again it ends.
        machine.disk.hasOld = true
        #expect(try Self.run(machine))
        #expect(machine.disk.told?.message.phase == .returned && machine.disk.version == "1")
    }

    @Test(arguments: [
        "", "1.0;reboot x auto upwards", "1.0 x auto upwards more", "https://x/y.deb x auto upwards",
        "-o=x x auto upwards",
    ])
    func whatIsNoRequestIsRefused(line: String) throws {
        let machine = Self.machine(line)
        #expect(try Self.run(machine))
        #expect(machine.disk.told?.message.phase == .refused && machine.disk.job == nil && machine.disk.version == "1")
        #expect(machine.disk.told?.message.reason?.contains("a Debian version is wanted") == true)
        #expect(machine.disk.counts == .init(refused: 1))
    }

    @Test func olderAndPresentVersionsAreRefused() throws {
        for (line, words) in [("1 u auto upwards", "installed already"), ("0 u auto upwards", "older than")] {
            let machine = Self.machine(line)
            #expect(try Self.run(machine))
            #expect(machine.disk.told?.message.phase == .refused)
            #expect(machine.disk.told?.message.reason?.contains(words) == true)
        }
        let machine = Self.machine("0 u auto downgrade")
        #expect(try Self.run(machine))
        #expect(machine.disk.version == "0" && machine.disk.told?.message.phase == .updated)
    }

    @Test func listsThatAPowerCutHasEmptiedAreFetchedAnew() throws {
        let machine = Self.machine()
        machine.disk.areListsEmpty = true
        #expect(try Self.run(machine))
        #expect(machine.acts.contains("readSources true") && machine.disk.told?.message.phase == .updated)
        let other = Self.machine()
        #expect(try Self.run(other))
        #expect(!other.acts.contains("readSources true"))
    }

    @Test func nobodyConfirmsAndSomebodyConfirms() throws {
        let silent = Self.machine("2 u confirm upwards")
        #expect(try Self.run(silent))
        #expect(silent.disk.told?.message.phase == .returned)
        #expect(silent.disk.told?.message.reason == "nobody confirmed it within 45 s")
        #expect(silent.acts.contains("tell confirming"))
        let confirmed = Self.machine("2 u confirm upwards")
        let at = try #require(silent.acts.firstIndex(of: "tell confirming")) + 2
        confirmed.happens[at] = { $0.confirmation = "2" }
        #expect(try Self.run(confirmed))
        #expect(confirmed.disk.told?.message.phase == .updated)
        let wrong = Self.machine("2 u confirm upwards")
        wrong.happens[at] = { $0.confirmation = "3" }
        #expect(try Self.run(wrong))
        #expect(wrong.disk.told?.message.phase == .returned)
    }

    @Test func anOpenEventIsWaitedForAndNotForEver() throws {
        let machine = Self.machine()
        machine.hasEvent = true
        #expect(try Self.run(machine))
        #expect(machine.disk.told?.message.reason == "an event was open for 20 s")
        #expect(machine.disk.version == "1" && machine.runs)
    }
}
