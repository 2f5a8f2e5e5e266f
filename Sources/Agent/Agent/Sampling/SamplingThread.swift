import Alerts
import Commands
import Glibc
import Instruments
import Messages
import Platform
import Sensors
import Settings
import SignalProcessing
import Station
import Values
import Vibration

/// The one thread that samples and runs the pipeline. It never ends because of the sensor: what fails is tried again
/// with growing pauses. While blocks come it takes no lock but the link's for a finished message, and logs nothing.
final class SamplingThread {
    /// Pauses before a sensor is tried again (ns). What has come back is found within two seconds; to try costs little.
    private static let firstPause: Int64 = 250_000_000
    private static let longestPause: Int64 = 1_500_000_000
    /// Settings that cannot work will not by themselves.
    private static let longestPauseOfSettings: Int64 = 30_000_000_000
    /// Real-time priority, above most and below the kernel's own threads.
    private static let priority: Int32 = 40

    /// In force, or taken for the next opening of the sensor.
    private var configuration: Configuration
    private var revision: Int
    /// The pipeline is still made of the settings before.
    private var isStale = false
    /// Other settings that wait for `commit` or `abandon`.
    private var prepared: PreparedSettings?
    /// With them: another sensor, or the sensor with other settings of its own.
    private var preparedDriver: (any SensorDriver)?
    /// The sensor has been opened already, to prepare settings.
    private var openSensor: SensorDescription?
    private let orders: OrderBook<SamplingWork>
    /// Orders that wait for a block to go in.
    private var queue: [(number: Int, order: SamplingWork)] = []
    private var duties = SamplingDuties()
    private let status: SamplingStatus
    private let sink: PublicationSink
    private var driver: any SensorDriver
    private let choose: (SensorConfiguration) -> any SensorDriver
    /// The one that was open last.
    private var lastSensor: SensorDescription?
    private let boot: String
    /// Takes the segments of the waveform ring, when the settings want one; nil: nobody takes them.
    private let ring: SegmentQueue?
    /// Switches the alarm's line; nil: there is none.
    private let alarm: AlarmThread?
    /// Finds modes in the motion; nil: nobody does.
    private let modes: ModesThread?
    /// Results of intervals of vibration before this run, as soon as they have been read.
    private let pastVibration: Mailbox<VibrationPast>
    /// Level of the sensor in an earlier run, for the first samples of this one.
    private var rest: RestLevel?
    private var isAlarm = false
    private var pause = SamplingThread.firstPause
    private var selfTestIsDue: Bool
    private var level: Level?
    /// How many intervals of vibration the status has been told of.
    private var vibrationIntervals = 0

    /// - Parameters:
    ///   - driver: of the sensor of the settings; `choose` gives that of other settings.
    ///   - revision: of the settings.
    init(
        configuration: Configuration, revision: Int = 0, boot: String, driver: any SensorDriver,
        choose: @escaping (SensorConfiguration) -> any SensorDriver = { SensorChoice.driver($0) },
        status: SamplingStatus, orders: OrderBook<SamplingWork>, ring: SegmentQueue? = nil,
        alarm: AlarmThread? = nil, modes: ModesThread? = nil, vibration: Mailbox<VibrationPast> = Mailbox(),
        rest: RestLevel? = nil, sink: @escaping PublicationSink
    ) {
        self.configuration = configuration
        self.revision = revision
        self.boot = boot
        self.driver = driver
        self.choose = choose
        self.status = status
        self.sink = sink
        self.orders = orders
        self.ring = ring
        self.alarm = alarm
        self.modes = modes
        pastVibration = vibration
        self.rest = rest
        selfTestIsDue = configuration.sensor.selfTest
    }

    /// Times real time; 0: without pauses.
    var speed: Double { SensorChoice.speed(configuration.sensor) }

    /// Starts the thread; it ends when the status says so, or with the recording.
    func start() throws(AgentError) {
        if let reason = DetachedThread.start("sampling", { self.run() }) {
            throw AgentError("the sampling thread cannot be started: \(reason)")
        }
    }

