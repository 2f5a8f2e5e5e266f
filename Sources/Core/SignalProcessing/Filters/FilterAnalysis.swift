#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A pole of a digital filter.
public struct FilterPole: Sendable, Equatable {
    /// In the z plane; the filter is stable when it lies inside the unit circle.
    public var re: Double
    public var im: Double
    /// Natural frequency |s| / 2π in Hz of the pole s = ln(z) fs.
    public var frequency: Double
    /// Quality |s| / (−2 Re s): 0.5 for a real pole, large for a ringing one.
    public var quality: Double

    /// - Parameter delta: z − 1, which keeps the digits of a pole close to 1.
    init(delta: Complex, rate: Double) {
        re = 1 + delta.re
        im = delta.im
        let s = Complex(
            re: log1p(2 * delta.re + delta.squaredMagnitude) / 2 * rate, im: atan2(delta.im, 1 + delta.re) * rate)
        let magnitude = s.squaredMagnitude.squareRoot()
        frequency = magnitude / (2 * Double.pi)
        quality = magnitude / (-2 * s.re)
    }
}

/// Response of a filter to a sine.
public struct FilterResponse: Sendable, Equatable {
    /// Hz.
    public var frequency: Double
    /// Output amplitude over input amplitude.
    public var gain: Double
    /// Radians from −π to π; positive where the output is ahead.
    public var phase: Double
    /// −dφ/dω in seconds; nil where the gain is 0.
    public var groupDelay: Double?
}

extension Section {
    /// The roots of δ² + e₁δ + e₂, without the one at z = 0 that a section of first order has beside a zero there.
    fileprivate var deltaPoles: [Complex] {
        if e1 == 0, e2 == 0 { return [] }
        if abs(a2) < 1e-14, abs(b2) < 1e-14 { return [Complex(re: -e2, im: 0)] }
        let half = Complex(re: -e1 / 2, im: 0)
        let discriminant = e1 * e1 / 4 - e2
        if discriminant < 0 {
            let root = Complex(re: 0, im: (-discriminant).squareRoot())
            return [half + root, half - root]
        }
        let larger = -(e1 / 2 + discriminant.squareRoot())
        return [Complex(re: larger, im: 0), Complex(re: e2 / larger, im: 0)]
    }

    /// −dφ/dω in samples at ω = 2πf/fs.
    fileprivate func groupDelay(at frequency: Double, rate: Double) -> Double? {
        let delta = Self.delta(at: frequency, rate: rate)
        let square = delta * delta
        let numerator = b0 * square + beta1 * delta + Complex(re: beta2, im: 0)
        let denominator = square + e1 * delta + Complex(re: e2, im: 0)
        guard numerator.squaredMagnitude > 0, denominator.squaredMagnitude > 0 else { return nil }
        let slope =
            (2 * b0 * delta + Complex(re: beta1, im: 0)) / numerator
            - (2 * delta + Complex(re: e1, im: 0)) / denominator
        // dδ/dω = i (1 + δ)
        return -(slope * Complex(re: 1 + delta.re, im: delta.im)).re
    }
}

extension FilterSpecification.Design {
    /// The poles of all sections in their order; those of adaptive parts are not among them (see ``held(motion:)``).
    public func poles(rate: Double) -> [FilterPole] {
        sections.flatMap { section in section.deltaPoles.map { FilterPole(delta: $0, rate: rate) } }
    }

    /// The response at a frequency from 0 to half of the rate, both in Hz.
    public func response(at frequency: Double, rate: Double) -> FilterResponse {
        var h = Complex(re: 1, im: 0)
        var delay: Double? = 0
        for section in sections {
            let one = section.response(at: frequency, rate: rate)
            h = h * Complex(re: one.re, im: one.im)
            let own = section.groupDelay(at: frequency, rate: rate)
            delay = delay.flatMap { sum in own.map { sum + $0 } }
        }
        return FilterResponse(
            frequency: frequency, gain: h.squaredMagnitude.squareRoot(),
            phase: h == Complex(re: 0, im: 0) ? 0 : atan2(h.im, h.re),
            groupDelay: delay.map { $0 / rate })
    }
}

