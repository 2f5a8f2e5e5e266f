/// How the sensor's offset and gravity are taken away.
public enum OffsetSpecification: Sendable, Equatable {
    case none
    /// Minus the mean of the first `seconds`; the samples of that time are held back until it is known.
    case meanFirst(seconds: Double)
    /// Exponential average g₀ = x₀, gₙ = k xₙ + (1−k) gₙ₋₁; the output is x − g.
    case ema(EMACoefficient)
    /// Butterworth high pass started in steady state for the first sample.
    case highpass(corner: Double, order: Int)

    public enum EMACoefficient: Sendable, Equatable {
        /// k itself, above 0 and at most 1; 0.1 is the classic 10 %/90 % split.
        case alpha(Double)
        /// k = dt / (dt + 1/(2π fc)), fc in Hz.
        case corner(Double)
    }

    /// The same removal for another rate.
    /// - Parameter rate: samples per second that it is meant for.
    public func independent(of rate: Double) -> OffsetSpecification {
        guard case .ema(.alpha(let k)) = self else { return self }
        return k < 1 ? .ema(.corner(k / (1 - k) * rate / (2 * Double.pi))) : .none
    }
}
