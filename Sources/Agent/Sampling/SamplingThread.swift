import CLinux
import Glibc
import Instrument
import Messages
import Sensors
import Settings
import SignalProcessing
import Station

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

    private let configuration: Configuration
    private let boot: String
    private let status: SamplingStatus
    private let sink: PublicationSink
    /// Takes the segments of the waveform ring; nil: there is none.
    private let onSegment: SegmentSink?
    private var driver: any SensorDriver
    private let speed: Double
    private var pause = SamplingThread.firstPause
    private var selfTestIsDue: Bool

    init(
        configuration: Configuration, boot: String, driver: any SensorDriver, status: SamplingStatus,
        onSegment: SegmentSink? = nil, sink: @escaping PublicationSink
    ) {
        self.configuration = configuration
        self.boot = boot
        self.driver = driver
        self.status = status
        self.sink = sink
        self.onSegment = onSegment
        speed = SensorChoice.speed(configuration.sensor)
        selfTestIsDue = configuration.sensor.selfTest
    }

    /// Starts the thread; it ends when the status says so, or with the recording.
    func start() throws(AgentError) {
        let box = Unmanaged.passRetained(self)
        var id = pthread_t()
        let code = pthread_create(
            &id, nil,
            { context in
                clinux_set_thread_name("sampling")
                guard let context else { return nil }
                Unmanaged<SamplingThread>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw AgentError("the sampling thread cannot be started: \(String(cString: strerror(code)))")
        }
        pthread_detach(id)
    }

    private func run() {
        // Without pauses a thread with this priority would take the processor from everybody.
        if speed > 0 {
            var parameters = sched_param(sched_priority: Self.priority)
            let allowed = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters) == 0
            status.change { $0.realTime = allowed }
        }
        while let sensor = open() {
            do throws(StationError) {
                var pipeline = try StationPipeline(
                    configuration: configuration, sensor: StationSensor(sensor), boot: boot)
                pipeline.onSegment = onSegment
                status.change { $0.rate = nil }
                sample(sensor, pipeline)
            } catch {
                driver.close()
                status.change { $0.problem = .settings(error) }
                backOff(longest: Self.longestPauseOfSettings)
            }
            if status.mustStop || status.now.ended { break }
        }
        driver.close()
        status.change { $0.finished = true }
    }

    /// Tries until a sensor is there; nil when the thread is to end.
    private func open() -> SensorDescription? {
        while !status.mustStop {
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            do throws(SensorError) {
                let sensor = try driver.open()
                let outcome = selfTest()
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
                failed(error)
            }
        }
        return nil
    }

    /// The chip's self-test, once after the start. What it says changes nothing for the samples.
    private func selfTest() -> SamplingStatus.SelfTestOutcome? {
        guard selfTestIsDue else { return nil }
        selfTestIsDue = false
        var outcome = SamplingStatus.SelfTestOutcome(time: HostClock.wall())
        do throws(SensorError) { outcome.report = try driver.selfTest() } catch { outcome.error = error }
        return outcome
    }

    private func failed(_ error: SensorError) {
        driver.close()
        status.take(nil)
        status.change {
            $0.sensor = nil
            $0.problem = .sensor(error)
            $0.faults = .init()
        }
        backOff(longest: Self.longestPause)
    }

    /// Waits, in steps short enough to show that the thread lives.
    private func backOff(longest: Int64) {
        var left = pause
        while left > 0, !status.mustStop {
            let step = min(left, 250_000_000)
            status.pause(nanoseconds: step)
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            left -= step
        }
        pause = min(pause * 3 / 2, longest)
    }

    /// Runs the pipeline over all that the sensor gives, through failures that a new open mends, until the end or until
    /// the sensor comes back as one that the settings do not fit.
    private func sample(_ opened: SensorDescription, _ pipeline: consuming StationPipeline) {
        var sensor = opened
        var block = SampleBlock(capacity: Self.blockSize(rate: sensor.rate))
        var isFirst = true
        var level: Level?
        var lastTime: Int64 = 0
        var conditionDue: Int64 = 0
        var rate = sensor.rate
        // Of one sample, in ns; 0 without pauses.
        var duration: Double { speed > 0 ? 1e9 / (rate * speed) : 0 }
        let isRecording = sensor.clock == .recording
        // What is made up or played is not to be judged.
        let isReal = SensorChoice.isHardware(configuration.sensor)
        var watch = SampleWatch(rate: sensor.rate, range: sensor.range, resolution: sensor.resolution)
        while !status.mustStop {
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            do throws(SensorError) {
                if try driver.read(into: &block) == .end {
                    pipeline.finish(to: sink)
                    publishCounters(pipeline.status, pipeline.isSettling)
                    status.change { $0.ended = true }
                    return
                }
            } catch {
                failed(error)
                guard let again = open() else { break }
                if again != sensor {
                    do throws(StationError) {
                        try pipeline.change(sensor: StationSensor(again), to: sink)
                    } catch {
                        driver.close()
                        break
                    }
                    sensor = again
                    rate = again.rate
                    block = SampleBlock(capacity: Self.blockSize(rate: rate))
                    status.change { $0.rate = nil }
                }
                isFirst = true
                continue
            }
            let now = HostClock.monotonic()
            if isFirst {
                block.gapBefore = true
                conditionDue = now
                status.change { $0.problem = nil }
                watch = SampleWatch(rate: sensor.rate, range: sensor.range, resolution: sensor.resolution)
                pause = Self.firstPause
            } else {
                let late = now - lastTime - Int64(Double(block.count) * duration)
                if duration > 0, late > status.worstLateness.load(ordering: .relaxed) {
                    status.worstLateness.store(late, ordering: .relaxed)
                }
            }
            lastTime = now
            isFirst = false
            status.lastBlock.store(now, ordering: .relaxed)
            if isReal, watch.take(block) { status.change { $0.faults = .init(watch) } }
            pipeline.process(
                block, quality: isRecording ? .replay : clockQuality, fault: watch.invalidReason, to: sink)
            if pipeline.level != level {
                level = pipeline.level
                status.change { $0.level = level }
            }
            publishCounters(pipeline.status, pipeline.isSettling)
            if now >= conditionDue {
                conditionDue = now + 1_000_000_000
                let condition = driver.condition
                status.take(condition)
                if !configuration.sensor.resample, let measured = condition.rate, measured.isGood {
                    pipeline.follow(trueRate: measured.rate)
                }
                if !configuration.sensor.resample, let new = TrueRate.change(condition.rate, from: rate) {
                    rate = new
                    var real = StationSensor(sensor)
                    real.rate = rate
                    do throws(StationError) {
                        try pipeline.change(sensor: real, to: sink)
                        status.change { $0.rate = new }
                    } catch {
                        // It goes on as it is; what does not fit is told.
                        status.change { $0.problem = .settings(error) }
                    }
                }
            }
        }
        pipeline.finish(to: sink)
        publishCounters(pipeline.status, pipeline.isSettling)
    }

    private var clockQuality: TimeQuality {
        let synced = status.clockSynced.load(ordering: .relaxed)
        let error = Double(bitPattern: status.clockErrorBits.load(ordering: .relaxed))
        let sources = TimeQuality.Source.allCases
        let source = sources[status.clockSource.load(ordering: .relaxed) % sources.count]
        return TimeQuality(synced: synced, source: synced ? source : .free, errorMs: error.isNaN ? nil : error)
    }

    private func publishCounters(_ counters: StationStatus, _ settling: Bool) {
        status.samples.store(counters.samples, ordering: .relaxed)
        status.gaps.store(counters.gaps, ordering: .relaxed)
        status.lostSamples.store(counters.lostSamples, ordering: .relaxed)
        status.clippedSamples.store(counters.clippedSamples, ordering: .relaxed)
        status.settling.store(settling, ordering: .relaxed)
    }

    /// Samples in a block: 0.16 s, 16 at 100 Hz. Short enough for an onset to be told at once, long enough for the
    /// thread to wake seldom.
    static func blockSize(rate: Double) -> Int {
        guard rate > 0, rate.isFinite else { return 1 }
        return max(1, Int((min(rate, 1e6) * 0.16).rounded()))
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

extension SamplingStatus.WatchReport {
    init(_ watch: SampleWatch) {
        self.init(
            faults: watch.faults, stuckAxes: watch.stuckAxes, saturated: watch.saturatedShare,
            magnitude: watch.restMagnitude.isFinite ? watch.restMagnitude : nil)
    }
}
