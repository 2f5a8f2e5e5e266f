import Settings
import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Shake's test signals in place of single axes: sine, step and impulse after a lead-in of 20 zero samples.
struct TestSignals: Sendable {
    private static let leadIn = 20
    private let signals: PerAxis<AxisConfiguration.Signal>
    private let rate: Double
    private let allSensor: Bool

    init(_ axes: PerAxis<AxisConfiguration>, rate: Double) {
        var signals = PerAxis(AxisConfiguration.Signal.sensor)
        for axis in 0..<3 { signals[axis] = axes[axis].signal }
        self.signals = signals
        self.rate = rate
        allSensor = signals == PerAxis(.sensor)
    }

    /// The sample with the axes replaced that have a test signal; `index` counts from the start or the last gap.
    func replace(_ sample: (Double, Double, Double), at index: Int) -> (Double, Double, Double) {
        if allSensor { return sample }
        return (
            value(signals.x, sample.0, index), value(signals.y, sample.1, index), value(signals.z, sample.2, index)
        )
    }

    private func value(_ signal: AxisConfiguration.Signal, _ sensor: Double, _ index: Int) -> Double {
        let n = index - Self.leadIn
        switch signal {
        case .sensor: return sensor
        case .sine(let amplitude, let frequency):
            return n < 0 ? 0 : amplitude * sin(2 * Double.pi * frequency * Double(n) / rate)
        case .step(let amplitude): return n < 0 ? 0 : amplitude
        case .impulse(let amplitude): return n == 0 ? amplitude : 0
        }
    }
}
