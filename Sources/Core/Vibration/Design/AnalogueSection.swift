import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One analogue transfer function of at most second order, as standards for vibration give them:
/// H(s) = (n₂ s² + n₁ s + n₀) / (s² + s ω/Q + ω²), and what of it a digital filter keeps.
struct AnalogueSection: Sendable {
    var n2: Double
    var n1: Double
    var n0: Double
    /// Natural frequency of the poles, Hz.
    var frequency: Double
    var quality: Double

    /// High pass of second order, gain 1 above its corner.
    static func highpass(_ corner: Double, quality: Double) -> Self {
        Self(n2: 1, n1: 0, n0: 0, frequency: corner, quality: quality)
    }

    /// Low pass of second order, gain 1 below its corner.
    static func lowpass(_ corner: Double, quality: Double) -> Self {
        let w = 2 * Double.pi * corner
        return Self(n2: 0, n1: 0, n0: w * w, frequency: corner, quality: quality)
    }

    /// |H|² at a frequency in Hz.
    func power(at f: Double) -> Double {
        let (w, p) = (2 * Double.pi * f, 2 * Double.pi * frequency)
        let (nr, ni) = (n0 - n2 * w * w, n1 * w)
        let (dr, di) = (p * p - w * w, w * p / quality)
        return (nr * nr + ni * ni) / (dr * dr + di * di)
    }

    /// By the bilinear transform, exact at the frequency of the poles. For sections whose gain no longer changes where
    /// the transform bends the frequencies: high passes, and steps far below the rate.
    /// - Parameter rate: samples per second, more than twice the frequency of the poles.
    func bilinear(rate: Double) -> Section {
        let w = 2 * Double.pi * frequency
        let k = w / tan(w / (2 * rate))
        let scale = 1 / (k * k + w / quality * k + w * w)
        return Section(
            b0: (n2 * k * k + n1 * k + n0) * scale, beta1: (2 * n1 * k + 4 * n0) * scale, beta2: 4 * n0 * scale,
            e1: (2 * w / quality * k + 4 * w * w) * scale, e2: 4 * w * w * scale)
    }

    /// With the analogue poles (z = exp(sT)) and the analogue gain at 0, at the poles' frequency (or 0.16 of the rate,
    /// where that is lower) and at 0.32 of the rate (Vicanek, Matched second order digital filters, 2016). The corner may
    /// lie above half of the rate.
    ///
    /// The bilinear transform would be wrong by more than the standards allow: it moves what belongs at 0.3 of the rate
    /// up by 46 %, so that a weighting that falls there is too low by a third. For low passes and lags with a gain at 0.
    func matched(rate: Double) -> Section {
        // z − 1 of a pole exp(−α ± iβ), without cancellation.
        let w = 2 * Double.pi * frequency / rate
        let alpha = w / (2 * quality)
        let beta = max(0, w * w - alpha * alpha).squareRoot()
        let (half, decay) = (sin(beta / 2), exp(-alpha))
        let re = -expm1(-alpha) + 2 * decay * half * half
        let im = decay * sin(beta)
        let (e1, e2) = (2 * re, re * re + im * im)
        let b0Square = power(at: 0) * e2 * e2
        func rest(at f: Double) -> (value: Double, cosine: Double) {
            let denominator = Section(b0: 1, beta1: 0, beta2: 0, e1: e1, e2: e2).inverseSquare(at: f, rate: rate)
            let s = sin(Double.pi * f / rate)
            let (sine, cosine) = (s * s, 1 - s * s)
            return ((power(at: f) * denominator - b0Square * cosine) / sine, cosine)
        }
        let (near, far) = (rest(at: min(frequency, 0.16 * rate)), rest(at: 0.32 * rate))
        let b2Square = (near.value - far.value) / (4 * (near.cosine - far.cosine))
        let b1Square = max(0, near.value - 4 * b2Square * near.cosine)
        let mean = (b0Square.squareRoot() + b1Square.squareRoot()) / 2
        let root = max(0, mean * mean + b2Square).squareRoot()
        return Section(
            b0: (mean + root) / 2, beta1: b0Square.squareRoot() + root, beta2: b0Square.squareRoot(), e1: e1, e2: e2)
    }
}

extension Section {
    /// |δ² + e₁δ + e₂|² at a frequency in Hz: of a section that is 1 over it (times δ²).
    fileprivate func inverseSquare(at frequency: Double, rate: Double) -> Double {
        let w = 2 * Double.pi * frequency / rate
        let half = sin(w / 2)
        let (re, im) = (-2 * half * half, sin(w))
        let (sr, si) = (re * re - im * im, 2 * re * im)
        let (dr, di) = (sr + e1 * re + e2, si + e1 * im)
        return dr * dr + di * di
    }
}