    private func run() {
        setPriority()
        while let sensor = open() {
            do throws(StationError) {
                var pipeline = try StationPipeline(
                    configuration: configuration, sensor: StationSensor(sensor), boot: boot, revision: revision)
                connectRing(&pipeline)
                isStale = false
                status.change { $0.rate = nil }
                if let rest, let origin = origin(of: sensor), rest.fits(origin: origin, now: HostClock.wall()) {
                    pipeline.goOn(from: rest)
                }
                rest = nil
                sample(sensor, &pipeline)
                break
            } catch { refused(error) }
        }
        driver.close()
        refuseAll()
        status.change { $0.finished = true }
    }

    /// A number for a sensor as it is mounted; nil where its level does not outlive a run.
    private func origin(of sensor: SensorDescription) -> UInt64? {
        guard sensor.clock == .host else { return nil }
        return RestLevel.origin(driver: sensor.driver, chip: sensor.chip, StationSensor(sensor), configuration)
    }

    /// Without pauses a thread with real-time priority would take the processor from everybody.
    private func setPriority() {
        let isPaced = speed > 0
        var parameters = sched_param(sched_priority: isPaced ? Self.priority : 0)
        let allowed = pthread_setschedparam(pthread_self(), isPaced ? SCHED_FIFO : SCHED_OTHER, &parameters) == 0
        status.change { $0.realTime = allowed && isPaced }
    }

    /// Other settings, of which the pipeline has to be told.
    func take(_ new: PreparedSettings) {
        (configuration, revision, isStale) = (new.configuration, new.revision, true)
        guard let other = preparedDriver.take() else { return }
        driver = other
        lastSensor = nil
        setPriority()
    }

    /// Has the pipeline keep the waveform for the ring, or not, as the settings in force say.
    private func connectRing(_ pipeline: inout StationPipeline) {
        let wanted = configuration.storage.ringMinutes > 0 ? ring : nil
        if wanted == nil { pipeline.flushRing() }
        pipeline.onSegment = wanted.map { ring in { ring.put($0, $1) } }
        let finder = modes?.take(configuration) == true ? modes : nil
        pipeline.onMotion = finder.map { finder in { finder.put($0) } }
    }

    // MARK: Opening

    /// Tries until a sensor is there; nil when the thread is to end.
    /// - Parameter meanwhile: is done before each try, and while the next one is waited for.
    private func open(_ meanwhile: () -> Void = {}) -> SensorDescription? {
        while !status.mustStop {
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            meanwhile()
            do throws(SensorError) {
                let sensor: SensorDescription
                if let found = openSensor.take() { sensor = found } else { sensor = try driver.open() }
                lastSensor = sensor
                var outcome: SelfTestOutcome?
                // Once after the start. What it says changes nothing for the samples.
                if selfTestIsDue { outcome = makeSelfTest() }
                selfTestIsDue = false
                status.lastBlock.store(HostClock.monotonic(), ordering: .relaxed)
                status.settling.store(true, ordering: .relaxed)
                // What was wrong stays so until samples come.
                status.change {
                    $0.sensor = sensor
                    $0.faults = .init()
                    if let outcome { $0.selfTest = outcome }
                }
                return sensor
            } catch {
                failed(error, meanwhile)
            }
        }
        return nil
    }

    /// Until the sensor is there and the settings fit it; false when the thread is to end.
    private func openAgain(_ session: inout SamplingSession, _ pipeline: inout StationPipeline) -> Bool {
        while let sensor = open({ noteSilence(session, &pipeline) }) {
            do throws(StationError) {
                if sensor != session.sensor {
                    try pipeline.change(sensor: StationSensor(sensor), (configuration, revision), to: sink)
                    session = SamplingSession(sensor, block: configuration.sensor.block)
                    status.change { $0.rate = nil }
                } else if isStale {
                    try pipeline.reconfigure(configuration, revision: revision, to: sink)
                }
                isStale = false
                connectRing(&pipeline)
                session.isFirst = true
                if duties.stream == nil, pipeline.isStreaming { pipeline.endStream(to: sink) }
                return true
            } catch { refused(error) { noteSilence(session, &pipeline) } }
        }
        return false
    }

    /// The chip's own test.
    private func makeSelfTest() -> SelfTestOutcome {
        var outcome = SelfTestOutcome(time: HostClock.wall())
        do throws(SensorError) { outcome.report = try driver.selfTest() } catch { outcome.error = error }
        return outcome
    }

