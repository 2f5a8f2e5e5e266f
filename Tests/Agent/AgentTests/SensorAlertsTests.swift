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

    /// At boot the agent came before udev had given the bus to its group: an alert that came and went.
    @Test func theFirstSecondsAfterBootAreWaitedForQuietly() {
        func waits(
            _ code: SensorError.Code, hadSensor: Bool = false, begun: Int64 = 5, seconds: Int64 = 10
        ) -> Bool {
            SensorAlerts.waits(
                .sensor(SensorError(code, "x")), hadSensor: hadSensor, begun: begun * 1_000_000_000,
                sinceBoot: seconds * 1_000_000_000)
        }
        #expect(waits(.permission) && waits(.missing) && waits(.permission, seconds: 34))
        #expect(!waits(.permission, seconds: 35) && !waits(.missing, seconds: 3600))
        // A slow board, and an agent that was started later by somebody.
        #expect(waits(.permission, begun: 50, seconds: 79) && !waits(.permission, begun: 50, seconds: 80))
        #expect(!waits(.permission, begun: 120, seconds: 121))
        // What udev cannot mend, and what had been there.
        #expect(!waits(.identity) && !waits(.busy) && !waits(.fault) && !waits(.unsupported))
        #expect(!waits(.permission, hadSensor: true) && !waits(.missing, hadSensor: true))
        #expect(!SensorAlerts.waits(nil, hadSensor: false, begun: 0, sinceBoot: 0))
        var words = SamplingStatus.Words()
        words.problem = .sensor(SensorError(.permission, "x"))
        #expect(SensorAlerts(words, state: .stalled, waits: true).all.allSatisfy { $0.fault == nil })
        #expect(SensorAlerts(words, state: .stalled).all.filter { $0.fault != nil }.count == 1)
    }

    /// The alert came after all, at the moment at which udev was ready: the sensor was open, and its first block not there.
    @Test func aSensorThatWasJustOpenedHasNotComeBeforeItsFirstBlock() {
        var words = SamplingStatus.Words()
        #expect(!SensorAlerts.hasSensor(words))
        words.problem = .sensor(SensorError(.permission, "x"))
        words.sensor = SensorDescription(driver: "i2c", chip: "adxl345", rate: 25, clock: .host)
        #expect(!SensorAlerts.hasSensor(words))
        words.problem = nil
        #expect(SensorAlerts.hasSensor(words))
    }

    /// A FIFO that runs over again and again is said, with what the bus carries; once is no more than a gap.
    @Test func anOverrunThatComesAgainIsAnAlert() throws {
        let second: Int64 = 1_000_000_000
        var watch = OverrunWatch()
        var condition = SensorCondition()
        func look(_ overruns: Int, _ time: Int64, bus: Double? = 56.4) -> AlertBoard.Fault? {
            (condition.overruns, condition.busRate) = (overruns, bus)
            return watch.look(condition, rate: 100, now: time * second)
        }
        #expect(look(0, 0) == nil && look(1, 1) == nil && look(2, 50) == nil)
        // Too long ago to belong together.
        #expect(look(3, 111) == nil && look(4, 112) == nil)
        let fault = look(7, 113)
        let slow = try #require(fault)
        #expect(slow.message.contains("carries about 56 samples/s and the sensor makes 100; lower sensor.rate_hz"))
        #expect(slow.details == ["overruns": 5, "rate_hz": 100.0, "bus_hz": 56.0])
        // A number that wavers is no news.
        #expect(look(9, 114, bus: 58.9)?.message == slow.message)
        // Closed and opened again, it counts from zero.
        #expect(watch.look(nil, rate: nil, now: 115 * second) != nil)
        #expect(look(1, 116)?.message == slow.message)
        #expect(look(1, 176) != nil && look(1, 177) == nil)
        #expect(look(4, 178, bus: 900)?.message.contains("900 samples/s and the sensor makes 100; the host") == true)
        var unknown = OverrunWatch()
        condition = SensorCondition()
        condition.overruns = 3
        #expect(unknown.look(condition, rate: 100, now: 0)?.message.contains("read too late") == true)
    }
}
