import Messages
import Settings
import Testing

@testable import Agent

/// The way of a change through its owners: everything that can come of it, without a thread.
@Suite struct ChangeCoordinatorTests {
    typealias Action = ChangeCoordinator.Action
    private static let all = SettingOwner.allCases
    private static let busy = CodedError("", .busy, "b")

    /// Begins the change of a request, and lets the owners before one prepare it.
    private static func preparing(
        _ owner: SettingOwner? = nil, isForced: Bool = false
    ) -> (ChangeCoordinator, prepared: [SettingOwner]) {
        var changes = ChangeCoordinator()
        _ = changes.handle(.asked(1, bytes: 1), now: 0)
        var actions = changes.handle(.start(all, isForced: isForced), now: 0)
        var prepared: [SettingOwner] = []
        while case .prepare(let asked)? = actions.first, asked != owner {
            #expect(actions.count == 1, "one after the other")
            prepared.append(asked)
            actions = changes.handle(.prepared(asked), now: 0)
        }
        #expect(actions == [owner.map { .prepare($0) } ?? .persist])
        return (changes, prepared)
    }

    @Test func aChangeIsPreparedByAllThenWrittenThenInForceThenAnswered() {
        var (changes, prepared) = Self.preparing()
        #expect(Set(prepared) == Set(Self.all))
        #expect(changes.handle(.persisted(nil), now: 1) == [.adopt, .commit(.log), .commit(.sampling)])
        #expect(changes.handle(.committed(.log), now: 1) == [])
        #expect(changes.handle(.committed(.sampling), now: 2) == [.answer(nil)])
        let last: [Action] = [.commit(.storage), .commit(.link), .commit(.commands), .commit(.reporter), .finish]
        #expect(changes.handle(.answered, now: 3) == last)
        #expect(changes.isIdle && changes.due == nil)
    }

    @Test(arguments: all) func whoRefusesStopsItAndThoseThatPreparedAbandonIt(_ owner: SettingOwner) {
        var (changes, prepared) = Self.preparing(owner)
        let actions = changes.handle(.refused(owner, [Self.busy]), now: 1)
        let refusal = ChangeCoordinator.OwnerRefusal(owner: owner, errors: [Self.busy])
        #expect(actions == prepared.map { .abandon($0) } + [.answer(refusal), .finish])
        #expect(changes.isIdle)
        #expect(changes.handle(.prepared(owner), now: 2) == [], "too late")
    }

    /// Of an earlier change, whose owner answered too late: this one has not prepared it.
    @Test(arguments: all) func anAnswerThatNobodyWaitsForCountsForNothing(_ owner: SettingOwner) {
        for other in Self.all where other != owner {
            var (changes, prepared) = Self.preparing(owner)
            #expect(changes.handle(.prepared(other), now: 1) == [])
            #expect(changes.handle(.refused(other, [Self.busy]), now: 1) == [])
            let actions = changes.handle(.refused(owner, [Self.busy]), now: 2)
            #expect(actions.dropLast(2) == prepared.map { .abandon($0) }[...])
        }
    }

    @Test(arguments: all) func whoDoesNotAnswerInTimeIsAskedToAbandonItToo(_ owner: SettingOwner) {
        var (changes, prepared) = Self.preparing(owner)
        #expect(changes.handle(.time, now: ChangeCoordinator.patience - 1) == [])
        let actions = changes.handle(.time, now: ChangeCoordinator.patience)
        #expect(Array(actions.dropLast(2)) == (prepared + [owner]).map { .abandon($0) })
        guard case .answer(let refusal?)? = actions.dropLast().last else {
            Issue.record("no answer: \(actions)")
            return
        }
        #expect(refusal.owner == owner && refusal.errors.map(\.code) == [.unavailable] && actions.last == .finish)
    }

    /// A card that refuses, or says nothing: the file may have the change, and is written as it was.
    @Test(arguments: [false, true]) func withoutTheDiskNothingHasChanged(_ isSilent: Bool) {
        var (changes, prepared) = Self.preparing()
        let actions =
            isSilent
            ? changes.handle(.time, now: ChangeCoordinator.patience) : changes.handle(.persisted("full"), now: 1)
        #expect(Array(actions.dropLast(2)) == prepared.map { .abandon($0) } + [.restore])
        guard case .answer(let refusal?)? = actions.dropLast().last else {
            Issue.record("no answer: \(actions)")
            return
        }
        #expect(refusal.owner == .storage && refusal.errors.map(\.code) == [.unavailable])
        #expect(!actions.contains(.adopt) && changes.handle(.persisted(nil), now: 2) == [])
    }

