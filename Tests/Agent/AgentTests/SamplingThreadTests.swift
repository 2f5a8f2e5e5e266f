import Foundation
import Instruments
import MQTT
import Messages
import Platform
import Sensors
import Settings
import SignalProcessing
import TestSupport
import Testing
import Values
import Vibration

@testable import Agent

/// A driver that does what the test says, and a step only when asked to.
struct ScriptedSensor: SensorDriver {
    enum Step: Sendable {
        case openFails(SensorError)
        case open(rate: Double)
        case block
        /// As a block, of motion.
        case shake
        /// From the next block on the driver says that this is the true rate.
        case measured(MeasuredRate)
        /// As a block, all samples the same.
        case frozen
        case selfTest(Result<SelfTestReport, SensorError>)
        case readFails(SensorError)
        case readFailsLater(SensorError)
        case end
    }
    final class Script: Sendable {
        private let steps: Mutex<[Step]>
        let closes = Atomic<Int>(0)
        init(_ steps: [Step]) { self.steps = Mutex(steps) }
        func next() -> Step? { steps.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        var isEmpty: Bool { left == 0 }
        var left: Int { steps.withLock { $0.count } }
    }
    let script: Script
    var time: Int64 = 1_700_000_000_000_000_000
    var condition = SensorCondition()

    mutating func open() throws(SensorError) -> SensorDescription {
        switch script.next() {
        case .open(let rate): return SensorDescription(driver: "scripted", chip: "c", rate: rate, clock: .host)
        case .openFails(let error): throw error
        default: throw SensorError(.fault, "the script is wrong")
        }
    }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        var step = script.next()
        if case .measured(let rate) = step {
            condition.rate = rate
            step = script.next()
        }
        switch step {
        case .block: return fill(&block, noise: 0.01)
        case .shake: return fill(&block, noise: 1)
        case .frozen: return fill(&block, noise: 0)
        case .readFails(let error): throw error
        case .readFailsLater(let error):
            usleep(400_000)
            throw error
        case .end: return .end
        case nil:
            usleep(20000)
            return .end
        default: throw SensorError(.fault, "the script is wrong")
        }
    }

    private mutating func fill(_ block: inout SampleBlock, noise: Double) -> ReadOutcome {
        block.time = time
        for i in 0..<16 { block.append(0, noise * Double(i % 5), 9.8) }
        time += 160_000_000
        return .samples
    }

    mutating func selfTest() throws(SensorError) -> SelfTestReport {
        guard case .selfTest(let result) = script.next() else { throw SensorError(.fault, "the script is wrong") }
        return try result.get()
    }

    mutating func close() { script.closes.wrappingAdd(1, ordering: .relaxed) }
}

