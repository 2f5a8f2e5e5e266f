#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The motion between two samples: of a sine at a quarter of the rate the samples may miss the peak by 29 %.
///
/// Quarters of a sample by 16 neighbours (sinc with a Kaiser window, β = 5, each quarter's weights made to sum to 1),
/// then a parabola: within 0.5 % to 0.35 of the rate.
struct PeakInterpolation: Sendable {
    /// Samples on each side that are needed.
    static let reach = 8
    /// For ¼, ½ and ¾ between sample 7 and 8 of sixteen.
    private let weights: [Double]

    init() {
        func bessel(_ x: Double) -> Double {
            var (sum, term) = (1.0, 1.0)
            for k in 1...30 {
                term *= x * x / 4 / Double(k * k)
                sum += term
            }
            return sum
        }
        var weights: [Double] = []
        for quarter in 1...3 {
            let row = (0..<16).map { j -> Double in
                let x = Double(quarter) / 4 - Double(j - 7)
                let inside = max(0, 1 - x * x / 64)
                return sin(Double.pi * x) / (Double.pi * x) * bessel(5 * inside.squareRoot())
            }
            let sum = row.reduce(0, +)
            weights += row.map { $0 / sum }
        }
        self.weights = weights
    }

    /// The motion so many quarters (-3 to 3) of a sample after the one at `v`.
    @inline(__always)
    func value(_ v: UnsafePointer<Double>, quarters: Int) -> Double {
        if quarters == 0 { return v[0] }
        let row = (quarters > 0 ? quarters : quarters + 4) - 1
        let first = v + (quarters > 0 ? -7 : -8)
        return weights.withUnsafeBufferPointer { weights in
            var sum = 0.0
            for j in 0..<16 { sum += weights[16 * row + j] * first[j] }
            return sum
        }
    }

    /// The largest |v| around the sample at `v`, which is not smaller than its neighbours, and how many samples after it.
    func peak(_ v: UnsafePointer<Double>) -> (value: Double, shift: Double) {
        let sign = v[0] < 0 ? -1.0 : 1.0
        var (largest, place) = (abs(v[0]), 0)
        for quarter in [-3, -2, -1, 1, 2, 3] {
            let value = sign * value(v, quarters: quarter)
            if value > largest { (largest, place) = (value, quarter) }
        }
        guard abs(place) < 3 else { return (largest, Double(place) / 4) }
        let (a, c) = (sign * value(v, quarters: place - 1), sign * value(v, quarters: place + 1))
        let curvature = a - 2 * largest + c
        guard curvature < 0 else { return (largest, Double(place) / 4) }
        let shift = min(0.5, max(-0.5, (a - c) / (2 * curvature)))
        return (largest - (a - c) * shift / 4, (Double(place) + shift) / 4)
    }
}
