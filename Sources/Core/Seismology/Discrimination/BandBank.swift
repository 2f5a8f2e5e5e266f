import SignalProcessing

/// Six Butterworth band passes of prototype order 2 on three axes, from zero. All sections have their zeros at 0 and at half
/// the rate, so that one takes two multiplications; two bands go through arithmetic together, and the gains are left to the
/// caller. In direct form, because the corners are not so far below the rate that digits would be lost (1e-9 at 4000 Hz).
struct BandBank: Sendable {
    /// Hz; the first five, and the one whose signal is wanted.
    private static let bands = [(0.5, 1.0), (1, 2), (2, 4), (4, 8), (8, 14)]

    /// For each pair of bands: a₁, a₂ of the first and of the second section.
    private var coefficients: [SIMD2<Double>] = []
    /// For each pair and axis: two delays of the first and of the second section.
    private var delays = [SIMD2<Double>](repeating: .zero, count: 36)
    /// Gain of each band.
    private(set) var gains: [Double] = []

    /// - Parameter rate: samples per second.
    init(rate: Double) throws(FilterDesignError) {
        var sections: [[Section]] = []
        for (low, high) in Self.bands + [(1, 12)] {
            let top = sections.count < 5 ? 0.45 : 0.4
            sections.append(
                try ButterworthSpecification(band: .bandpass, corners: [low, min(high, top * rate)], order: 2)
                    .sections(rate: rate))
        }
        gains = sections.map { $0[0].b0 * $0[1].b0 }
        for pair in [0, 2, 4] {
            for k in 0..<2 {
                let (one, other) = (sections[pair][k], sections[pair + 1][k])
                coefficients += [SIMD2(one.a1, other.a1), SIMD2(one.a2, other.a2)]
            }
        }
    }

    mutating func reset() { for k in delays.indices { delays[k] = .zero } }

    /// Adds to `energy`, for each pair of bands, the squares of all axes; writes the signal of the last band.
    /// Neither has its gain yet.
    /// - Parameters:
    ///   - planes: three planes of samples, `stride` apart.
    ///   - signal: three planes, as far apart.
    mutating func process(
        _ planes: UnsafePointer<Double>, _ signal: UnsafeMutablePointer<Double>, stride: Int, count: Int,
        energy: UnsafeMutablePointer<Double>
    ) {
        coefficients.withUnsafeBufferPointer { coefficients in
            delays.withUnsafeMutableBufferPointer { delays in
                for pair in 0..<3 {
                    let c = (
                        coefficients[4 * pair], coefficients[4 * pair + 1], coefficients[4 * pair + 2],
                        coefficients[4 * pair + 3]
                    )
                    var (x, y, z) = (
                        Delays(delays, 12 * pair), Delays(delays, 12 * pair + 4), Delays(delays, 12 * pair + 8)
                    )
                    var sum = SIMD2<Double>.zero
                    for i in 0..<count {
                        let u = x.step(planes[i], c)
                        let v = y.step(planes[stride + i], c)
                        let w = z.step(planes[2 * stride + i], c)
                        sum += u * u + v * v + w * w
                        (signal[i], signal[stride + i], signal[2 * stride + i]) = (u.y, v.y, w.y)
                    }
                    x.store(delays, 12 * pair)
                    y.store(delays, 12 * pair + 4)
                    z.store(delays, 12 * pair + 8)
                    energy[2 * pair] += sum.x
                    energy[2 * pair + 1] += sum.y
                }
            }
        }
    }

    /// Two sections of two bands on one axis.
    private struct Delays {
        private var s1: SIMD2<Double>
        private var s2: SIMD2<Double>
        private var t1: SIMD2<Double>
        private var t2: SIMD2<Double>

        @inline(__always)
        init(_ from: UnsafeMutableBufferPointer<SIMD2<Double>>, _ i: Int) {
            (s1, s2, t1, t2) = (from[i], from[i + 1], from[i + 2], from[i + 3])
        }

        @inline(__always)
        func store(_ to: UnsafeMutableBufferPointer<SIMD2<Double>>, _ i: Int) {
            (to[i], to[i + 1], to[i + 2], to[i + 3]) = (s1, s2, t1, t2)
        }

        /// H = (1 − z⁻²) / (1 + a₁z⁻¹ + a₂z⁻²), twice; the delays with their signs changed.
        @inline(__always)
        mutating func step(
            _ sample: Double, _ c: (SIMD2<Double>, SIMD2<Double>, SIMD2<Double>, SIMD2<Double>)
        ) -> SIMD2<Double> {
            let x = SIMD2(repeating: sample)
            let y = x - s1
            s1 = s2 + c.0 * y
            s2 = x + c.1 * y
            let out = y - t1
            t1 = t2 + c.2 * out
            t2 = y + c.3 * out
            return out
        }
    }
}