@Suite(.timeLimit(.minutes(10))) struct SamplingThreadTests {
    static func run(
        _ steps: [ScriptedSensor.Step], vibration: Mailbox<VibrationPast> = Mailbox(),
        sink: @escaping PublicationSink = { _, _ in },
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> (SamplingStatus, ScriptedSensor.Script) {
        var configuration = Configuration()
        configuration.station.id = "test"
        change(&configuration)
        let script = ScriptedSensor.Script(steps)
        let status = try SamplingStatus()
        let thread = SamplingThread(
            configuration: configuration, boot: "b", driver: ScriptedSensor(script: script), status: status,
            orders: OrderBook<SamplingWork>(answered: nil, wake: status.wake), vibration: vibration, sink: sink)
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

    /// The alert of the limit needs to know how the last interval stands; of a sensor that is lost nothing is known.
    @Test func theStandingOfVibrationIsToldAndForgottenWithTheSensor() throws {
        let blocks = [ScriptedSensor.Step](repeating: .block, count: 70)
        let (status, _) = try Self.run(
            [.open(rate: 100)] + blocks + [.readFailsLater(SensorError(.fault, "EIO"))],
            sink: { _, _ in }
        ) {
            ($0.vibration.enabled, $0.vibration.band, $0.vibration.interval) = (true, .own, 10)
            ($0.vibration.limit, $0.vibration.warnShare) = (VibrationLimit("din4150-3:dwellings:foundation"), 0.001)
        }
        #expect(eventually { status.now.vibration?.state == .warning })
        #expect(eventually { status.now.problem != nil && status.now.vibration == nil })
        status.requestStop()
        #expect(eventually { status.now.finished })
    }

    /// What the storage has found of earlier runs is gone on with.
    @Test func theDoseOfTheDayGoesOnAfterARestart() throws {
        let handover = Mailbox<VibrationPast>()
        var before = VibrationInterval()
        (before.start, before.length, before.seconds) = (1_699_999_990_000_000_000, 10, 10)
        for k in 0..<3 { before.axes[k].doseFourth = 81 }
        let seconds = Mutex(0.0)
        let blocks = [ScriptedSensor.Step](repeating: .block, count: 70)
        let (status, _) = try Self.run(
            [.open(rate: 100)] + blocks + [.end], vibration: handover,
            sink: { header, bytes in
                guard header.topic.hasSuffix("data/vibration"), let message = try? JSONReader.read(Array(bytes))
                else { return }
                #expect(abs((message["x"]?["vdv_period"]?.number ?? 0) - 3) < 0.001)
                seconds.withLock { $0 = message["period_seconds"]?.number ?? 0 }
            }
        ) {
            ($0.vibration.enabled, $0.vibration.band, $0.vibration.interval) = (true, .own, 10)
            var past = VibrationPast($0.vibration.measurement, offset: 0)
            past.add(before)
            handover.put(past)
        }
        #expect(eventually { status.now.finished })
        // (Those of the earlier run, and what has been measured since the filters settled.)
        #expect(seconds.withLock { $0 } > 11)
    }

    /// Opened within two seconds of its return, however long it was away.
    @Test func theLongestPauseIsShort() throws {
        let gone = SensorError(.missing, "x")
        let (status, script) = try Self.run([ScriptedSensor.Step](repeating: .openFails(gone), count: 7))
        // 0.25, 0.375, 0.56, 0.84, 1.27, 1.5 s.
        let watch = Stopwatch()
        #expect(eventually(within: 20) { script.isEmpty })
        #expect(watch.seconds < 7)
        status.requestStop()
    }

    @Test func whatWasWrongStaysSoUntilSamplesCome() throws {
        let fault = SensorError(.fault, "EIO")
        let (status, _) = try Self.run([
            .open(rate: 100), .readFails(fault), .open(rate: 100), .readFailsLater(fault), .open(rate: 100), .block,
            .end,
        ])
        // An open that is followed by another failure is no recovery.
        #expect(eventually { status.now.problem == .sensor(fault) && status.now.sensor != nil })
        #expect(eventually { status.now.finished })
        #expect(status.now.problem == nil)
    }

    @Test func aFrozenSensorIsSaidAndGoesOnWithAGap() throws {
        let blocks = [ScriptedSensor.Step](repeating: .block, count: 5)
        let frozen = [ScriptedSensor.Step](repeating: .frozen, count: 8)
        let (stuck, _) = try Self.run([.open(rate: 100)] + blocks + frozen + [.end])
        #expect(eventually { stuck.now.finished })
        #expect(stuck.now.faults.faults == .stuck && stuck.now.faults.stuckAxes == 7)
        #expect(HealthReport.sensorState(stuck, now: 0, stallTime: 1).rawValue == "stalled")
        let (well, _) = try Self.run([.open(rate: 100)] + blocks + frozen + blocks + [.end])
        #expect(eventually { well.now.finished })
        #expect(well.now.faults.faults == [])
        #expect(well.gaps.load(ordering: .relaxed) == 1)
        #expect(well.samples.load(ordering: .relaxed) == 18 * 16)
    }

    @Test func whatIsMadeUpIsNotJudged() throws {
        let frozen = [ScriptedSensor.Step](repeating: .frozen, count: 20)
        let (status, _) = try Self.run([.open(rate: 100)] + frozen + [.end], sink: { _, _ in }) {
            $0.sensor.driver = .simulate
        }
        #expect(eventually { status.now.finished })
        #expect(status.now.faults.faults == [])
    }

    @Test func theSelfTestIsMadeOnceAfterTheStart() throws {
        let axis = SelfTestReport.Axis(change: 5, minimum: 1, maximum: 4)
        let report = SelfTestReport(x: axis, y: axis, z: axis, unit: "m/s^2", source: "test")
        let steps: [ScriptedSensor.Step] = [
            .open(rate: 100), .selfTest(.success(report)), .block, .readFails(SensorError(.fault, "EIO")),
            .open(rate: 100), .block, .end,
        ]
        let (status, _) = try Self.run(steps, sink: { _, _ in }) { $0.sensor.selfTest = true }
        #expect(eventually { status.now.finished })
        #expect(status.now.selfTest?.report == report)
        #expect(status.samples.load(ordering: .relaxed) == 32)
    }

    @Test func aStopEndsAWaitAtOnce() throws {
        let (status, script) = try Self.run(
            [ScriptedSensor.Step](repeating: .openFails(SensorError(.missing, "x")), count: 100))
        #expect(eventually { status.heartbeat.load(ordering: .relaxed) > 3 })
        let watch = Stopwatch()
        status.requestStop()
        #expect(eventually { status.now.finished })
        #expect(watch.seconds < 0.4)
        #expect(!script.isEmpty)
    }

    /// Every message of a stream as JSON.
    final class Collected: Sendable {
        private let texts = Mutex<[(topic: String, bytes: [UInt8])]>([])
        var sink: PublicationSink {
            { header, bytes in self.texts.withLock { $0.append((header.topic, Array(bytes))) } }
        }
        func messages(_ ending: String) -> [[String: Any]] {
            texts.withLock { $0 }.filter { $0.topic.hasSuffix(ending) }.compactMap {
                (try? JSONSerialization.jsonObject(with: Data($0.bytes))) as? [String: Any]
            }
        }
    }

    @Test func theFiltersAreMadeForTheTrueRateAndTheNumbersGoOn() throws {
        let collected = Collected()
        let blocks = [ScriptedSensor.Step](repeating: .block, count: 30)
        let (status, _) = try Self.run(
            [.open(rate: 100), .measured(MeasuredRate(rate: 96.2, uncertainty: 0.01))] + blocks + [.end],
            sink: collected.sink)
        #expect(eventually { status.now.finished })
        #expect(status.now.rate == 96.2 && status.now.sensor?.rate == 100)
        let traces = collected.messages("data/trace")
        #expect(abs((traces.last?["rate_hz"] as? Double ?? 0) - 19.24) < 1e-9)
        #expect(traces.compactMap { $0["seq"] as? Int } == Array(0..<traces.count))
        #expect(status.samples.load(ordering: .relaxed) == 480 && status.gaps.load(ordering: .relaxed) == 0)
    }

    @Test func aSensorThatComesBackWithAnotherRateDoesNotBeginToCountAnew() throws {
        let collected = Collected()
        let blocks = [ScriptedSensor.Step](repeating: .block, count: 30)
        let (status, _) = try Self.run(
            [.open(rate: 100)] + blocks + [.readFails(SensorError(.fault, "EIO")), .open(rate: 200)] + blocks + [.end],
            sink: collected.sink)
        #expect(eventually { status.now.finished })
        let traces = collected.messages("data/trace")
        #expect(traces.compactMap { $0["seq"] as? Int } == Array(0..<traces.count))
        #expect(Set(traces.compactMap { $0["rate_hz"] as? Double }) == [20])
        #expect(status.samples.load(ordering: .relaxed) == 960 && status.gaps.load(ordering: .relaxed) == 1)
        #expect(status.now.sensor?.rate == 200)
    }

    /// An event that was open when the sensor went was told as under way until the sensor came back.
    @Test func anEventDoesNotWaitForASensorThatIsAway() throws {
        let collected = Collected()
        let (fault, gone) = (SensorError(.fault, "EIO"), SensorError(.missing, "no such device"))
        let quiet = [ScriptedSensor.Step](repeating: .block, count: 70)
        let motion = [ScriptedSensor.Step](repeating: .shake, count: 10)
        let away = [ScriptedSensor.Step](repeating: .openFails(gone), count: 20)
        let (status, script) = try Self.run(
            [.open(rate: 100)] + quiet + motion + [.readFails(fault)] + away, sink: collected.sink
        ) {
            $0.detection.level.enabled = true
            $0.detection.event.postEvent = 1
        }
        func kinds() -> [String] { collected.messages("event/trigger").compactMap { $0["event_type"] as? String } }
        #expect(eventually { kinds().first == "onset" })
        #expect(eventually(within: 20) { kinds().last == "end" && !status.isEventOpen.load(ordering: .relaxed) })
        #expect(status.now.problem == .sensor(gone) && !script.isEmpty)
        status.requestStop()
        #expect(eventually { status.now.finished })
        #expect(kinds().filter { $0 == "end" }.count == 1)
    }

    /// Of a sensor that came back with a rate at which the settings cannot work it was told with the next try, which is up
    /// to half a minute later.
    @Test func anEventDoesNotWaitForTheNextTryOfSettings() throws {
        let quiet = [ScriptedSensor.Step](repeating: .block, count: 70)
        let motion = [ScriptedSensor.Step](repeating: .shake, count: 10)
        let slow = [ScriptedSensor.Step](repeating: .open(rate: 15), count: 20)
        // What runs, and the tries that are left when the end is told: the thread ends then, and makes no other.
        let running = Mutex<(status: SamplingStatus, script: ScriptedSensor.Script)?>(nil)
        let left = Mutex<Int?>(nil)
        let (status, script) = try Self.run(
            [.open(rate: 100)] + quiet + motion + [.readFails(SensorError(.fault, "EIO"))] + slow,
            sink: { header, bytes in
                guard header.topic.hasSuffix("event/trigger"), let message = try? JSONReader.read(Array(bytes)),
                    message["event_type"] == .string("end"), let (status, script) = running.withLock({ $0 })
                else { return }
                left.withLock { $0 = script.left }
                status.requestStop()
            }
        ) {
            $0.detection.level.enabled = true
            // Tries are 5.2 s and 8.0 s after the failure.
            $0.detection.event.postEvent = 6
        }
        running.withLock { $0 = (status, script) }
        #expect(eventually(within: 20) { status.now.finished })
        let told = left.withLock { $0 }
        #expect(told == script.left && script.left > 0)
    }

    @Test func onlyARateThatIsCertainlyOtherChangesAnything() {
        func change(_ rate: Double, _ uncertainty: Double) -> Double? {
            TrueRate.change(MeasuredRate(rate: rate, uncertainty: uncertainty), from: 100)
        }
        #expect(change(96.2, 0.01) == 96.2 && change(100.6, 0.01) == 100.6)
        #expect(change(96.2, 0.5) == nil && change(99.6, 0.001) == nil && TrueRate.change(nil, from: 100) == nil)
    }

    @Test func blocksAreShort() {
        #expect(SamplingThread.blockSize(rate: 100, seconds: 0.16) == 16)
        #expect(SamplingThread.blockSize(rate: 1000, seconds: 0.16) == 160)
        #expect(SamplingThread.blockSize(rate: 1, seconds: 0.16) == 1)
        #expect(SamplingThread.blockSize(rate: .nan, seconds: 0.16) == 1)
        #expect(SamplingThread.blockSize(rate: 1000, seconds: 0.01) == 10)
    }
}

@Suite struct HealthStateTests {
    @Test func theStateFollowsWhatIsKnown() throws {
        let status = try SamplingStatus()
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
    private func health(_ condition: SensorCondition?, driver: String) throws -> HealthMessage {
        let status = try SamplingStatus()
        status.change { $0.sensor = SensorDescription(driver: driver, chip: "c", rate: 100, clock: .host) }
        status.take(condition)
        var report = HealthReport(now: 0)
        return report.message(
            status, LinkStatistics(), .init(), sensor: .ok, time: .replay, alerts: [], now: 1_000_000_000)
    }

    /// Defect: a report that a newer one had replaced before it was sent left a hole in the numbers that nothing told of.
    @Test func replacedReportsAreCounted() throws {
        var link = LinkStatistics()
        link.replaced = 3
        var report = HealthReport(now: 0)
        let told = report.message(
            try SamplingStatus(), link, .init(), sensor: .ok, time: .replay, alerts: [], now: 1_000_000_000)
        #expect(told.mqtt.replaced == 3)
    }

    @Test func theMeasuredRateAndTheCountersAreTold() throws {
        var condition = SensorCondition()
        condition.rate = MeasuredRate(rate: 96.2, uncertainty: 0.000481)
        (condition.lost, condition.overruns, condition.lostTriggers, condition.duplicates) = (1, 2, 3, 4)
        (condition.clockSteps, condition.slowReads, condition.retries, condition.wakeUps) = (5, 6, 7, 8)
        (condition.timeError, condition.temperature) = (0.0005, 31.5)
        let told = try health(condition, driver: "i2c")
        #expect(told.rate == 96.2 && abs((told.rateErrorPpm ?? 0) + 38000) < 0.01)
        #expect(abs((told.rateUncertaintyPpm ?? 0) - 5) < 0.001)
        #expect(told.temperature == 31.5)
        #expect(told.driver == condition)
    }

    /// Of the hottest zone; one that is off, one that is no number, one that cannot be and a gap in the numbers do not count.
    @Test func theBoardsTemperatureIsThatOfTheHottestZone() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("thermal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(HealthReport.hostTemperature(below: folder.path) == nil)
        for (zone, text) in [(0, "51540\n"), (1, ""), (2, "off\n"), (3, "-273200\n"), (5, "63250\n"), (6, "40000\n")] {
            let place = folder.appendingPathComponent("thermal_zone\(zone)")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: place.appendingPathComponent("temp"))
        }
        #expect(HealthReport.hostTemperature(below: folder.path) == 63.25)
    }

    @Test func withoutHardwareThereAreNoCountersOfIt() throws {
        let replayed = try health(SensorCondition(), driver: "replay")
        #expect(replayed.driver == nil)
        let nothing = try health(nil, driver: "iio")
        #expect(nothing.driver == nil && nothing.rate == nil)
    }
}
