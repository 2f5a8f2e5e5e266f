import SignalProcessing

/// Error that the first sample of a measurement leaves in the velocity of a band. The filters take that sample for the level.
/// If a machine runs already, it is not the level, and the difference fades from the velocity as a step does. Its size is found from the
/// samples that follow: as that multiple of the answer to a step which the acceleration contains.
struct StartTransient: Sendable {
    /// The share of the velocity that may be left of it, and what does not matter, mm/s.
    private static let (share, least) = (0.01, 0.005)
    /// Length of the tables, s, and their steps per second.
    private static let (length, grid) = (40, 16)

    private let rate: Double
    /// A step after the first sample leaves this in the velocity in the band from each time on, mm/s.
    private let answer: [Double]
    /// Decay of the largest velocity, by sample.
    private let decay: Double

    private var samples = 0
    private var first = SIMD3<Double>.zero
    private var product = SIMD3<Double>.zero
    private var largest = SIMD3<Double>.zero
    private var isKnown = false

    /// - Parameter integral: high pass of the band with its integral, from m/s² to m/s.
    init(_ integral: AxisFilter, rate: Double) {
        self.rate = rate
        decay = max(0, 1 - 1 / rate)
        let count = Int(Double(Self.length) * rate)
        var x = [Double](repeating: 1, count: count)
        x[0] = 0
        var (y, z) = (x, x)
        let places = (0..<Self.length * Self.grid).map { min(count - 1, Int(Double($0) / Double(Self.grid) * rate)) }
        var integral = integral
        integral.reset()
        integral.process(&x, &y, &z, count: count)
        var (found, rest, k) = ([Double](repeating: 0, count: places.count), 0.0, count - 1)
        for place in places.indices.reversed() {
            while k >= places[place] {
                rest = max(rest, 1000 * abs(x[k]))
                k -= 1
            }
            found[place] = rest
        }
        answer = found
    }

    /// Begins anew with the next sample.
    init(of other: StartTransient) {
        self = other
        (samples, isKnown) = (0, false)
        (first, product, largest) = (.zero, .zero, .zero)
    }

    /// The level of what follows is that of what was before.
    mutating func known() { isKnown = true }

    /// Takes a sample; true where what is left of the first one is small.
    /// - Parameters:
    ///   - acceleration: of x, y and z, a stride apart, m/s².
    ///   - velocity: in the band, mm/s.
    mutating func take(
        _ acceleration: UnsafePointer<Double>, stride: Int, _ velocity: UnsafePointer<Double>, _ planes: Int
    ) -> Bool {
        guard !isKnown else { return true }
        let now = SIMD3(acceleration[0], acceleration[stride], acceleration[2 * stride])
        let size = SIMD3(abs(velocity[0]), abs(velocity[planes]), abs(velocity[2 * planes]))
        if samples == 0 { first = now }
        let place = Int(Double(samples) / rate * Double(Self.grid))
        samples += 1
        largest = pointwiseMax(size, largest * decay)
        guard place < answer.count else { return true }
        guard samples > 1 else { return false }
        product += now - first
        let left = product / Double(samples - 1) * answer[place]
        for k in 0..<3 where abs(left[k]) > max(Self.least, Self.share * largest[k]) { return false }
        return true
    }
}
