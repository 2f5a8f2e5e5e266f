import Settings
import SignalProcessing
import Vibration

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
