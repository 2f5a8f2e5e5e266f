import SignalProcessing

/// The motion between two samples: of a sine at a quarter of the rate the samples may miss the peak by 29 %.
///
/// Quarters of a sample by 16 neighbours (sinc with a Kaiser window, β = 6, each quarter's weights made to sum to 1),
/// then a parabola: within 0.3 % to 0.35 of the rate.
struct PeakInterpolation: Sendable {
    /// Samples on each side that are needed.
    static let reach = 8
    /// For ¼, ½ and ¾ between sample 7 and 8 of sixteen.
    private let first: SIMD16<Double>
    private let second: SIMD16<Double>
    private let third: SIMD16<Double>

    init() {
        let kernel = KaiserSinc(half: Self.reach, beta: 6)
        func weights(_ quarter: Int) -> SIMD16<Double> {
            var row = SIMD16<Double>.zero
            for j in 0..<16 { row[j] = kernel.weight(at: Double(quarter) / 4 - Double(j - 7)) }
            return row / Self.sum(row)
        }
        (first, second, third) = (weights(1), weights(2), weights(3))
    }

    @inline(__always)
    private static func sum(_ all: SIMD16<Double>) -> Double {
        let eight = all.lowHalf + all.highHalf
        let four = eight.lowHalf + eight.highHalf
        let two = four.lowHalf + four.highHalf
        return two.x + two.y
    }

    @inline(__always)
    private static func product(_ samples: UnsafePointer<Double>, _ weights: SIMD16<Double>) -> Double {
        sum(UnsafeRawPointer(samples).loadUnaligned(as: SIMD16<Double>.self) * weights)
    }

    // The motion a quarter, a half and three quarters after sample 7 of sixteen. (Each is called: inlined beside each other,
    // they take twice the instructions.)
    @inline(never) private func quarter(_ samples: UnsafePointer<Double>) -> Double { Self.product(samples, first) }
    @inline(never) private func half(_ samples: UnsafePointer<Double>) -> Double { Self.product(samples, second) }
    @inline(never) private func threeQuarters(_ samples: UnsafePointer<Double>) -> Double {
        Self.product(samples, third)
    }

    /// The motion halfway between the sample at `v` and the next one.
    @inline(__always)
    func middle(_ v: UnsafePointer<Double>) -> Double { Self.product(v - 7, second) }

    /// The largest |v| around the sample at `v`, which is not smaller than its neighbours, and how many samples after it.
    func peak(_ v: UnsafePointer<Double>) -> (value: Double, shift: Double) {
        let sign = v[0] < 0 ? -1.0 : 1.0
        // On the side on which the half is larger.
        let (left, right) = (sign * half(v - 8), sign * half(v - 7))
        let side = left > right ? -1 : 1
        let middle = max(left, right)
        let near = sign * (left > right ? threeQuarters(v - 8) : quarter(v - 7))
        let far = sign * (left > right ? quarter(v - 8) : threeQuarters(v - 7))
        var (largest, place) = (abs(v[0]), 0)
        if near > largest { (largest, place) = (near, 1) }
        if middle > largest { (largest, place) = (middle, 2) }
        if far > largest { return (far, 0.75 * Double(side)) }
        let after = place == 0 ? near : place == 1 ? middle : far
        let before: Double
        switch place {
        case 0: before = sign * (left > right ? quarter(v - 7) : threeQuarters(v - 8))
        case 1: before = abs(v[0])
        default: before = near
        }
        let curvature = before - 2 * largest + after
        guard curvature < 0 else { return (largest, Double(place * side) / 4) }
        let shift = min(0.5, max(-0.5, (before - after) / (2 * curvature)))
        return (largest - (before - after) * shift / 4, (Double(place) + shift) * Double(side) / 4)
    }

    /// The largest square of the vector sum at a quarter around a sample of three axes, a stride apart, whose own one is not smaller
    /// than its neighbours', and how many samples after it.
    func vectorPeak(_ v: UnsafePointer<Double>, stride: Int, square: Double) -> (square: Double, shift: Double) {
        func sum(_ value: (UnsafePointer<Double>) -> Double, _ place: Int) -> Double {
            let (x, y, z) = (value(v + place), value(v + (stride + place)), value(v + (2 * stride + place)))
            return x * x + y * y + z * z
        }
        let (left, right) = (sum(half, -8), sum(half, -7))
        let isLeft = left > right
        let near = isLeft ? sum(threeQuarters, -8) : sum(quarter, -7)
        let far = isLeft ? sum(quarter, -8) : sum(threeQuarters, -7)
        var (largest, place) = (square, 0.0)
        if max(left, right) > largest { (largest, place) = (max(left, right), 0.5) }
        if near > largest { (largest, place) = (near, 0.25) }
        if far > largest { (largest, place) = (far, 0.75) }
        return (largest, isLeft ? -place : place)
    }

    /// How many samples before the one at `v` the motion crosses zero, where that one and the one before it have different
    /// signs: by quarters of a sample, straight between them. (Straight from sample to sample is wrong by 14 % of the
    /// frequency at 0.36 of the rate.)
    func crossing(_ v: UnsafePointer<Double>) -> Double {
        var (low, high, left) = (v[-1], v[0], 1.0)
        let half = half(v - 8)
        if (half < 0) == (low < 0) { (low, left) = (half, 0.5) } else { high = half }
        let quarter = left == 1 ? quarter(v - 8) : threeQuarters(v - 8)
        if (quarter < 0) == (low < 0) { (low, left) = (quarter, left - 0.25) } else { high = quarter }
        return left - 0.25 * low / (low - high)
    }
}