/// One second-order section in the delta operator δ = z − 1:
/// H = (b₀δ² + β₁δ + β₂) / (δ² + e₁δ + e₂).
///
/// The usual form 1 + a₁z⁻¹ + a₂z⁻² has both poles near 1 when a corner lies far below the sample rate, and what makes
/// the filter, 1 + a₁ + a₂ ≈ (2πf/fs)², is then lost among rounded digits. In δ those small numbers are the
/// coefficients themselves (Middleton and Goodwin, Improved finite word length characteristics in digital control
/// using delta operators, IEEE Trans. Autom. Control 31, 1986), so that both the design and the running filter keep
/// all digits at any corner.
public struct Section: Sendable, Equatable {
    public var b0: Double
    public var beta1: Double
    public var beta2: Double
    public var e1: Double
    public var e2: Double

    public init(b0: Double, beta1: Double, beta2: Double, e1: Double, e2: Double) {
        (self.b0, self.beta1, self.beta2, self.e1, self.e2) = (b0, beta1, beta2, e1, e2)
    }

    /// Output equals input.
    public static let identity = Section(b0: 1, beta1: 0, beta2: 0, e1: 0, e2: 0)

    /// The same section as y[n] = b₀x[n] + b₁x[n−1] + b₂x[n−2] − a₁y[n−1] − a₂y[n−2].
    public var b1: Double { beta1 - 2 * b0 }
    public var b2: Double { b0 - beta1 + beta2 }
    public var a1: Double { e1 - 2 }
    public var a2: Double { 1 - e1 + e2 }

    /// Nepers per sample at which the slower pole decays.
    public var decayPerSample: Double {
        if e1 == 0, e2 == 0 { return .infinity }
        let discriminant = e1 * e1 - 4 * e2
        if discriminant < 0 { return -log1p(e2 - e1) / 2 }
        let slower = -2 * e2 / (e1 + discriminant.squareRoot())
        let faster = -(e1 + discriminant.squareRoot()) / 2
        return -log(max(abs(1 + slower), abs(1 + faster), Double.leastNormalMagnitude))
    }

    /// H(e^{iω}) at a frequency, both in Hz, as (real, imaginary).
    public func response(at frequency: Double, rate: Double) -> (re: Double, im: Double) {
        let delta = Self.delta(at: frequency, rate: rate)
        let square = delta * delta
        let numerator = b0 * square + beta1 * delta + Complex(re: beta2, im: 0)
        let denominator = square + e1 * delta + Complex(re: e2, im: 0)
        let h = numerator / denominator
        return (h.re, h.im)
    }

    /// e^{iω} − 1 at a frequency in Hz, without cancellation.
    static func delta(at frequency: Double, rate: Double) -> Complex {
        let w = 2 * Double.pi * frequency / rate
        let half = sin(w / 2)
        // π is not a Double: at half of the rate the sine would not be 0.
        return Complex(re: -2 * half * half, im: frequency == rate / 2 ? 0 : sin(w))
    }
}

/// The few operations on complex numbers that filter design needs.
struct Complex: Equatable {
    var re: Double
    var im: Double

    static func + (a: Complex, b: Complex) -> Complex { Complex(re: a.re + b.re, im: a.im + b.im) }
    static func - (a: Complex, b: Complex) -> Complex { Complex(re: a.re - b.re, im: a.im - b.im) }
    static func * (a: Complex, b: Complex) -> Complex {
        Complex(re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re)
    }
    static func * (a: Double, b: Complex) -> Complex { Complex(re: a * b.re, im: a * b.im) }
    static func / (a: Complex, b: Complex) -> Complex {
        let d = b.squaredMagnitude
        return Complex(re: (a.re * b.re + a.im * b.im) / d, im: (a.im * b.re - a.re * b.im) / d)
    }
    var squaredMagnitude: Double { re * re + im * im }
    var conjugate: Complex { Complex(re: re, im: -im) }

    /// Principal square root, without cancellation.
    var squareRoot: Complex {
        let magnitude = squaredMagnitude.squareRoot()
        guard magnitude > 0 else { return Complex(re: 0, im: 0) }
        let larger = ((magnitude + abs(re)) / 2).squareRoot()
        let smaller = im / (2 * larger)
        if re >= 0 { return Complex(re: larger, im: smaller) }
        return Complex(re: abs(smaller), im: im < 0 ? -larger : larger)
    }
}
