import Alerts
import Commands
import Instruments
import Messages
import Platform
import Sensors
import Settings
import SignalProcessing
import Values

/// Orders on their way to the thread that carries them out, and outcomes on their way back. One thread asks whether there
/// is anything without a lock, so that sampling pays one atomic load for each block.
final class OrderBook<Order: Sendable>: Sendable {
    /// Orders that wait at most; no command waits behind that many.
    static var capacity: Int { 16 }

    private struct State {
        var orders: [(number: Int, order: Order)] = []
        var outcomes: [(number: Int, outcome: OrderOutcome)] = []
    }
    private let state = Mutex(State())
    private let waiting = Atomic<Bool>(false)
    /// Signalled when an outcome has come; nil: nobody waits for it.
    private let answered: Wake?
    /// Signalled when an order has come; nil: nobody waits for it.
    private let wake: Wake?

    /// - Parameters:
    ///   - answered: of the main thread.
    ///   - wake: of the thread that takes the orders; nil when it looks often enough by itself.
    init(answered: Wake?, wake: Wake? = nil) {
        self.answered = answered
        self.wake = wake
    }

    /// - Parameter always: it is taken however many wait.
    /// - Returns: false when too many wait.
    @discardableResult
    func put(_ order: Order, number: Int, always: Bool = false) -> Bool {
        let taken = state.withLock { state in
            guard state.orders.count < Self.capacity || always else { return false }
            state.orders.append((number, order))
            return true
        }
        if taken {
            waiting.store(true, ordering: .releasing)
            wake?.signal()
        }
        return taken
    }

    /// Whether one more would be taken: it will be, when nobody else gives orders.
    var hasRoom: Bool { state.withLock { $0.orders.count < Self.capacity } }

    /// Whether there are orders; without a lock.
    var hasOrders: Bool { waiting.load(ordering: .acquiring) }

    func takeOrders() -> [(number: Int, order: Order)] {
        waiting.store(false, ordering: .releasing)
        return state.withLock { state in
            defer { state.orders.removeAll() }
            return state.orders
        }
    }

    func answer(_ number: Int, _ outcome: OrderOutcome) {
        state.withLock { $0.outcomes.append((number, outcome)) }
        answered?.signal()
    }

    func takeOutcomes() -> [(number: Int, outcome: OrderOutcome)] {
        state.withLock { state in
            defer { state.outcomes.removeAll() }
            return state.outcomes
        }
    }
}

/// Outcome of an order.
enum OrderOutcome: Sendable {
    /// It goes on; more will come.
    case began(Value)
    case done(Value)
    /// The same, but part of what is stored could not be read.
    case partly(Value)
    /// Done, and written already.
    case made(ReplyResult)
    case failed(CodedError)

    /// The same, of which part could not be read.
    var incomplete: OrderOutcome {
        switch self {
        case .began, .partly: return self
        case .done(let result): return .partly(result)
        case .made(var result):
            result.isIncomplete = true
            return .made(result)
        case .failed(var error):
            error.message += " (Part of what is stored could not be read.)"
            return .failed(error)
        }
    }
}

extension CodedError {
    static let noRing = CodedError(
        "", .unavailable, "there is no waveform ring: storage.ring_minutes is 0, or the storage is unavailable")
    static let noStorage = CodedError("", .unavailable, "the storage is unavailable")
    static let fullStorage = CodedError(
        "", .unavailable, "the storage cannot be written to: nothing can be sent from it now")
    static let eventIsOpen = CodedError("", .busy, "an event is open")
    static let noSensor = CodedError("", .unavailable, "no sensor is open")
}

/// Work that the main thread orders from the sampling thread. Each has a number and is answered by an ``OrderOutcome``
/// of that number, always.
enum SamplingWork: Sendable {
    case command(SamplingOrder)
    case settings(SettingsStep)
}