    private func failed(_ error: SensorError, _ meanwhile: () -> Void = {}) {
        driver.close()
        status.take(nil)
        status.change {
            $0.sensor = nil
            $0.problem = .sensor(error)
            $0.faults = .init()
            $0.vibration = nil
        }
        backOff(longest: Self.longestPause, meanwhile)
    }

    private func refused(_ error: StationError, _ meanwhile: () -> Void = {}) {
        driver.close()
        status.change { $0.problem = .settings(error) }
        backOff(longest: Self.longestPauseOfSettings, meanwhile)
    }

    /// Waits, in steps short enough to show that the thread lives.
    private func backOff(longest: Int64, _ meanwhile: () -> Void) {
        var left = pause
        while left > 0, !status.mustStop {
            if serveIdle() {
                pause = Self.firstPause
                return
            }
            let step = min(left, 250_000_000)
            status.pause(nanoseconds: step)
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            meanwhile()
            left -= step
        }
        pause = min(pause * 3 / 2, longest)
    }

    // MARK: Sampling

    /// Runs the pipeline over all that the sensor gives, through failures that a new opening mends, and through the end
    /// of a recording, until the stop.
    private func sample(_ opened: SensorDescription, _ pipeline: inout StationPipeline) {
        var session = SamplingSession(opened, block: configuration.sensor.block)
        while !status.mustStop {
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            do throws(SensorError) {
                if try driver.read(into: &session.block) == .end {
                    guard waitAfterEnd(&pipeline, session), openAgain(&session, &pipeline) else { return }
                    continue
                }
            } catch {
                interrupted("the sensor was lost: " + error.message)
                failed(error) { noteSilence(session, &pipeline) }
                guard openAgain(&session, &pipeline) else { break }
                continue
            }
            if orders.hasOrders || !queue.isEmpty { takeOrders(&pipeline, session) }
            let now = HostClock.monotonic()
            note(now, &session)
            // What is made up or played is not to be judged.
            let isReal = SensorChoice.isHardware(configuration.sensor)
            if isReal, session.watch.take(session.block) { status.change { $0.faults = .init(session.watch) } }
            pipeline.process(
                session.block, quality: session.sensor.clock == .recording ? .replay : clockQuality,
                fault: session.watch.invalidReason, to: sink)
            noteEvent(&pipeline)
            if pipeline.level != level {
                level = pipeline.level
                status.change { $0.level = level }
            }
            if pipeline.vibrationIntervals != vibrationIntervals {
                vibrationIntervals = pipeline.vibrationIntervals
                status.change { $0.vibration = pipeline.vibrationStanding }
            }
            if let ring, ring.takeFlush() { pipeline.flushRing() }
            publishCounters(pipeline.status, pipeline.isSettling)
            if !duties.isIdle { attend(&pipeline, session) }
            if now >= session.conditionDue {
                session.conditionDue = now + 1_000_000_000
                look(&pipeline, &session)
            }
            if !queue.isEmpty, !carryOutNext(&session, &pipeline) { break }
        }
        pipeline.finish(to: sink)
        publishCounters(pipeline.status, pipeline.isSettling)
    }

    /// An event does not wait for a sensor that is away.
    private func noteSilence(_ session: SamplingSession, _ pipeline: inout StationPipeline) {
        guard speed > 0 else { return }
        pipeline.noteSilence(seconds: Double(HostClock.monotonic() - session.lastTime) * speed / 1e9, to: sink)
        noteEvent(&pipeline)
    }

    /// Takes down whether an event is open, and raises the alarm that has begun.
    private func noteEvent(_ pipeline: inout StationPipeline) {
        status.isEventOpen.store(pipeline.isEventOpen(), ordering: .relaxed)
        guard pipeline.isAlarm != isAlarm else { return }
        isAlarm.toggle()
        if isAlarm { alarm?.raise() }
    }

    /// Takes down that a block has come.
    private func note(_ now: Int64, _ session: inout SamplingSession) {
        // Of one sample, in ns; 0 without pauses.
        let duration = speed > 0 ? 1e9 / (session.rate * speed) : 0
        if session.isFirst {
            session.block.gapBefore = true
            session.conditionDue = now
            status.change { $0.problem = nil }
            session.restartWatch()
            pause = Self.firstPause
        } else {
            let late = now - session.lastTime - Int64(Double(session.block.count) * duration)
            if duration > 0, late > status.worstLateness.load(ordering: .relaxed) {
                status.worstLateness.store(late, ordering: .relaxed)
            }
        }
        session.lastTime = now
        session.isFirst = false
        status.lastBlock.store(now, ordering: .relaxed)
    }

