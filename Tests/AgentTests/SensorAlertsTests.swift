import Messages
import Sensors
import Testing

@testable import Agent

@Suite struct SensorAlertsTests {
    /// Codes of what is wrong.
    private func codes(
        state: HealthMessage.SensorState = .ok, _ change: (inout SamplingStatus.Words) -> Void
    ) -> [String] {
        var words = SamplingStatus.Words()
        change(&words)
        return SensorAlerts(words, state: state).all.filter { $0.fault != nil }.map(\.code.rawValue)
    }

    @Test(arguments: [
        (SensorError.Code.missing, "sensor_missing"), (.permission, "sensor_permission"), (.busy, "sensor_busy"),
        (.identity, "sensor_identity"), (.fault, "sensor_fault"), (.format, "sensor_fault"),
        (.unsupported, "sensor_fault"),
    ])
    func eachProblemHasItsAlertAndNoOther(code: SensorError.Code, alert: String) {
        #expect(codes { $0.problem = .sensor(SensorError(code, "x")) } == [alert])
    }

    @Test func silenceIsAFaultUnlessTheRecordingIsOver() {
        #expect(codes(state: .stalled) { _ in } == ["sensor_fault"])
        #expect(codes(state: .stalled) { $0.ended = true } == [])
        #expect(codes { _ in } == [])
    }

    @Test func theWatchsFindingsAreAlertsWithTheirNumbers() throws {
        var words = SamplingStatus.Words()
        words.faults = .init(faults: [.axisStuck, .saturated], stuckAxes: 5, saturated: 0.25, magnitude: 9.8)
        let all = SensorAlerts(words, state: .ok).all
        let stuck = try #require(all.first { $0.code == .sensorStuck })
        #expect(stuck.severity == .warning)
        #expect(stuck.fault?.details == ["axes": ["x", "z"]])
        #expect(all.first { $0.code == .sensorSaturated }?.fault?.details == ["share": 0.25])
        #expect(codes { $0.faults = .init(faults: .implausible, magnitude: 0.1) } == ["sensor_implausible"])
        words.faults.faults = [.stuck]
        #expect(SensorAlerts(words, state: .ok).all.first { $0.code == .sensorStuck }?.severity == .error)
    }

    @Test func aSelfTestThatIsNotPassedIsAnAlertAndOneThatDoesNotExistIsNot() {
        func report(_ change: Double) -> SelfTestReport {
            let good = SelfTestReport.Axis(change: 2, minimum: 1, maximum: 3)
            var bad = good
            bad.change = change
            return SelfTestReport(x: good, y: bad, z: good, unit: "m/s^2", source: "")
        }
        #expect(codes { $0.selfTest = .init(time: 0, report: report(2)) } == [])
        #expect(codes { $0.selfTest = .init(time: 0, report: report(4)) } == ["sensor_selftest"])
        #expect(codes { $0.selfTest = .init(time: 0, report: report(.nan)) } == ["sensor_selftest"])
        #expect(codes { $0.selfTest = .init(time: 0, error: SensorError(.fault, "EIO")) } == ["sensor_selftest"])
        #expect(codes { $0.selfTest = .init(time: 0, error: SensorError(.unsupported, "none")) } == [])
    }
}
