import Instruments
import MQTT
import Messages
import Sensors
import Settings
import Testing

@testable import Alerts

@Suite struct SensorAlertsTests {
    private func facts(now: Int64 = 0, _ change: (inout AlertFacts.Sensor) -> Void) -> AlertFacts {
        var facts = AlertFacts(now: now, mqtt: Configuration().mqtt, link: LinkStatistics())
        change(&facts.sensor)
        return facts
    }

    /// Of what is wrong.
    private func faults(_ change: (inout AlertFacts.Sensor) -> Void) -> [(code: String, fault: AlertFault)] {
        AlertChapter.sensor.alerts.compactMap { kind in
            var alert = kind.init()
            return alert.look(facts(change)).map { (kind.declaration.code, $0) }
        }
    }

    private func codes(_ change: (inout AlertFacts.Sensor) -> Void) -> [String] { faults(change).map(\.code) }

    @Test(arguments: [
        (SensorError.Code.missing, "sensor_missing"), (.permission, "sensor_permission"), (.busy, "sensor_busy"),
        (.identity, "sensor_identity"), (.fault, "sensor_fault"), (.format, "sensor_fault"),
        (.unsupported, "sensor_fault"),
    ])
    func eachProblemHasItsAlertAndNoOther(code: SensorError.Code, alert: String) {
        #expect(codes { $0.problem = SensorError(code, "x") } == [alert])
        // At boot it is waited for.
        #expect(
            codes {
                $0.problem = SensorError(code, "x")
                $0.waits = true
            } == [])
    }

    @Test func silenceIsAFaultUnlessItsReasonIsKnown() {
        #expect(codes { $0.isSilent = true } == ["sensor_fault"])
        #expect(
            codes {
                $0.isSilent = true
                $0.problem = SensorError(.missing, "x")
            } == ["sensor_missing"])
        #expect(codes { _ in } == [])
    }

    @Test func theWatchsFindingsAreAlertsWithTheirNumbers() throws {
        let all = faults {
            $0.watch = .init(faults: [.axisStuck, .saturated], stuckAxes: 5, saturated: 0.25, magnitude: 9.8)
        }
        let stuck = try #require(all.first { $0.code == "sensor_stuck" })
        #expect(stuck.fault.severity == .warning)
        #expect(stuck.fault.details == ["axes": ["x", "z"]])
        #expect(all.first { $0.code == "sensor_saturated" }?.fault.details == ["share": 0.25])
        #expect(codes { $0.watch = .init(faults: .implausible, magnitude: 0.1) } == ["sensor_implausible"])
        #expect(faults { $0.watch.faults = [.stuck] }.first?.fault.severity == .error)
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

    /// Raised when it is surely off, cleared well inside, and not at all where samples are put on a grid.
    @Test func onlyARateThatIsCertainlyOffIsAnAlert() {
        var alert = SensorRate()
        func look(_ rate: Double, isResampled: Bool = false) -> Bool {
            alert.look(
                facts {
                    $0.description = SensorDescription(driver: "i2c", chip: "adxl345", rate: 100, clock: .host)
                    $0.condition = SensorCondition()
                    $0.condition?.rate = MeasuredRate(rate: rate, uncertainty: 0.01)
                    $0.isResampled = isResampled
                }) != nil
        }
        #expect(!look(99.7) && !look(100.51) && look(96.2) && look(100.51) && !look(100.4) && !look(100.51))
        #expect(look(96.2) && !look(96.2, isResampled: true) && !look(100.51))
    }

    /// A FIFO that runs over again and again is said, with what the bus carries; once is no more than a gap.
    @Test func anOverrunThatComesAgainIsAnAlert() throws {
        let second: Int64 = 1_000_000_000
        var watch = SensorOverrun()
        var condition = SensorCondition()
        func look(_ overruns: Int, _ time: Int64, bus: Double? = 56.4) -> AlertFault? {
            (condition.overruns, condition.busRate) = (overruns, bus)
            return look(time)
        }
        func look(_ time: Int64, isOpen: Bool = true) -> AlertFault? {
            watch.look(
                facts(now: time * second) {
                    guard isOpen else { return }
                    $0.description = SensorDescription(driver: "i2c", chip: "adxl345", rate: 100, clock: .host)
                    $0.condition = condition
                })
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
        #expect(look(115, isOpen: false) != nil)
        #expect(look(1, 116)?.message == slow.message)
        #expect(look(1, 176) != nil && look(1, 177) == nil)
        #expect(look(4, 178, bus: 900)?.message.contains("900 samples/s and the sensor makes 100; the host") == true)
        watch = SensorOverrun()
        condition = SensorCondition()
        condition.overruns = 3
        #expect(look(0)?.message.contains("read too late") == true)
    }
}