    /// Once a second: how the driver says that the sensor is.
    private func look(_ pipeline: inout StationPipeline, _ session: inout SamplingSession) {
        let condition = driver.condition
        status.take(condition, mean: pipeline.status.mean)
        if let past = pastVibration.take() { pipeline.goOn(from: past) }
        if let mean = pipeline.restLevel, let time = pipeline.status.time, let origin = origin(of: session.sensor) {
            status.take(RestLevel(x: mean.x, y: mean.y, z: mean.z, time: time, origin: origin))
        }
        guard !configuration.sensor.resample else { return }
        if let measured = condition.rate, measured.isGood { pipeline.follow(trueRate: measured.rate) }
        guard let new = TrueRate.change(condition.rate, from: session.rate) else { return }
        session.rate = new
        var real = StationSensor(session.sensor)
        real.rate = new
        do throws(StationError) {
            try pipeline.change(sensor: real, to: sink)
            status.change { $0.rate = new }
        } catch {
            // It goes on as it is; what does not fit is told.
            status.change { $0.problem = .settings(error) }
        }
    }

    /// The recording is over: waits for settings with another sensor.
    /// - Returns: false when the thread is to end.
    private func waitAfterEnd(_ pipeline: inout StationPipeline, _ session: SamplingSession) -> Bool {
        pipeline.finish(to: sink)
        finishDuties(&pipeline, session)
        publishCounters(pipeline.status, pipeline.isSettling)
        driver.close()
        status.change { ($0.ended, $0.finished) = (true, true) }
        while !status.mustStop {
            // Without another sensor there is nothing to open.
            if serveIdle(), lastSensor == nil {
                status.change { ($0.ended, $0.finished) = (false, false) }
                return true
            }
            status.pause(nanoseconds: .max)
        }
        return false
    }

    private var clockQuality: TimeQuality { status.clockQuality }

    private func publishCounters(_ counters: StationStatus, _ settling: Bool) {
        status.samples.store(counters.samples, ordering: .relaxed)
        status.gaps.store(counters.gaps, ordering: .relaxed)
        status.lostSamples.store(counters.lostSamples, ordering: .relaxed)
        status.clippedSamples.store(counters.clippedSamples, ordering: .relaxed)
        status.settling.store(settling, ordering: .relaxed)
    }

    /// Samples in a block, by default of 0.16 s, 16 at 100 Hz: short enough for an onset to be told at once, long enough
    /// for the thread to wake seldom.
    static func blockSize(rate: Double, seconds: Double) -> Int {
        guard rate > 0, rate.isFinite else { return 1 }
        return max(1, Int((min(rate, 1e6) * seconds).rounded()))
    }
}

extension StationSensor {
    init(_ sensor: SensorDescription) {
        self.init(rate: sensor.rate, range: sensor.range, resolution: sensor.resolution)
    }
}

extension SampleWatch {
    /// Why the last samples say nothing; nil when they do.
    var invalidReason: InvalidReason? {
        guard faults.rawValue != 0 else { return nil }
        return faults.contains(.stuck) ? .stuck : faults.contains(.implausible) ? .implausible : nil
    }
}

extension SampleReport {
    init(_ watch: SampleWatch) {
        self.init(
            faults: watch.faults, stuckAxes: watch.stuckAxes, saturated: watch.saturatedShare,
            magnitude: watch.restMagnitude.isFinite ? watch.restMagnitude : nil)
    }
}

/// Orders of commands, carried out between two blocks.
extension SamplingThread {
    // MARK: While samples come

    /// Carries out what has been asked for, before a block goes in, up to what has to wait until it has.
    func takeOrders(_ pipeline: inout StationPipeline, _ session: SamplingSession) {
        // Those behind one that has to wait stay in their book, which says when it is full.
        if orders.hasOrders, queue.isEmpty { queue = orders.takeOrders() }
        while let (number, order) = queue.first, !stopsTheSensor(order) {
            queue.removeFirst()
            if let outcome = carryOut(order, number, &pipeline, session) { orders.answer(number, outcome) }
        }
    }

