import Foundation
import Link
import Messages
import Sensors
import Settings
import SignalProcessing
import Synchronization
import TestSupport
import Testing

@testable import Agent

/// A driver that does what the test says, and a step only when asked to.
struct ScriptedSensor: SensorDriver {
    enum Step: Sendable {
        case openFails(SensorError)
        case open(rate: Double)
        case block
        case readFails(SensorError)
        case end
    }
    final class Script: Sendable {
        private let steps: Mutex<[Step]>
        let closes = Atomic<Int>(0)
        init(_ steps: [Step]) { self.steps = Mutex(steps) }
        func next() -> Step? { steps.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        var isEmpty: Bool { steps.withLock { $0.isEmpty } }
    }
    let script: Script
    var time: Int64 = 1_700_000_000_000_000_000

    mutating func open() throws(SensorError) -> SensorDescription {
        switch script.next() {
        case .open(let rate): return SensorDescription(driver: "scripted", chip: "c", rate: rate, clock: .host)
        case .openFails(let error): throw error
        default: throw SensorError(.fault, "the script is wrong")
        }
    }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        switch script.next() {
        case .block:
            block.time = time
            for _ in 0..<16 { block.append(0, 0, 9.8) }
            time += 160_000_000
            return .samples
        case .readFails(let error): throw error
        case .end: return .end
        case nil:
            usleep(20000)
            return .end
        default: throw SensorError(.fault, "the script is wrong")
        }
    }

    mutating func close() { script.closes.wrappingAdd(1, ordering: .relaxed) }
}

@Suite(.timeLimit(.minutes(1))) struct SamplingThreadTests {
    static func run(_ steps: [ScriptedSensor.Step], _ change: (inout Configuration) -> Void = { _ in }) throws -> (
        SamplingStatus, ScriptedSensor.Script
    ) {
        var configuration = Configuration()
        configuration.station.id = "test"
        change(&configuration)
        let script = ScriptedSensor.Script(steps)
        let status = SamplingStatus()
        let thread = SamplingThread(
            configuration: configuration, boot: "b", driver: ScriptedSensor(script: script), status: status,
            sink: { _, _ in })
        try thread.start()
        return (status, script)
    }

    @Test func aSensorThatIsNotThereIsTriedUntilItIs() throws {
        let missing = SensorError(.missing, "no such device")
        let (status, _) = try Self.run(
            [.openFails(missing), .openFails(missing), .open(rate: 100)]
                + [ScriptedSensor.Step](repeating: .block, count: 10) + [.end])
        #expect(eventually { status.now.problem == .sensor(missing) })
        #expect(eventually { status.now.finished })
        #expect(status.now.ended)
        #expect(status.now.problem == nil)
        #expect(status.samples.load(ordering: .relaxed) == 160)
        #expect(status.gaps.load(ordering: .relaxed) == 0)
    }

    @Test func aSensorThatFailsIsOpenedAgainAndTheGapIsDeclared() throws {
        let fault = SensorError(.fault, "EIO")
        let (status, script) = try Self.run([
            .open(rate: 100), .block, .block, .readFails(fault), .open(rate: 100), .block, .end,
        ])
        #expect(eventually { status.now.problem == .sensor(fault) })
        #expect(eventually { status.now.finished })
        #expect(status.samples.load(ordering: .relaxed) == 48)
        #expect(status.gaps.load(ordering: .relaxed) == 1)
        #expect(script.closes.load(ordering: .relaxed) == 2)
    }

    @Test func settingsThatCannotWorkAtTheSensorsRateAreAProblemAndNotTheEnd() throws {
        let (status, _) = try Self.run([.open(rate: 15), .open(rate: 100), .block, .end])
        // The default band pass goes to 10 Hz, above half of 15 Hz.
        #expect(
            eventually {
                if case .settings(let error) = status.now.problem { error.path.hasPrefix("/axes/") } else { false }
            })
        #expect(eventually { status.now.finished })
        #expect(status.samples.load(ordering: .relaxed) == 16)
    }

    @Test func aStopEndsAWaitAtOnce() throws {
        let (status, script) = try Self.run(
            [ScriptedSensor.Step](repeating: .openFails(SensorError(.missing, "x")), count: 100))
        #expect(eventually { status.heartbeat.load(ordering: .relaxed) > 3 })
        let began = Date()
        status.requestStop()
        #expect(eventually { status.now.finished })
        #expect(Date().timeIntervalSince(began) < 0.4)
        #expect(!script.isEmpty)
    }

    @Test func blocksAreShort() {
        #expect(SamplingThread.blockSize(rate: 100) == 16)
        #expect(SamplingThread.blockSize(rate: 1000) == 160)
        #expect(SamplingThread.blockSize(rate: 1) == 1)
        #expect(SamplingThread.blockSize(rate: .nan) == 1)
    }
}

