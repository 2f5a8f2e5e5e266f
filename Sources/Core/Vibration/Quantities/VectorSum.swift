/// The largest vector sum of the velocities of three axes in an interval (pvs), which is at least the largest of each.
struct VectorSum: Sendable {
    struct Result: Sendable, Equatable {
        /// mm/s.
        var value = 0.0
        /// Nanoseconds of UTC.
        var time: Int64 = 0
    }

    private let rate: Double
    private let interpolation: PeakInterpolation
    private var present = Result()
    private(set) var result = Result()

    init(rate: Double, interpolation: PeakInterpolation) { (self.rate, self.interpolation) = (rate, interpolation) }

    /// Takes samples as ``PeakVelocity`` does.
    /// - Parameter velocity: of x, with y and z a stride after it each.
    mutating func process(
        _ velocity: UnsafePointer<Double>, stride: Int, _ times: UnsafePointer<Int64>, from start: Int, count: Int
    ) {
        var best = present.value * present.value
        @inline(__always) func square(_ v: UnsafePointer<Double>) -> Double {
            v[0] * v[0] + v[stride] * v[stride] + v[2 * stride] * v[2 * stride]
        }
        for i in start..<start + count {
            let v = velocity + (i - PeakInterpolation.reach)
            let size = square(v)
            guard size > 0.45 * best else { continue }
            let quarters = size >= square(v - 1) && size >= square(v + 1) ? 3 : 0
            for quarter in -quarters...quarters {
                let x = interpolation.value(v, quarters: quarter)
                let y = interpolation.value(v + stride, quarters: quarter)
                let z = interpolation.value(v + 2 * stride, quarters: quarter)
                let between = x * x + y * y + z * z
                guard between > best else { continue }
                best = between
                let shift = (Double(quarter) / 4 - Double(PeakInterpolation.reach)) * 1e9 / rate
                present = Result(value: between.squareRoot(), time: times[i] + Int64(shift.rounded()))
            }
        }
    }

    /// The interval is over.
    /// - Parameter peaks: of the axes, which a parabola has brought closer than quarters of a sample.
    mutating func close(_ peaks: [PeakVelocity]) {
        result = present
        for peak in peaks where peak.result.value > result.value {
            result = Result(value: peak.result.value, time: peak.result.time)
        }
        present = Result()
    }
}
