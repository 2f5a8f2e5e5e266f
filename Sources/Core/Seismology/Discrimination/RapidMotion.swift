import SignalProcessing

/// Ground velocity and displacement for what must be known within seconds: two chains of high pass, trapezoid, high pass
/// (order 2, from zero), of three axes at 0.4 Hz and of the vertical at 0.075 Hz, the latter once more to displacement.
/// The last 15 s are kept.
struct RapidMotion: Sendable {
    /// Samples of a chunk at most.
    static let chunk = 128
    /// Seconds before an onset that are kept.
    static let past = 15.0

    /// Samples since the first or since the last gap.
    private(set) var count = 0
    private let capacity: Int
    private var stages: Stages
    /// Square of the 3-D velocity (m²/s²) and the vertical velocity at 0.4 Hz, then velocity (m/s) and displacement (m) of
    /// the vertical at 0.075 Hz.
    private var ring: [SIMD4<Double>]

    /// - Parameter rate: samples per second.
    init(rate: Double) throws(FilterDesignError) {
        stages = try Stages(rate: rate)
        capacity = Int((Self.past * rate).rounded(.toNearestOrEven)) + 1 + Self.chunk
        ring = Array(repeating: .zero, count: capacity)
    }

    /// Forgets all samples.
    mutating func reset() {
        stages.reset()
        count = 0
    }

    /// A sample by its number; of the last ones.
    @inline(__always)
    subscript(i: Int) -> SIMD4<Double> { ring[i % capacity] }

    /// Takes a chunk.
    /// - Parameter raw: three planes of samples, `stride` apart, m/s².
    mutating func process(_ raw: UnsafePointer<Double>, stride: Int, count n: Int) {
        guard n > 0 else { return }
        var (place, stages) = (count % capacity, stages)
        if count == 0 { stages.first = SIMD3(raw[0], raw[stride], raw[2 * stride]) }
        for i in 0..<n {
            ring[place] = stages.step(SIMD3(raw[i], raw[stride + i], raw[2 * stride + i]))
            place = place + 1 == capacity ? 0 : place + 1
        }
        self.stages = stages
        count += n
    }

    private struct Stages: Sendable {
        /// x, y, z at 0.4 Hz and z at 0.075 Hz go through arithmetic together.
        private var acceleration: Highpass<SIMD4<Double>>
        private var velocity: Highpass<SIMD4<Double>>
        private var displacement: Highpass<Double>
        private let half: Double
        private var last = SIMD4<Double>.zero
        private var integral = SIMD4<Double>.zero
        private var lastVelocity = 0.0
        private var distance = 0.0
        var first = SIMD3<Double>.zero

        init(rate: Double) throws(FilterDesignError) {
            func section(_ corner: Double) throws(FilterDesignError) -> Section {
                try ButterworthSpecification(band: .highpass, corners: [corner], order: 2).sections(rate: rate)[0]
            }
            let (fast, slow) = (try section(0.4), try section(0.075))
            func lanes(_ part: (Section) -> Double) -> SIMD4<Double> {
                SIMD4(part(fast), part(fast), part(fast), part(slow))
            }
            acceleration = Highpass(
                gain: lanes { $0.b0 }, e1: lanes { $0.e1 }, e2: lanes { $0.e2 }, s1: .zero, s2: .zero)
            velocity = acceleration
            displacement = Highpass(gain: slow.b0, e1: slow.e1, e2: slow.e2, s1: 0, s2: 0)
            half = 1 / (2 * rate)
        }

        mutating func reset() {
            acceleration.reset()
            velocity.reset()
            displacement.reset()
            (last, integral, lastVelocity, distance) = (.zero, .zero, 0, 0)
        }

        @inline(__always)
        mutating func step(_ sample: SIMD3<Double>) -> SIMD4<Double> {
            let a = sample - first
            let now = acceleration.step(SIMD4(a.x, a.y, a.z, a.z))
            integral += (now + last) * half
            last = now
            let v = velocity.step(integral)
            distance += (v.w + lastVelocity) * half
            lastVelocity = v.w
            return SIMD4(v.x * v.x + v.y * v.y + v.z * v.z, v.z, v.w, displacement.step(distance))
        }
    }
}

/// A high pass in the delta operator (see `Section`), whose β₁ and β₂ are 0.
private struct Highpass<T: Sendable>: Sendable {
    var gain: T
    var e1: T
    var e2: T
    var s1: T
    var s2: T
}

extension Highpass where T == Double {
    mutating func reset() { (s1, s2) = (0, 0) }

    @inline(__always)
    mutating func step(_ x: Double) -> Double {
        let y = gain * x + s1
        s1 += s2 - e1 * y
        s2 -= e2 * y
        return y
    }
}

extension Highpass where T == SIMD4<Double> {
    mutating func reset() { (s1, s2) = (.zero, .zero) }

    @inline(__always)
    mutating func step(_ x: SIMD4<Double>) -> SIMD4<Double> {
        let y = gain * x + s1
        s1 += s2 - e1 * y
        s2 -= e2 * y
        return y
    }
}
