#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Coefficients of a linear-phase low pass for decimation by an integer factor.
///
/// A windowed sinc with Kaiser's window (Kaiser and Schafer, On the use of the I₀-sinh window for spectrum analysis,
/// IEEE Trans. Acoust. 28, 1980): pass band to 0.8 of the new Nyquist frequency within 0.1 dB, stop band from the new
/// Nyquist frequency at −80 dB. The delay is `halfLength` samples exactly.
public struct DecimationFilter: Sendable, Equatable {
    public let factor: Int
    /// The delay in input samples; there are 2 × halfLength + 1 coefficients.
    public let halfLength: Int
    /// The centre coefficient and those to one side of it; the other side is the same.
    public let coefficients: [Double]

    /// - Parameter factor: input samples per output sample, at least 1; 1 passes everything unchanged.
    public init(factor: Int) {
        let q = max(1, factor)
        self.factor = q
        guard q > 1 else {
            halfLength = 0
            coefficients = [1]
            return
        }
        let attenuation = 84.0
        // Transition from 0.8 to 1.0 of the new Nyquist frequency, in radians per input sample.
        let transition = 0.2 * Double.pi / Double(q)
        let length = Int(((attenuation - 7.95) / (2.285 * transition)).rounded(.up))
        let half = (length + 1) / 2
        halfLength = half
        let beta = 0.1102 * (attenuation - 8.7)
        let cutoff = 0.9 * Double.pi / Double(q)
        var taps = [Double](repeating: 0, count: half + 1)
        for n in 0...half {
            let x = Double(n)
            let sinc = n == 0 ? cutoff / Double.pi : sin(cutoff * x) / (Double.pi * x)
            let position = x / Double(half + 1)
            taps[n] = sinc * bessel0(beta * (1 - position * position).squareRoot())
        }
        var sum = taps[0]
        for n in 1...half { sum += 2 * taps[n] }
        coefficients = taps.map { $0 / sum }
    }
}

/// Modified Bessel function I₀ by its power series.
private func bessel0(_ x: Double) -> Double {
    let y = x * x / 4
    var term = 1.0
    var sum = 1.0
    var k = 1.0
    while term > sum * 1e-17 {
        term *= y / (k * k)
        sum += term
        k += 1
    }
    return sum
}