    /// - Returns: nil when it goes on.
    private func carryOut(
        _ work: SamplingWork, _ number: Int, _ pipeline: inout StationPipeline, _ session: SamplingSession
    ) -> OrderOutcome? {
        switch work {
        case .command(let order): return carryOut(order, number, &pipeline, session)
        case .settings(.prepare(let new, let revision, _)): return prepare(new, revision, &pipeline)
        case .settings(.commit(let settings)): return commit(settings, &pipeline)
        case .settings(.abandon):
            (prepared, preparedDriver) = (nil, nil)
            return .done(.object([]))
        }
    }

    private func carryOut(
        _ order: SamplingOrder, _ number: Int, _ pipeline: inout StationPipeline, _ session: SamplingSession
    ) -> OrderOutcome? {
        switch order {
        case .resetExtremes:
            pipeline.resetExtremes()
            return .done(["since": Self.text(session.block.time)])
        case .testEvent:
            if pipeline.isSettling {
                return .failed(CodedError("", .unavailable, "the filters have not settled yet"))
            }
            guard duties.testEvent == nil, pipeline.beginTestEvent() else { return .failed(.eventIsOpen) }
            duties.testEvent = number
            return nil
        case .calibrate(let seconds):
            guard duties.calibration == nil else {
                return .failed(CodedError("", .busy, "calibration already in progress"))
            }
            let calibration = SamplingDuties.Calibration(number: number, seconds: seconds, rate: session.rate)
            duties.calibration = calibration
            return .began(["seconds": .double(Double(calibration.wanted) / session.rate)])
        case .stream(let traces, let seconds):
            return beginStream(traces, seconds, number, &pipeline, session)
        case .endStream:
            endStream(&pipeline)
            return .done(["blocks": .int(Int64(pipeline.streamBlocks))])
        case .confirm(let confirmation):
            pipeline.confirm(confirmation, to: sink)
            return .done(.object([]))
        case .selfTest: return .failed(CodedError("", .internal, "the sensor has to be stopped for this"))
        }
    }

    /// True for what cannot be done while a block waits.
    private func stopsTheSensor(_ work: SamplingWork) -> Bool {
        switch work {
        case .settings(.prepare(_, _, let reopens)): reopens
        case .settings(.commit): preparedDriver != nil
        case .command(.selfTest): true
        default: false
        }
    }

    private func beginStream(
        _ traces: TraceConfiguration, _ seconds: Double, _ number: Int, _ pipeline: inout StationPipeline,
        _ session: SamplingSession
    ) -> OrderOutcome? {
        guard duties.stream == nil else {
            return .failed(CodedError("", .busy, "stream already in progress: end it, or wait for its end"))
        }
        let topic: String
        do throws(StationError) { topic = try pipeline.beginStream(traces, to: sink) } catch {
            return .failed(CodedError(error))
        }
        let length = Int64(min(max(seconds, 0), 1e6) * 1e9)
        let until = session.block.time + length
        let slowness = speed > 0 && speed < 1 ? 1 / speed : 1
        duties.stream = .init(
            number: number, until: until,
            deadline: HostClock.monotonic() + Int64(min(Double(length) * slowness, 1e18)) + 2_000_000_000)
        return .began(["until": Self.text(until), "topic": .string(topic)])
    }

    /// Goes on with what takes longer, after a block.
    private func attend(_ pipeline: inout StationPipeline, _ session: SamplingSession) {
        if let number = duties.testEvent {
            switch pipeline.testEvent() {
            case .wanted: break
            case .on(let id, _), .over(let id):
                duties.testEvent = nil
                orders.answer(number, .done(["event_id": .string(id)]))
            case .none, .refused:
                duties.testEvent = nil
                orders.answer(number, .failed(.eventIsOpen))
            }
        }
        if duties.calibration != nil {
            duties.calibration?.rest.append(session.block)
            if let calibration = duties.calibration, calibration.rest.count >= calibration.wanted {
                duties.calibration = nil
                orders.answer(
                    calibration.number, calibration.outcome(configuration.sensor.mounting, time: HostClock.wall()))
            }
        }
        if let stream = duties.stream, session.end >= stream.until || HostClock.monotonic() >= stream.deadline {
            endStream(&pipeline)
        }
    }

    private func endStream(_ pipeline: inout StationPipeline) {
        pipeline.endStream(to: sink)
        guard let stream = duties.stream else { return }
        duties.stream = nil
        orders.answer(stream.number, .done(["blocks": .int(Int64(pipeline.streamBlocks))]))
    }

