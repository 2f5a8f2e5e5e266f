import Foundation
import SignalProcessing

@testable import Vibration

/// Samples of three axes through a meter, cut into pieces.
struct MeterRun {
    var intervals: [VibrationInterval] = []

    /// - Parameters:
    ///   - start: of the first sample, ns of UTC.
    ///   - cuts: lengths of the pieces, in turns; at most 128.
    ///   - gaps: numbers of the samples before which there is a gap of so many seconds.
    init(
        _ measurement: VibrationMeasurement, rate: Double, _ samples: [[Double]],
        start: Int64 = 1_700_000_010_000_000_000, cuts: [Int] = [128], gaps: [Int: Double] = [:]
    ) throws {
        var meter = try VibrationMeter(measurement, rate: rate)
        let count = samples[0].count
        var planes = [Double](repeating: 0, count: 3 * 128)
        var times = [Int64](repeating: 0, count: 128)
        var (place, turn, late) = (0, 0, 0.0)
        while place < count {
            if let gap = gaps[place] {
                meter.reset()
                late += gap
            }
            let next = gaps.keys.filter { $0 > place }.min() ?? count
            let n = min(cuts[turn % cuts.count], count - place, next - place)
            for axis in 0..<3 { for i in 0..<n { planes[128 * axis + i] = samples[axis][place + i] } }
            for i in 0..<n { times[i] = start + Int64(((Double(place + i) / rate + late) * 1e9).rounded()) }
            meter.process(planes, stride: 128, times: times, count: n)
            intervals += meter.completed.map(\.interval)
            place += n
            turn += 1
        }
        intervals += meter.finish()
    }
}

/// Samples of a sine on one axis, zeros on the others.
func sine(
    _ f: Double, amplitude: Double, phase: Double = 0, rate: Double, seconds: Double, axis: Int = 0
) -> [[Double]] {
    var all = [[Double]](repeating: [Double](repeating: 0, count: Int(rate * seconds)), count: 3)
    for i in all[axis].indices { all[axis][i] = amplitude * sin(2 * Double.pi * f * Double(i) / rate + phase) }
    return all
}

/// A mode of a simulated structure: Hz, share of the critical damping, and how far each axis moves.
typealias TrueMode = (f: Double, damping: Double, shape: [Double])

/// Adds the motion of an oscillator that wind drives, at so many samples a second.
func add(_ mode: TrueMode, drivenBy wind: [Double], rate: Double, to axes: inout [[Double]]) {
    let w = 2 * Double.pi * mode.f / rate
    let decay = exp(-mode.damping * w)
    let turn = cos(w * (1 - mode.damping * mode.damping).squareRoot())
    let (a1, a2) = (-2 * decay * turn, decay * decay)
    var (y1, y2, x1, x2) = (0.0, 0.0, 0.0, 0.0)
    for (i, x) in wind.enumerated() {
        let y = x - x2 - a1 * y1 - a2 * y2
        (y2, y1, x2, x1) = (y1, y, x1, x)
        for axis in 0..<3 { axes[axis][i] += 1e-4 * y * mode.shape[axis] }
    }
}