    @Test func aSecondChangeWaitsAndTheTenthIsBusy() {
        var (changes, _) = Self.preparing(.sampling)
        for number in 2...9 { #expect(changes.handle(.asked(number, bytes: 1), now: 0) == []) }
        #expect(changes.handle(.asked(10, bytes: 1), now: 0) == [.busy(10)])
        // In their order, also behind one that fails or asks for nothing.
        #expect(changes.handle(.refused(.sampling, []), now: 0).last == .begin(2))
        for number in 3...9 { #expect(changes.handle(.nothing, now: 0) == [.begin(number)]) }
        #expect(changes.handle(.nothing, now: 0) == [] && changes.isIdle)
        #expect(changes.handle(.asked(11, bytes: 1 << 30), now: 0) == [.begin(11)])
    }

    @Test func whatWaitsIsBoundedInBytes() {
        var (changes, _) = Self.preparing(.sampling)
        #expect(changes.handle(.asked(2, bytes: ChangeCoordinator.waitingBytes), now: 0) == [])
        #expect(changes.handle(.asked(3, bytes: 1), now: 0) == [.busy(3)])
    }

    /// A revert is not refused for good, and other changes go on meanwhile.
    @Test func aRevertIsTriedAgain() {
        var changes = ChangeCoordinator()
        #expect(changes.mayForce(now: 0))
        #expect(changes.handle(.start([.sampling], isForced: true), now: 0) == [.prepare(.sampling)])
        #expect(!changes.mayForce(now: 0))
        #expect(changes.handle(.asked(1, bytes: 1), now: 0) == [])
        #expect(changes.handle(.refused(.sampling, [Self.busy]), now: 1).suffix(2) == [.finish, .begin(1)])
        #expect(changes.handle(.nothing, now: 2) == [])
        #expect(!changes.mayForce(now: ChangeCoordinator.retryPause))
        #expect(changes.mayForce(now: 1 + ChangeCoordinator.retryPause))
    }

    /// It goes back whether the disk takes it or not: then the file has a change whose time is over.
    @Test(arguments: [false, true]) func aRevertNeedsNoDisk(_ isSilent: Bool) {
        var (changes, _) = Self.preparing(isForced: true)
        let actions =
            isSilent
            ? changes.handle(.time, now: ChangeCoordinator.patience) : changes.handle(.persisted("full"), now: 1)
        #expect(actions.first == .adopt)
    }

    /// The reply may hang at the disk: the settings are in force, and so they are everywhere.
    @Test func aReplyThatHangsDoesNotHoldTheOthersUp() {
        var (changes, _) = Self.preparing()
        _ = changes.handle(.persisted(nil), now: 1)
        _ = changes.handle(.committed(.log), now: 1)
        _ = changes.handle(.committed(.sampling), now: 1)
        let actions = changes.handle(.time, now: 1 + ChangeCoordinator.patience)
        #expect(actions.contains(.commit(.link)) && actions.last == .finish && changes.isIdle)
    }

    // MARK: Rows

    @Test(arguments: SettingsTable.settings.map(\.key)) func everyRowHasAnOwnerWhoIsAsked(_ key: String) throws {
        let row = try #require(SettingsTable.setting(key))
        #expect(!row.owners.isEmpty)
        let asked = SettingOwner.asked(for: [row])
        if row.apply != .restart { #expect(Set(row.owners).isSubset(of: asked)) }
        #expect(Set(asked).isSuperset(of: [.sampling, .reporter]), "their messages carry the revision")
        var changes = ChangeCoordinator()
        var actions = changes.handle(.start(asked, isForced: false), now: 0)
        var prepared: [SettingOwner] = []
        while case .prepare(let owner)? = actions.first {
            prepared.append(owner)
            actions = changes.handle(.prepared(owner), now: 0)
        }
        #expect(Set(prepared) == Set(asked) && actions == [.persist])
    }
}
