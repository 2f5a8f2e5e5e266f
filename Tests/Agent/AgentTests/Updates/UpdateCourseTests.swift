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

    private static func of(_ id: String, _ phase: UpdateMessage.Phase, at second: Int64) -> UpdateMessage {
        var message = Self.message(phase, at: second)
        message.id = id
        return message
    }

    /// What the agent before this one has begun is told at the start.
    @Test func whatTheUpdaterSaysIsSaidOnce() {
        var course = UpdateCourse()
        func look(_ message: UpdateMessage?) -> UpdateMessage? {
            course.look(message.map { UpdateStatement($0) }, isWaiting: false, now: 0).news
        }
        #expect(look(nil) == nil)
        let watching = Self.message(.watching, at: 5)
        #expect(look(watching) == watching && look(watching) == nil && look(nil) == nil && look(watching) == nil)
        #expect(course.underWay == "watching" && course.onTrial == "2")
        let updated = Self.message(.updated, at: 6)
        #expect(look(updated) == updated)
        #expect(course.underWay == nil && course.onTrial == nil)
    }

    /// In each state of the updater: the agent says nothing of its own; the command is answered when the updater has heard it.
    @Test(arguments: [nil] + UpdateMessage.Phase.allCases.map { Optional($0) })
    func aRequestIsAnsweredWhenTheUpdaterHasHeardIt(_ phase: UpdateMessage.Phase?) {
        var course = UpdateCourse()
        let before = phase.map { UpdateStatement(Self.of("a", $0, at: 1)) }
        _ = course.look(before, isWaiting: false, now: 0)
        course.ask("u", now: 100)
        #expect(course.underWay == "requested")
        // What it said before is no answer, nor is it that the request is not there any more.
        for isWaiting in [true, false] {
            let look = course.look(before, isWaiting: isWaiting, now: 200)
            #expect(look.news == nil && look.answer == nil)
        }
        let heard = Self.of("u", .requested, at: 11)
        let look = course.look(UpdateStatement(heard), isWaiting: false, now: 300)
        #expect(look.news == heard && look.answer == .heard && course.underWay == "requested")
        let refused = Self.of("u", .refused, at: 12)
        let end = course.look(UpdateStatement(refused), isWaiting: false, now: 99 + 2 * UpdateCourse.patience)
        #expect(end.news == refused && end.answer == nil && course.underWay == nil)
    }

    /// In each state of the updater: a request that it refuses beside another has its words, and then those of the other again.
    @Test(arguments: [UpdateMessage.Phase.watching, .failed, .installing])
    func aRequestThatIsRefusedBesideAnotherHasTheUpdatersWords(_ phase: UpdateMessage.Phase) {
        var course = UpdateCourse()
        let other = Self.of("b", phase, at: 9)
        _ = course.look(UpdateStatement(other), isWaiting: false, now: 0)
        course.ask("u", now: 100)
        var refused = Self.of("u", .refused, at: 12)
        refused.reason = "an update to 2 is under way: 1 at a time"
        let statement = UpdateStatement(other, refused: refused)
        let look = course.look(statement, isWaiting: false, now: 200)
        #expect(look.news == refused && look.answer == .refused("an update to 2 is under way: 1 at a time"))
        #expect(course.look(statement, isWaiting: false, now: 300).news == other)
        #expect(course.underWay == (phase == .failed ? nil : phase.rawValue))
        let more = course.look(statement, isWaiting: false, now: 400)
        #expect(more.news == nil && more.answer == nil)
        // The same id again: what the file says of it is no answer any more.
        course.ask("u", now: 500)
        #expect(course.look(statement, isWaiting: true, now: 600).answer == nil)
    }

    @Test(arguments: [
        (nil, true, "seismote-update.path"), (UpdateMessage.Phase.returned, true, "seismote-update.path"),
        (.updated, false, "has taken the request, and does not answer"),
        (.installing, true, "is under way (installing)"),
        (.failed, true, "tries to put back"),
    ])
    func aRequestThatNobodyAnswersIsTakenBack(_ phase: UpdateMessage.Phase?, _ isWaiting: Bool, _ words: String) {
        var course = UpdateCourse()
        let before = phase.map { UpdateStatement(Self.of("a", $0, at: 1)) }
        _ = course.look(before, isWaiting: false, now: 0)
        course.ask("u", now: 100)
        let late = 100 + UpdateCourse.patience
        #expect(course.look(before, isWaiting: isWaiting, now: late - 1).answer == nil)
        let look = course.look(before, isWaiting: isWaiting, now: late)
        guard case .unheard(let reason)? = look.answer else {
            Issue.record("not taken back")
            return
        }
        // (Nothing is said in the updater's place.)
        #expect(reason.contains(words) && look.news == nil, "\(reason)")
        #expect(course.look(before, isWaiting: false, now: late + 1).answer == nil)
        #expect(course.underWay == (phase == .installing ? "installing" : nil))
    }

    /// A request that the agent before this one has written.
    @Test func aRequestThatLiesThereIsWaitedForAndTakenBack() {
        var course = UpdateCourse()
        #expect(course.look(nil, isWaiting: true, now: 5).answer == nil && course.underWay == "requested")
        #expect(course.look(nil, isWaiting: false, now: 6).answer == .heard && course.underWay == nil)
        #expect(course.look(nil, isWaiting: true, now: 10).answer == nil)
        #expect(course.look(nil, isWaiting: true, now: 9 + UpdateCourse.patience).answer == nil)
        guard case .unheard? = course.look(nil, isWaiting: true, now: 10 + UpdateCourse.patience).answer else {
            Issue.record("not taken back")
            return
        }
    }

    @Test func anOldRefusalIsNotSaidAtTheStart() {
        let (updated, refused) = (Self.of("a", .updated, at: 20), Self.of("u", .refused, at: 12))
        var course = UpdateCourse()
        #expect(course.look(UpdateStatement(updated, refused: refused), isWaiting: false, now: 0).news == updated)
        var other = UpdateCourse()
        let newer = Self.of("u", .refused, at: 21)
        #expect(other.look(UpdateStatement(updated, refused: newer), isWaiting: false, now: 0).news == newer)
        #expect(other.look(UpdateStatement(updated, refused: newer), isWaiting: false, now: 0).news == updated)
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
        #expect(text("state/update/request") == "3 u confirm upwards\n" && files.isWaiting)
        #expect(files.confirm("3")() == nil)
        #expect(text("state/update/confirm") == "3\n")
        #expect(files.withdraw()() == nil)
        #expect(text("state/update/request") == nil && !files.isWaiting)
        #expect(!UpdateFiles(environment: { _ in nil }, program: "/bin/sh", state: "").isPossible)
        #expect(!UpdateFiles(environment: { _ in home }, program: "/nonexistent", state: "").isPossible)
    }
}
