import Messages
import TestSupport
import Testing
import Values

@testable import Commands

/// What is taken of a request for another version, and what stands in its way.
@Suite struct UpdateTests {
    private static func decision(
        _ payload: String, _ change: (inout UpdateSituation) -> Void
    ) throws -> CommandDecision {
        var context = CommandDecoderTests.context
        context.update.isPossible = true
        change(&context.update)
        let decoded = CommandDecoder.decode(verb: "update", payload: Array(payload.utf8))
        return try #require(decoded.request).decision(context)
    }

    @Test(arguments: ["0.2.0", "0.2.0~deb13", "1:2.0+git1-3~deb13", "0", "99999:1", String(repeating: "1", count: 64)])
    func aVersionIsTaken(_ text: String) { #expect(UpdateRequest.isVersion(text)) }

    @Test(arguments: [
        "", "x1", "-1", "1 2", "1/trixie", "*", "1*", "1.0;reboot", "https://e.org/x.deb", "../x", "1\n", "1:", ":1",
        "100000:1", "1:2:3", "1_2", "1é", "=1", "1=2", String(repeating: "1", count: 65),
    ])
    func whatIsNoneIsRefusedWithTheForm(_ text: String) throws {
        let payload = Value.object([.init("version", .string(text))]).json()
        let decoded = CommandDecoder.decode(verb: "update", payload: payload)
        #expect(decoded.request == nil)
        let error = try #require(decoded.errors.first)
        #expect(error.path == "/version" && error.code == .range && error.allowed == UpdateRequest.versionForm)
    }

    @Test func theLineIsThatOfTheUpdater() {
        #expect(UpdateRequest(version: "1", id: "a").line == "1 a confirm upwards\n")
        #expect(
            UpdateRequest(version: "1", isAutomatic: true, allowsDowngrade: true).line == "1 - auto downgrade\n")
    }

    @Test func isAskedForWhereNothingStandsInTheWay() throws {
        #expect(
            try Self.decision(#"{"id":"u","version":"1","auto":true}"#) { _ in }
                == .effect(.main(.update(UpdateRequest(version: "1", id: "u", isAutomatic: true)))))
    }

    @Test func whatStandsInTheWayIsSaid() throws {
        func code(_ change: (inout UpdateSituation) -> Void) throws -> CodedError.Code? {
            guard case .refuse(let errors) = try Self.decision(#"{"version":"1"}"#, change) else { return nil }
            return errors.first?.code
        }
        #expect(try code { $0.isPossible = false } == .unavailable)
        #expect(try code { $0.isLocked = true } == .locked)
        #expect(try code { $0.underWay = "watching" } == .busy)
        #expect(try code { $0.isEventOpen = true } == .busy)
        #expect(try code { $0.waiting = UpdateSituation.mostWaiting } == nil)
        #expect(try code { $0.waiting = UpdateSituation.mostWaiting + 1 } == .unavailable)
        #expect(try code { $0.isClockSynced = false } == .unavailable)
    }

    @Test func onlyTheVersionOnTrialIsConfirmed() throws {
        func decision(_ version: String, onTrial: String?) throws -> CommandDecision {
            var context = CommandDecoderTests.context
            context.update.onTrial = onTrial
            let payload = Value.object([.init("version", .string(version))]).json()
            return try #require(CommandDecoder.decode(verb: "update-confirm", payload: payload).request)
                .decision(context)
        }
        #expect(try decision("1", onTrial: "1") == .effect(.main(.confirmUpdate("1"))))
        for trial in [nil, "2"] {
            guard case .refuse(let errors) = try decision("1", onTrial: trial) else { throw TestFailure("taken") }
            #expect(errors.map(\.code) == [.conflict])
        }
    }
}
