#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A digital Butterworth filter (bilinear transform, prewarped corners). The order is the prototype's, so that band filters
/// have twice as many poles.
public struct ButterworthSpecification: FilterKind {
    public static let name = "butterworth"
    public static let title = "Butterworth"
    public static let help =
        "The flattest pass band, 3 dB down at its corners. A band filter has twice as many poles as its order says."

    public var band = FilterBand.lowpass
    /// Corner frequencies in Hz, −3 dB points, rising: one for low and high pass, two for band filters.
    public var corners = [1.0]
    /// Order of the analogue prototype, 1 to 10.
    public var order = 2
    public var start = FilterStart.zero

    public init() {}

    public init(band: FilterBand, corners: [Double], order: Int, start: FilterStart = .zero) {
        (self.band, self.corners, self.order, self.start) = (band, corners, order, start)
    }

    public mutating func parameters(_ p: inout FilterParameters) {
        p.band(&band, corners: &corners, "Where the filter is 3 dB down.")
        p.count("order", &order, 1...10, "Order of the analogue prototype.")
        p.word("start", &start, only: FilterStart.allCases, required: false, FilterStart.help)
    }

    public func design(rate: Double) throws(FilterDesignError) -> FilterSpecification.Design {
        .init(try sections(rate: rate), start: start)
    }
}

extension ButterworthSpecification {
    /// Digital second-order sections at a sample rate in Hz.
    ///
    /// The analogue prototype's poles (Butterworth 1930) are moved by the usual frequency transformations about the
    /// prewarped corners and mapped by the bilinear transform; a band filter has `2 × order` poles. Every coefficient
    /// is computed from the analogue poles in a form without cancellation, so that a section whose corner is 20 000
    /// times below the sample rate is as exact as any. Sections run from the fastest decay to the slowest.
    public func sections(rate: Double) throws(FilterDesignError) -> [Section] {
        try check(rate: rate)
        // The analogue axis is scaled so that the bilinear transform is s = (1 − z⁻¹)/(1 + z⁻¹).
        let warped = corners.map { tan(Double.pi * $0 / rate) }
        let low = warped[0]
        var sections: [Section] = []
        sections.reserveCapacity(order + 1)
        switch band {
        case .lowpass:
            forEachPrototypePole { pole, isReal in
                let p = low * pole
                sections.append(isReal ? lowpassSection(real: p.re) : lowpassSection(pair: p))
            }
        case .highpass:
            forEachPrototypePole { pole, isReal in
                // Prototype poles lie on the unit circle: 1/p is the conjugate.
                let p = low * pole
                sections.append(isReal ? highpassSection(real: p.re) : highpassSection(pair: p))
            }
        case .bandpass, .bandstop:
            let width = warped[1] - warped[0]
            let centreSquared = warped[0] * warped[1]
            forEachPrototypePole { pole, isReal in
                let half = (width / 2) * pole
                let root = (half * half - Complex(re: centreSquared, im: 0)).squareRoot
                if isReal, root.im == 0 {
                    // The real pole has split into two real ones.
                    sections.append(bandSection(half + root, half - root, width, centreSquared))
                } else if isReal {
                    sections.append(bandSection(half + root, (half + root).conjugate, width, centreSquared))
                } else {
                    for p in [half + root, half - root] {
                        sections.append(bandSection(p, p.conjugate, width, centreSquared))
                    }
                }
            }
        }
        return sections.sorted { $0.decayPerSample > $1.decayPerSample }
    }

    private func check(rate: Double) throws(FilterDesignError) {
        try FilterDesignError.check(rate: rate)
        guard (1...10).contains(order) else { throw .order(order) }
        let expected = band.hasTwoCorners ? 2 : 1
        guard corners.count == expected else { throw .cornerCount(expected: expected, got: corners.count) }
        for corner in corners { try FilterDesignError.check(corner: corner, rate: rate) }
        // A narrower band would not settle either.
        if expected == 2, !(corners[1] - corners[0] >= rate * 1e-12) { throw .cornerOrder(corners[0], corners[1]) }
    }

    /// The prototype's poles in the upper half plane, then the real one of an odd order.
    private func forEachPrototypePole(_ body: (Complex, Bool) -> Void) {
        for k in 0..<(order / 2) {
            let angle = Double.pi * Double(2 * k + 1) / Double(2 * order)
            body(Complex(re: -sin(angle), im: cos(angle)), false)
        }
        if order % 2 == 1 { body(Complex(re: -1, im: 0), true) }
    }

    private func lowpassSection(pair p: Complex) -> Section {
        let (e1, e2, scale) = denominator(p, p.conjugate)
        let b = p.squaredMagnitude * scale
        return Section(b0: b, beta1: 4 * b, beta2: 4 * b, e1: e1, e2: e2)
    }

    private func lowpassSection(real p: Double) -> Section {
        let b = -p / (1 - p)
        return Section(b0: b, beta1: 3 * b, beta2: 2 * b, e1: 1 + 2 * b, e2: 2 * b)
    }

    private func highpassSection(pair p: Complex) -> Section {
        let (e1, e2, scale) = denominator(p, p.conjugate)
        return Section(b0: scale, beta1: 0, beta2: 0, e1: e1, e2: e2)
    }

    private func highpassSection(real p: Double) -> Section {
        let b = 1 / (1 - p)
        let e2 = -2 * p * b
        return Section(b0: b, beta1: b, beta2: 0, e1: 1 + e2, e2: e2)
    }

    /// `width · s` (band pass) or `s² + centre²` (band stop) over two poles that are real or conjugate.
    private func bandSection(_ p: Complex, _ q: Complex, _ width: Double, _ centreSquared: Double) -> Section {
        let (e1, e2, scale) = denominator(p, q)
        if band == .bandpass {
            let b = width * scale
            return Section(b0: b, beta1: 2 * b, beta2: 0, e1: e1, e2: e2)
        }
        let c = centreSquared * scale
        return Section(b0: scale + c, beta1: 4 * c, beta2: 4 * c, e1: e1, e2: e2)
    }

    /// e₁ and e₂ of two analogue poles, and the factor 1/((1−p)(1−q)) that belongs to the numerator.
    private func denominator(_ p: Complex, _ q: Complex) -> (e1: Double, e2: Double, scale: Double) {
        let product = (p * q).re
        let sum = p.re + q.re
        let scale = 1 / (1 - sum + product)
        return ((4 * product - 2 * sum) * scale, 4 * product * scale, scale)
    }
}
