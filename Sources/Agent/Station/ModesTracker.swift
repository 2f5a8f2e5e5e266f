import Messages
import Settings
import SignalProcessing
import Vibration

/// Natural modes of the structure, period by period, from the motion that the pipeline hands out. Pure; it takes
/// milliseconds every 20 s and tenths of a second once in a period, and is no matter of the thread that samples.
public struct ModesTracker: Sendable {
    private let top: Double
    /// Nanoseconds.
    private let period: Int64
    private var messenger: Messenger
    private var analysis: ModeAnalysis?
    private var spectra: CrossSpectra?
    private var rate = 0.0
    /// Number of the period under way; nil: there is none.
    private var number: Int64?
    private var message = ModesMessage()
    private var last: MotionBlock?
    private var followed = FollowedModes()

    /// - Parameter boot: UUID of this run.
    public init(_ vibration: VibrationConfiguration, topics: Topics, boot: String) {
        top = vibration.modesTop
        period = Int64(vibration.modesPeriod) * 1_000_000_000
        messenger = Messenger(topics: topics, boot: boot)
    }

    /// Goes on with the numbers of messages and of modes of another one.
    public mutating func takeOver(_ old: ModesTracker) {
        messenger.takeOver(old.messenger)
        followed = old.followed
    }

    /// Knows again the modes of an earlier run.
    public mutating func goOn(from past: FollowedModes) { followed = past }

    /// Takes the next piece of motion. With the first one of another period the modes of the one before are sent.
    /// - Parameter temperature: of the sensor's chip now, °C; nil: not known.
    public mutating func take(
        _ block: MotionBlock, temperature: Double?, quality: TimeQuality, to sink: PublicationSink
    ) {
        let place = Self.floor(block.start, period)
        if place != number || block.rate != rate {
            finish(quality: quality, to: sink)
            number = place
            message = ModesMessage()
            message.start = block.start
            if block.rate != rate || spectra == nil {
                rate = block.rate
                let analysis = ModeAnalysis(rate: rate, top: top)
                (self.analysis, spectra) = (analysis, analysis.spectra)
            } else {
                spectra?.restart()
            }
        }
        if !block.continues { spectra?.interrupt() }
        spectra?.add(block.motion)
        message.seconds += Double(block.count) / block.rate
        if let temperature { message.temperature = temperature }
        last = block
    }

    /// Sends the modes of the period under way, if there is enough of it; then it begins anew.
    public mutating func finish(quality: TimeQuality, to sink: PublicationSink) {
        defer { number = nil }
        guard let analysis, let spectra, let last, number != nil, spectra.segments >= ModeAnalysis.leastSegments else {
            return
        }
        let strongest = analysis.modes(spectra).sorted { $0.prominence > $1.prominence }.prefix(ModesMessage.most)
        message.modes = strongest.sorted { $0.frequency < $1.frequency }
        message.segments = spectra.segments
        followed.recognise(&message.modes)
        messenger.send(message, time: last.end, quality: quality, to: sink)
    }

    private static func floor(_ time: Int64, _ period: Int64) -> Int64 {
        let (number, rest) = time.quotientAndRemainder(dividingBy: period)
        return rest < 0 ? number - 1 : number
    }
}

/// The next piece of a station's motion at a low rate, for the analysis of modes.
public struct MotionBlock: Sendable, Equatable {
    /// Time of the first sample, nanoseconds of UTC.
    public var start: Int64
    /// Samples per second.
    public var rate: Double
    /// Whether it continues the block before.
    public var continues: Bool
    /// m/s² of x, then of y, then of z.
    public var motion: [Float]

    public var count: Int { motion.count / 3 }
    /// End of its last sample.
    public var end: Int64 { start + Int64((Double(count) / rate * 1e9).rounded()) }
}

/// Called with every complete piece.
public typealias MotionSink = (MotionBlock) -> Void

/// Decimates the motion and collects it into half segments of the analysis of modes. (An object: most stations have none.)
final class MotionCollector {
    private let rate: Double
    private let factor: Int
    private let half: Int
    private var decimator: Decimator
    private var outputs: [Double]
    private var block: [Float]
    private var filled = 0
    /// Samples of the stretch before the present chunk, and outputs that there have been in it.
    private var taken = 0
    private var made = 0
    private var start: Int64 = 0
    private var continues = false

    /// Nil where modes are not wanted, or the rate does not carry them.
    init?(_ configuration: Configuration, rate: Double) {
        let vibration = configuration.vibration
        guard vibration.modes, rate >= VibrationConfiguration.rateOfModes * vibration.modesTop * 0.995 else {
            return nil
        }
        self.rate = rate
        factor = max(1, Int(rate / (VibrationConfiguration.rateOfModes * vibration.modesTop) + 0.005))
        half = ModeAnalysis.half(rate: rate / Double(factor))
        decimator = Decimator(filter: DecimationFilter(factor: factor), lanes: 3, chunk: Planes.capacity)
        outputs = [Double](repeating: 0, count: Planes.capacity * decimator.stride)
        block = [Float](repeating: 0, count: 3 * half)
    }

    /// Forgets the past: the next samples continue nothing.
    func reset() {
        decimator.reset()
        (filled, taken, made, continues) = (0, 0, 0, false)
    }

    func take(_ planes: borrowing Planes, count: Int, to sink: MotionSink?) {
        for axis in 0..<3 { decimator.load(planes.offsetRemoved + axis * Planes.capacity, lane: axis, count: count) }
        let n = decimator.run(count, into: &outputs)
        for i in 0..<n {
            if filled == 0 {
                // Output k lies at sample k × factor of the stretch.
                start = planes.times[0] + Int64((Double(made * factor - taken) / rate * 1e9).rounded())
            }
            for axis in 0..<3 { block[axis * half + filled] = Float(outputs[i * decimator.stride + axis]) }
            made += 1
            filled += 1
            guard filled == half else { continue }
            sink?(MotionBlock(start: start, rate: rate / Double(factor), continues: continues, motion: block))
            (filled, continues) = (0, true)
        }
        taken += count
    }
}
