#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

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
