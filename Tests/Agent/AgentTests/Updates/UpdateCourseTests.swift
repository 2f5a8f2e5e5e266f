import Commands
import Foundation
import Messages
import TestSupport
import Testing

@testable import Agent

@Suite struct UpdateCourseTests {
    private static func message(_ phase: UpdateMessage.Phase, at second: Int64) -> UpdateMessage {
        var message = UpdateMessage(phase: phase, since: second * 1_000_000_000)
        message.version = "2"
        return message
    }

    /// What the agent before this one has begun is told at the start.
    @Test func whatTheUpdaterSaysIsSaidOnce() {
        var course = UpdateCourse()
        #expect(course.look(nil, wall: 0, now: 0) == nil)
        let watching = Self.message(.watching, at: 5)
        #expect(course.look(UpdateStatement(watching), wall: 0, now: 1) == .say(watching))
        #expect(course.look(UpdateStatement(watching), wall: 0, now: 2) == nil)
        #expect(course.underWay == "watching" && course.onTrial == "2")
        let updated = Self.message(.updated, at: 6)
        #expect(course.look(UpdateStatement(updated), wall: 0, now: 3) == .say(updated))
        #expect(course.underWay == nil && course.onTrial == nil)
    }

    @Test func aRequestWaitsForTheUpdaterAndIsTakenBackWhenNobodyHears() {
        var course = UpdateCourse()
        let last = Self.message(.returned, at: 1)
        _ = course.look(UpdateStatement(last), wall: 0, now: 0)
        let asked = course.ask(UpdateRequest(version: "3", id: "u"), wall: 10_000_000_000, now: 100)
        #expect(asked.phase == .requested && asked.version == "3" && asked.id == "u")
        // What it said before is no answer.
        #expect(course.look(UpdateStatement(last), wall: 11_000_000_000, now: 200) == nil)
        #expect(course.underWay == "requested")
        let late = 100 + UpdateCourse.patience
        #expect(course.look(UpdateStatement(last), wall: 70_000_000_000, now: late - 1) == nil)
        guard case .withdraw(let message) = course.look(UpdateStatement(last), wall: 70_000_000_000, now: late) else {
            Issue.record("not taken back")
            return
        }
        #expect(message.phase == .refused && message.id == "u")
        #expect(message.reason?.contains("seismote-update.path") == true)
        // And what it said before that does not come back.
        #expect(course.look(UpdateStatement(last), wall: 71_000_000_000, now: late + 1) == nil)
        #expect(course.underWay == nil)
    }