    /// The first order that stops the sensor, after the block before it has gone in.
    /// - Returns: false when the thread is to end.
    private func carryOutNext(_ session: inout SamplingSession, _ pipeline: inout StationPipeline) -> Bool {
        let (number, order) = queue.removeFirst()
        switch order {
        case .settings(.prepare(let new, let revision, _)):
            interrupted("the sensor is opened anew")
            return tryOut(PreparedSettings(configuration: new, revision: revision), number, &session, &pipeline)
        case .settings(.commit):
            interrupted("the sensor is opened anew")
            closeSensor()
            if let new = prepared.take() { take(new) }
            orders.answer(number, .done(.object([])))
            return openAgain(&session, &pipeline)
        case .command(.selfTest):
            orders.answer(number, selfTest(&session, pipeline.isEventOpen()))
        default: orders.answer(number, .failed(CodedError("", .internal, "out of order")))
        }
        return true
    }

    private func selfTest(_ session: inout SamplingSession, _ isEventOpen: Bool) -> OrderOutcome {
        if isEventOpen { return .failed(.eventIsOpen) }
        if duties.calibration != nil {
            return .failed(CodedError("", .busy, "calibration in progress"))
        }
        let outcome = makeSelfTest()
        if outcome.error?.code != .unsupported {
            session.isFirst = true
            status.change { $0.selfTest = outcome }
        }
        guard let report = outcome.report else {
            return .failed(CodedError("", .unavailable, outcome.error?.message ?? "no self-test"))
        }
        return .done(report.value(time: outcome.time))
    }

    // MARK: While none come

    /// Settings are taken for the next opening, what needs a sensor is refused.
    /// - Returns: true when there are other settings to try at once.
    private func serveIdle() -> Bool {
        if let stream = duties.stream, HostClock.monotonic() >= stream.deadline { answerStream(stream) }
        guard orders.hasOrders || !queue.isEmpty else { return false }
        queue += orders.takeOrders()
        var isOther = false
        for (number, order) in queue {
            switch order {
            case .settings(.prepare(let new, let revision, let reopens)):
                let problem =
                    reopens ? nil : lastSensor.flatMap { StationCheck.problem(new, sensor: StationSensor($0)) }
                if problem == nil {
                    prepared = PreparedSettings(configuration: new, revision: revision)
                    preparedDriver = reopens ? choose(new.sensor) : nil
                }
                orders.answer(number, problem.map { .failed(CodedError($0)) } ?? .done(.object([])))
            case .settings(.commit(let settings)):
                if let new = settings ?? prepared.take() {
                    take(new)
                    isOther = true
                }
                orders.answer(number, .done(.object([])))
            case .settings(.abandon):
                (prepared, preparedDriver) = (nil, nil)
                orders.answer(number, .done(.object([])))
            case .command(.endStream):
                if let stream = duties.stream { answerStream(stream) }
                orders.answer(number, .done(.object([])))
            case .command: orders.answer(number, .failed(.noSensor))
            }
        }
        queue.removeAll()
        return isOther
    }

    /// The pipeline hears of its end when samples come again.
    private func answerStream(_ stream: SamplingDuties.Stream) {
        duties.stream = nil
        orders.answer(stream.number, .done(.object([])))
    }

    /// No more samples come of those before: what needs an unbroken stretch is over.
    private func interrupted(_ message: String) {
        guard let calibration = duties.calibration else { return }
        duties.calibration = nil
        orders.answer(calibration.number, .failed(CodedError("", .unavailable, message)))
    }

    /// The recording is over.
    private func finishDuties(_ pipeline: inout StationPipeline, _ session: SamplingSession) {
        attend(&pipeline, session)
        interrupted("the recording is over")
        endStream(&pipeline)
    }

    /// The thread ends: nothing is left without an answer.
    private func refuseAll() {
        let ends = OrderOutcome.failed(CodedError("", .unavailable, "the agent ends"))
        interrupted("the agent ends")
        if let number = duties.testEvent { orders.answer(number, ends) }
        if let stream = duties.stream { answerStream(stream) }
        for (number, _) in queue + orders.takeOrders() { orders.answer(number, ends) }
        queue.removeAll()
    }