@Suite struct HealthStateTests {
    @Test func theStateFollowsWhatIsKnown() {
        let status = SamplingStatus()
        func state(_ now: Int64 = 0) -> String {
            HealthReport.sensorState(status, now: now, stallTime: 1000).rawValue
        }
        #expect(state() == "missing")
        let sensor = SensorDescription(driver: "d", chip: "c", rate: 100, clock: .host)
        status.change { $0.sensor = sensor }
        #expect(state() == "settling")
        status.settling.store(false, ordering: .relaxed)
        #expect(state() == "ok")
        #expect(state(1001) == "stalled")
        status.lastBlock.store(500, ordering: .relaxed)
        #expect(state(1001) == "ok")
        for (code, expected) in [
            (SensorError.Code.missing, "missing"), (.permission, "missing"), (.fault, "fault"), (.format, "fault"),
        ] {
            status.change { $0.problem = .sensor(SensorError(code, "x")) }
            #expect(state(1001) == expected)
        }
        status.change { $0.ended = true }
        #expect(state(1001) == "stalled")
    }
}

@Suite struct HealthOfTheDriverTests {
    private func health(_ condition: SensorCondition?, driver: String) -> HealthMessage {
        let status = SamplingStatus()
        status.change { $0.sensor = SensorDescription(driver: driver, chip: "c", rate: 100, clock: .host) }
        status.take(condition)
        var report = HealthReport(now: 0)
        return report.message(
            status, LinkStatistics(), sensor: .ok, time: .replay, alerts: [], now: 1_000_000_000)
    }

    @Test func theMeasuredRateAndTheCountersAreTold() throws {
        var condition = SensorCondition()
        condition.rate = MeasuredRate(rate: 96.2, uncertainty: 0.000481)
        (condition.lost, condition.overruns, condition.lostTriggers, condition.duplicates) = (1, 2, 3, 4)
        (condition.clockSteps, condition.slowReads, condition.retries, condition.wakeUps) = (5, 6, 7, 8)
        (condition.timeError, condition.temperature) = (0.0005, 31.5)
        let told = health(condition, driver: "i2c")
        #expect(told.rate == 96.2 && abs((told.rateErrorPpm ?? 0) + 38000) < 0.01)
        #expect(abs((told.rateUncertaintyPpm ?? 0) - 5) < 0.001)
        #expect(told.temperature == 31.5)
        var expected = HealthMessage.Driver()
        (expected.lost, expected.overruns, expected.lostTriggers, expected.duplicates) = (1, 2, 3, 4)
        (expected.clockSteps, expected.slowReads, expected.retries, expected.wakeUps) = (5, 6, 7, 8)
        expected.timeErrorMs = 0.5
        #expect(told.driver == expected)
    }

    @Test func withoutHardwareThereAreNoCountersOfIt() {
        #expect(health(SensorCondition(), driver: "replay").driver == nil)
        let nothing = health(nil, driver: "iio")
        #expect(nothing.driver == nil && nothing.rate == nil)
    }
}
