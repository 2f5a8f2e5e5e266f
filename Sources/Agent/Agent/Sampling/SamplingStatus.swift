import Alerts
import Instruments
import Messages
import Platform
import Sensors
import Station

/// State of the sampling thread for the others: counters without a lock for every block, and words behind a lock that
/// change rarely.
final class SamplingStatus: Sendable {
    /// Fault of the sensor.
    enum Problem: Sendable, Equatable {
        case sensor(SensorError)
        /// The settings cannot work at the sensor's rate.
        case settings(StationError)
    }

    /// Values that change rarely.
    struct Words: Sendable, Equatable {
        /// Nil while no sensor is open.
        var sensor: SensorDescription?
        /// The measured rate that the pipeline was made for; nil while it is the nominal one.
        var rate: Double?
        var problem: Problem?
        /// Faults of the samples that come.
        var faults = SampleReport()
        /// How far from level the sensor was found.
        var level: Level?
        /// How the last interval of vibration stands to its limit; nil: there is none, or no limit.
        var vibration: VibrationMessage.Standing?
        /// Nil while none has been asked for or made.
        var selfTest: SelfTestOutcome?
        /// The recording is over.
        var ended = false
        /// The thread has ended.
        var finished = false
        /// Whether it runs with real-time priority.
        var realTime = false
    }

    /// Rises with each turn of the loop, also while it waits for a sensor.
    let heartbeat = Atomic<Int>(0)
    let samples = Atomic<Int>(0)
    let gaps = Atomic<Int>(0)
    let lostSamples = Atomic<Int>(0)
    let clippedSamples = Atomic<Int>(0)
    let settling = Atomic<Bool>(true)
    let isEventOpen = Atomic<Bool>(false)
    /// Monotonic time of the last block (ns); 0 before the first since the sensor was opened.
    let lastBlock = Atomic<Int64>(0)
    /// Worst lateness of a block since it was last asked for (ns).
    let worstLateness = Atomic<Int64>(0)
    /// How good the wall clock is, as the other threads found out: which source (its place among all), synced, and the
    /// bits of the error in ms.
    let clockSource = Atomic<Int>(0)
    let clockSynced = Atomic<Bool>(false)
    let clockErrorBits = Atomic<UInt64>(Double.nan.bitPattern)
    let stopRequested = Atomic<Bool>(false)

    /// Quality of the samples' times.
    var clockQuality: TimeQuality {
        let synced = clockSynced.load(ordering: .relaxed)
        let error = Double(bitPattern: clockErrorBits.load(ordering: .relaxed))
        let sources = TimeQuality.Source.allCases
        let source = sources[clockSource.load(ordering: .relaxed) % sources.count]
        return TimeQuality(synced: synced, source: synced ? source : .free, errorMs: error.isNaN ? nil : error)
    }

    private let words = Mutex(Words())
    /// How the driver says that the sensor is, about once a second; nil while none is open.
    private let sensorCondition = Mutex<SensorCondition?>(nil)
    /// Average of the last second's samples; nil while no sensor is open.
    private let sampleMean = Mutex<AxisValues<Double>?>(nil)
    /// Level of the last sensor, once it is known.
    private let restLevel = Mutex<RestLevel?>(nil)
    /// Signalled when the words have changed.
    let changed: Wake
    /// Signalled when the thread is to end, or has an order.
    let wake: Wake

    init() throws(AgentError) {
        changed = try .make()
        wake = try .make()
    }

    var now: Words { words.withLock { $0 } }

    var condition: SensorCondition? { sensorCondition.withLock { $0 } }

    var mean: AxisValues<Double>? { sampleMean.withLock { $0 } }

    var rest: RestLevel? { restLevel.withLock { $0 } }

    func take(_ level: RestLevel) { restLevel.withLock { $0 = level } }

    func take(_ condition: SensorCondition?, mean: AxisValues<Double>? = nil) {
        sensorCondition.withLock { $0 = condition }
        sampleMean.withLock { $0 = mean }
    }

    func change(_ body: (inout Words) -> Void) {
        let isNew = words.withLock { words in
            let before = words
            body(&words)
            return words != before
        }
        if isNew { changed.signal() }
    }

    func requestStop() {
        stopRequested.store(true, ordering: .releasing)
        wake.signal()
    }

    var mustStop: Bool { stopRequested.load(ordering: .acquiring) }

    /// Waits, but not longer than until the stop or an order.
    func pause(nanoseconds: Int64) {
        guard !mustStop else { return }
        if wake.wait(milliseconds: Int32(clamping: nanoseconds / 1_000_000)) { wake.clear() }
    }
}