    @Test func anAnswerEndsTheWaiting() {
        var course = UpdateCourse()
        _ = course.ask(UpdateRequest(version: "3", id: "u"), wall: 10_000_000_000, now: 100)
        let refused = Self.message(.refused, at: 11)
        #expect(course.look(UpdateStatement(refused), wall: 11, now: 200) == .say(refused))
        #expect(
            course.look(UpdateStatement(refused), wall: 99_000_000_000, now: 200 + 2 * UpdateCourse.patience) == nil)
    }

    /// After a start of the machine the updater goes on with one that nobody knew of yet. It says itself what becomes of the other.
    @Test func aRequestWhileAnotherUpdateGoesOnIsAnsweredByTheUpdater() throws {
        var course = UpdateCourse()
        _ = course.ask(UpdateRequest(version: "3", id: "u"), wall: 10_000_000_000, now: 100)
        var last = Self.message(.updated, at: 1)
        last.id = "a"
        // How the last one ended is no answer, and no other update.
        #expect(course.look(UpdateStatement(last), wall: 11_000_000_000, now: 200) == nil)
        #expect(course.underWay == "requested")
        var other = Self.message(.watching, at: 9)
        other.id = "b"
        #expect(course.look(UpdateStatement(other), wall: 12_000_000_000, now: 300) == nil)
        var refused = Self.message(.refused, at: 12)
        (refused.id, refused.version, refused.reason) = (
            "u", "3", "an update to 2 is under way (watching): 1 at a time"
        )
        let statement = UpdateStatement(other, refused: refused)
        #expect(course.look(statement, wall: 12_000_000_000, now: 300) == .say(refused))
        // That one is what is known from then on.
        #expect(course.look(statement, wall: 13_000_000_000, now: 400) == .say(other))
        #expect(course.underWay == "watching" && course.onTrial == "2")
        #expect(course.look(statement, wall: 13_000_000_000, now: 500) == nil)
    }

    /// An updater of before does not say so: the agent then blames what stands in its file, and no unit.
    @Test func aRequestThatIsNotAnsweredBlamesWhatIsUnderWay() throws {
        for (phase, words) in [
            (UpdateMessage.Phase.installing, "is under way (installing)"), (.failed, "tries to put back"),
        ] {
            var course = UpdateCourse()
            var other = Self.message(phase, at: 9)
            other.id = "b"
            _ = course.look(UpdateStatement(other), wall: 9_000_000_000, now: 0)
            _ = course.ask(UpdateRequest(version: "3", id: "u"), wall: 10_000_000_000, now: 100)
            let late = 100 + UpdateCourse.patience
            #expect(course.look(UpdateStatement(other), wall: 11_000_000_000, now: late - 1) == nil)
            guard case .withdraw(let message) = course.look(UpdateStatement(other), wall: 70_000_000_000, now: late)
            else {
                Issue.record("not refused")
                continue
            }
            #expect(message.phase == .refused && message.id == "u" && message.version == "3")
            #expect(message.reason?.contains(words) == true)
            #expect(course.look(UpdateStatement(other), wall: 71_000_000_000, now: late + 1) == .say(other))
        }
    }

    @Test func theUpdatersFileIsRead() throws {
        let counted =
            #"{"phase":"updated","t":"2026-01-02T03:04:05Z","ended":{"updated":3,"refused":2,"failed":-1,"returned":"9"}}"#
        #expect(UpdateMessage(json: Array(counted.utf8))?.ended == .init(updated: 3, refused: 2))
        let text =
            #"{"phase":"returned","t":"2026-01-02T03:04:05Z","id":"u","version":"2","from":"1","until":"2026-01-02T03:14:05Z","installed":"1","reason":"no samples come"}"#
        let message = try #require(UpdateMessage(json: Array((text + "\n").utf8)))
        #expect(message.phase == .returned && message.id == "u" && message.version == "2" && message.from == "1")
        #expect(message.installed == "1" && message.reason == "no samples come")
        #expect(message.until.map { $0 - message.since } == 600_000_000_000)
        for bad in ["", "{}", #"{"phase":"x","t":"2026-01-02T03:04:05Z"}"#, #"{"phase":"updated","t":"now"}"#, "[1]"] {
            #expect(UpdateMessage(json: Array(bad.utf8)) == nil)
        }
    }

    @Test func wishesAreWrittenIntoTheFolderOfTheService() throws {
        let folder = try TemporaryFolder()
        func text(_ name: String) -> String? { try? String(contentsOfFile: folder.path(name), encoding: .utf8) }
        let home = folder.path("state")
        #expect(mkdir(home, 0o700) == 0)
        let files = UpdateFiles(
            environment: { $0 == "STATE_DIRECTORY" ? home + ":/other" : nil }, program: "/bin/sh",
            state: folder.path("state.json"))
        #expect(files.isPossible && files.state() == nil)
        #expect(files.request(UpdateRequest(version: "3", id: "u"))() == nil)
        #expect(text("state/update/request") == "3 u confirm upwards\n")
        #expect(files.confirm("3")() == nil)
        #expect(text("state/update/confirm") == "3\n")
        #expect(files.withdraw()() == nil)
        #expect(text("state/update/request") == nil)
        #expect(!UpdateFiles(environment: { _ in nil }, program: "/bin/sh", state: "").isPossible)
        #expect(!UpdateFiles(environment: { _ in home }, program: "/nonexistent", state: "").isPossible)
    }
}