    private static func text(_ time: Int64) -> Value { .string(Timestamp(nanoseconds: time).description) }
}

extension CodedError {
    init(_ error: StationError) { self.init("", .crossField, error.description) }
}

/// Other settings between `prepare` and `commit` or `abandon`.
final class PreparedSettings: Sendable {
    let configuration: Configuration
    let revision: Int
    /// Nil: it is to be made when the sensor is there.
    let pipeline: StationPipeline.Prepared?

    init(configuration: Configuration, revision: Int, pipeline: StationPipeline.Prepared? = nil) {
        (self.configuration, self.revision, self.pipeline) = (configuration, revision, pipeline)
    }
}

/// Settings into force, in two steps.
extension SamplingThread {
    /// A sensor that was opened to prepare settings has gone on measuring for less than this when they are taken (ns).
    private static let freshness: Int64 = 200_000_000

    // MARK: The same sensor

    func prepare(_ new: Configuration, _ revision: Int, _ pipeline: inout StationPipeline) -> OrderOutcome {
        do throws(StationError) {
            prepared = PreparedSettings(
                configuration: new, revision: revision, pipeline: try pipeline.prepare(new))
        } catch { return .failed(CodedError(error)) }
        return .done(.object([]))
    }

    func commit(_ settings: PreparedSettings?, _ pipeline: inout StationPipeline) -> OrderOutcome {
        guard let new = settings ?? prepared.take() else {
            return .failed(CodedError("", .internal, "nothing is prepared"))
        }
        take(new)
        var problem: SamplingStatus.Problem?
        if let made = new.pipeline, pipeline.fits(made) {
            pipeline.commit(made, revision: revision, to: sink)
        } else {
            // The sensor is another one than when they were prepared. What does not fit it is told.
            do throws(StationError) { try pipeline.reconfigure(configuration, revision: revision, to: sink) } catch {
                problem = .settings(error)
            }
        }
        isStale = false
        connectRing(&pipeline)
        status.change {
            if problem != nil { $0.problem = problem } else if case .settings = $0.problem { $0.problem = nil }
        }
        return .done(.object([]))
    }

    // MARK: A sensor that is opened anew

    private func closeSensor() {
        driver.close()
        // What was measured of the sensor before says nothing of what it is set to now.
        status.take(nil)
    }

    /// Opens the sensor with other settings, and waits for the word whether they count; without it, as before.
    /// - Returns: false when the thread is to end.
    private func tryOut(
        _ settings: PreparedSettings, _ number: Int, _ session: inout SamplingSession,
        _ pipeline: inout StationPipeline
    ) -> Bool {
        closeSensor()
        var other = choose(settings.configuration.sensor)
        var (found, value): (SensorDescription?, Value) = (nil, .object([]))
        do throws(SensorError) {
            let sensor = try other.open()
            do throws(StationError) {
                _ = try pipeline.prepare(settings.configuration, sensor: StationSensor(sensor))
            } catch {
                other.close()
                orders.answer(number, .failed(CodedError(error)))
                return openAgain(&session, &pipeline)
            }
            found = sensor
            value = [
                "sensor": [
                    "driver": .string(sensor.driver), "chip": .string(sensor.chip), "rate_hz": .double(sensor.rate),
                ]
            ]
        } catch {
            other.close()
            // The settings can be in force all the same: what is missing may still come.
            value = ["problem": .string(error.message)]
        }
        orders.answer(number, .done(value))
        let began = HostClock.monotonic()
        guard let end = awaitEnd() else {
            other.close()
            return false
        }
        let isFresh = HostClock.monotonic() - began < Self.freshness
        if case .commit = end.step, isFresh { openSensor = found } else { other.close() }
        if case .commit = end.step {
            preparedDriver = other
            take(settings)
        }
        orders.answer(end.number, .done(.object([])))
        return openAgain(&session, &pipeline)
    }

    /// Waits for `commit` or `abandon`; other orders wait with it. Nil: the thread is to end.
    private func awaitEnd() -> (number: Int, step: SettingsStep)? {
        while !status.mustStop {
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            queue += orders.takeOrders()
            for (index, one) in queue.enumerated() {
                guard case .settings(let step) = one.order, step.endsAChange else { continue }
                queue.remove(at: index)
                return (one.number, step)
            }
            status.pause(nanoseconds: 250_000_000)
        }
        return nil
    }
}