/// A step of a change of the settings, for the thread that samples.
enum SettingsStep: Sendable {
    /// Finds out whether other settings can come into force, and has no effect but one: with `reopens` the sensor is closed
    /// and opened anew with them, since only that shows what it can do. No samples come then until `commit` or `abandon`;
    /// the gap is declared. A sensor that is not found is no obstacle: it may still come.
    indirect case prepare(Configuration, revision: Int, reopens: Bool)
    /// Settings come into force at the next border of a block: these or, with nil, what was prepared last. Cannot fail.
    indirect case commit(PreparedSettings?)
    /// Drops the settings that were prepared last; a sensor that was opened for them is opened as before.
    case abandon

    /// It is taken however many orders wait.
    var endsAChange: Bool {
        if case .prepare = self { false } else { true }
    }
}

/// State of the sensor that the sampling thread reads, beside the pipeline's.
struct SamplingSession {
    let sensor: SensorDescription
    /// Samples per second: the true ones once they are known to be others.
    var rate: Double
    var block: SampleBlock
    var watch: SampleWatch
    /// No block has come since the sensor was opened.
    var isFirst = true
    /// Times by the monotonic clock (ns): the last block, and when to ask next how the sensor is.
    var lastTime: Int64 = 0
    var conditionDue: Int64 = 0

    /// - Parameter seconds: of samples that are read together.
    init(_ sensor: SensorDescription, block seconds: Double) {
        self.sensor = sensor
        rate = sensor.rate
        block = SampleBlock(capacity: SamplingThread.blockSize(rate: sensor.rate, seconds: seconds))
        watch = SampleWatch(rate: sensor.rate, range: sensor.range, resolution: sensor.resolution)
    }

    /// Time after the last sample of the block, ns of UTC.
    var end: Int64 { block.time + Int64(Double(block.count) * 1e9 / rate) }

    mutating func restartWatch() {
        watch = SampleWatch(rate: sensor.rate, range: sensor.range, resolution: sensor.resolution)
    }
}

/// The orders that the sampling thread is busy with for longer than a block.
struct SamplingDuties {
    struct Calibration {
        var number: Int
        var rest: RestRecording
        /// Samples that it takes.
        var wanted: Int
    }
    struct Stream {
        var number: Int
        /// In the time of the samples, ns of UTC; and of the monotonic clock, for samples that do not come.
        var until: Int64
        var deadline: Int64
    }

    /// More would take memory and, at the end, time from the samples: two minutes at 1000 Hz.
    static let mostSamples = 120_000

    var calibration: Calibration?
    var stream: Stream?
    /// The number of the order.
    var testEvent: Int?

    var isIdle: Bool { calibration == nil && stream == nil && testEvent == nil }
}

extension SamplingDuties.Calibration {
    init(number: Int, seconds: Double, rate: Double) {
        let samples = max(RestRecording.shortest, min(seconds, 1e6)) * rate
        self.init(
            number: number, rest: RestRecording(rate: rate),
            wanted: max(1, min(SamplingDuties.mostSamples, Int(samples.rounded(.up)))))
    }

    /// The outcome, with one member more than is kept: `noise`, the RMS of each axis in m/s².
    func outcome(_ mounting: MountingConfiguration, time: Int64) -> OrderOutcome {
        // A station that levels itself, or is turned, need not be level.
        let isLevel = !mounting.level && mounting.rotation == PerAxis(0)
        let up = mounting.sources.z
        do throws(CalibrationError) {
            let result = try RestCalibration(rest, vertical: isLevel ? (axis: up.axis, sign: up.sign) : nil)
            let value = result.value(time: time)
            guard case .object(let members) = value, let noise = value["noise_rms"] else { return .done(value) }
            return .done(.object(members + [.init("noise", noise)]))
        } catch { return .failed(CodedError("", .unavailable, error.message)) }
    }
}

/// Consequences of a sensor's measured rate.
enum TrueRate {
    /// The rate that the pipeline is to be made for, when the present one is wrong and the true one is certain.
    static func change(_ measured: MeasuredRate?, from present: Double) -> Double? {
        guard let measured, measured.isGood,
            abs(measured.rate / present - 1) > SensorRate.tolerance
        else { return nil }
        return measured.rate
    }
}

extension MeasuredRate {
    /// Known to 0.03 %, as it is after some seconds.
    var isGood: Bool { rate > 0 && uncertainty < 3e-4 * rate }
}
