import CLinux
import Glibc
import Messages
import Sensors
import Settings
import SignalProcessing
import Station

/// The one thread that samples and runs the pipeline. It never ends because of the sensor: what fails is tried again
/// with growing pauses. While blocks come it takes no lock but the link's for a finished message, and logs nothing.
final class SamplingThread {
    /// Pauses before a sensor is tried again (ns).
    private static let firstPause: Int64 = 500_000_000
    private static let longestPause: Int64 = 30_000_000_000
    /// Real-time priority, above most and below the kernel's own threads.
    private static let priority: Int32 = 40

    private let configuration: Configuration
    private let boot: String
    private let status: SamplingStatus
    private let sink: PublicationSink
    private var driver: any SensorDriver
    private let speed: Double
    private var pause = SamplingThread.firstPause

    init(
        configuration: Configuration, boot: String, driver: any SensorDriver, status: SamplingStatus,
        sink: @escaping PublicationSink
    ) {
        self.configuration = configuration
        self.boot = boot
        self.driver = driver
        self.status = status
        self.sink = sink
        speed = SensorChoice.speed(configuration.sensor)
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
                let pipeline = try StationPipeline(
                    configuration: configuration, sensor: StationSensor(sensor), boot: boot)
                status.change { $0.rate = nil }
                sample(sensor, pipeline)
            } catch {
                driver.close()
                status.change { $0.problem = .settings(error) }
                backOff()
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
                status.lastBlock.store(HostClock.monotonic(), ordering: .relaxed)
                status.settling.store(true, ordering: .relaxed)
                status.change {
                    $0.sensor = sensor
                    $0.problem = nil
                }
                return sensor
            } catch {
                failed(error)
            }
        }
        return nil
    }

    private func failed(_ error: SensorError) {
        driver.close()
        status.take(nil)
        status.change {
            $0.sensor = nil
            $0.problem = .sensor(error)
        }
        backOff()
    }

    /// Waits, in steps short enough to show that the thread lives.
    private func backOff() {
        var left = pause
        while left > 0, !status.mustStop {
            let step = min(left, 500_000_000)
            status.pause(nanoseconds: step)
            status.heartbeat.wrappingAdd(1, ordering: .relaxed)
            left -= step
        }
        pause = min(pause * 2, Self.longestPause)
    }

    /// Runs the pipeline over all that the sensor gives, through failures that a new open mends, until the end or until
    /// the sensor comes back as one that the settings do not fit.
    private func sample(_ opened: SensorDescription, _ pipeline: consuming StationPipeline) {
        var sensor = opened
        var block = SampleBlock(capacity: Self.blockSize(rate: sensor.rate))
        var isFirst = true
        var lastTime: Int64 = 0
        var conditionDue: Int64 = 0
        var rate = sensor.rate
        var duration = speed > 0 ? 1e9 / (sensor.rate * speed) : 0
        let isRecording = sensor.clock == .recording
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
                    } catch { break }
                    sensor = again
                    rate = again.rate
                    duration = speed > 0 ? 1e9 / (rate * speed) : 0
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
            pipeline.process(block, quality: isRecording ? .replay : clockQuality, to: sink)
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
                    duration = speed > 0 ? 1e9 / (rate * speed) : 0
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
