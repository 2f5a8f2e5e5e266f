import Foundation
import TestSupport
import Testing

/// What stays of a command: in the memory of the sensor, in the list of revisions, in the log.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CommandRecordTests {
    private typealias Scene = CommandProcessTests.Scene

    private static func calibration(of info: Subscriber.Message?) -> [String: Any]? {
        CommandProcessTests.value(info?.json, "sensor", "calibration") as? [String: Any]
    }

    /// Defect: a calibration by command was forgotten with the next start, and `state/info` never had it.
    @Test func aCalibrationIsPublishedAndOutlivesAKill() throws {
        let scene = try Scene()
        let topic = "\(CommandProcessTests.base)/state/info"
        let reply = try scene.ask("calibrate", "\"duration_s\":1")
        #expect(reply["phase"] as? String == "done", "\(reply)")
        let result = try #require(reply["result"] as? [String: Any])
        let told = scene.subscriber.first { $0.topic == topic && Self.calibration(of: $0) != nil }
        let first = try #require(Self.calibration(of: told), "\(scene.agent.child.errors)")
        #expect(first["t"] as? String == result["t"] as? String)
        #expect(first["offset"] as? [Double] == result["offset"] as? [Double])
        #expect(first["noise"] == nil && first["noise_rms"] as? [Double] == result["noise"] as? [Double])
        scene.agent.child.signal(SIGKILL)
        _ = scene.agent.child.wait(within: 10)
        let second = try ChildProcess(AgentProcess.program, ["--config", scene.agent.folder.path("seismote.yaml")])
        defer { second.signal(SIGTERM) }
        let again = scene.subscriber.first(within: 20) {
            $0.topic == topic && $0.json["boot"] as? String != reply["boot"] as? String
                && Self.calibration(of: $0) != nil
        }
        #expect(Self.calibration(of: again)?["t"] as? String == result["t"] as? String, "\(second.errors)")
    }

    /// Defect: revision 0 was of 1970.
    @Test func theFirstRevisionHasNoTime() throws {
        let scene = try Scene()
        _ = try scene.ask("config", "\"set\":{\"trace\":{\"rate_hz\":10}}")
        let reply = try scene.ask("config-get")
        let revisions = try #require(
            CommandProcessTests.value(reply, "result", "revisions") as? [[String: Any]], "\(reply)")
        #expect(revisions.map { $0["rev"] as? Int } == [0, 1])
        #expect(revisions[0]["t"] is NSNull && revisions[1]["t"] is String)
    }

    /// Defect: the line of a command that was done had an empty code.
    @Test func onlyWhatFailedHasACodeInTheLog() throws {
        let scene = try Scene()
        _ = try scene.ask("reset-extremes")
        _ = try scene.ask("config", "\"set\":{\"trace\":{\"rate_hz\":-1}}")
        let lines = scene.agent.child.errors.split(separator: "\n").filter { $0.contains(" command ") }
        #expect(lines.count { $0.hasSuffix("command done command=reset-extremes id=q1 source=\"\"") } == 1, "\(lines)")
        #expect(lines.count { $0.hasSuffix("command failed command=config id=q2 source=\"\" code=range") } == 1)
    }
}
