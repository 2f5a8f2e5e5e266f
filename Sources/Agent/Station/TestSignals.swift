import Settings
import SignalProcessing

/// Shake's test signals in place of single axes.
struct TestSignals: Sendable {
    private enum Source: Sendable {
        case sensor
        case sine(SineSource)
        case step(StepSource)
        case impulse(ImpulseSource)

        init(_ signal: AxisConfiguration.Signal, rate: Double) {
            switch signal {
            case .sensor: self = .sensor
            case .sine(let amplitude, let frequency):
                self = .sine(SineSource(amplitude: amplitude, frequency: frequency, rate: rate))
            case .step(let amplitude): self = .step(StepSource(amplitude: amplitude))
            case .impulse(let amplitude): self = .impulse(ImpulseSource(amplitude: amplitude))
            }
        }

        func value(_ sensor: Double, at index: Int) -> Double {
            switch self {
            case .sensor: sensor
            case .sine(let source): source.value(at: index)
            case .step(let source): source.value(at: index)
            case .impulse(let source): source.value(at: index)
            }
        }
    }

    private let x: Source
    private let y: Source
    private let z: Source
    private let allSensor: Bool

    init(_ axes: PerAxis<AxisConfiguration>, rate: Double) {
        x = Source(axes.x.signal, rate: rate)
        y = Source(axes.y.signal, rate: rate)
        z = Source(axes.z.signal, rate: rate)
        allSensor = (0..<3).allSatisfy { axes[$0].signal == .sensor }
    }

    /// Replaces the axes that have a test signal, in three planes; `index` of the first sample counts from the start or the
    /// last gap.
    func replace(_ planes: UnsafeMutablePointer<Double>, count: Int, at index: Int) {
        if allSensor { return }
        for i in 0..<count {
            let (y, z) = (Planes.capacity + i, 2 * Planes.capacity + i)
            planes[i] = self.x.value(planes[i], at: index + i)
            planes[y] = self.y.value(planes[y], at: index + i)
            planes[z] = self.z.value(planes[z], at: index + i)
        }
    }
}
