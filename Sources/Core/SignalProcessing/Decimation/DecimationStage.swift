#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One linear-phase low pass and the factor by which the rate falls after it.
///
/// A windowed sinc with Kaiser's window (Kaiser and Schafer, On the use of the I₀-sinh window for spectrum analysis,
/// IEEE Trans. Acoust. 28, 1980); ripple of 0.001 dB in the pass band, stop band below −81 dB.
public struct DecimationStage: Sendable, Equatable {
    public let factor: Int
    /// The delay in the stage's own input samples; there are 2 × halfLength + 1 coefficients.
    public let halfLength: Int
    /// The centre coefficient and those to one side of it; the other side is the same.
    public let coefficients: [Double]

    private static let attenuation = 84.0

    /// - Parameters:
    ///   - factor: input samples per output sample, at least 2.
    ///   - pass: end of the pass band, cycles per input sample.
    ///   - stop: begin of the stop band, cycles per input sample, above `pass`.
    init(factor: Int, pass: Double, stop: Double) {
        self.factor = factor
        let half = Self.halfLength(pass: pass, stop: stop)
        halfLength = half
        let beta = 0.1102 * (Self.attenuation - 8.7)
        let cutoff = Double.pi * (pass + stop)
        var taps = [Double](repeating: 0, count: half + 1)
        for n in 0...half {
            let x = Double(n)
            let sinc = n == 0 ? cutoff / Double.pi : sin(cutoff * x) / (Double.pi * x)
            let position = x / Double(half + 1)
            taps[n] = sinc * bessel0(beta * (1 - position * position).squareRoot())
        }
        var sum = taps[0]
        for n in 1...half { sum += 2 * taps[n] }
        for n in taps.indices { taps[n] /= sum }
        coefficients = taps
    }

    /// A stage of given coefficients: the centre one and those to one side of it.
    init(factor: Int, coefficients: [Double]) {
        (self.factor, self.coefficients, halfLength) = (factor, coefficients, coefficients.count - 1)
    }

    /// Kaiser's rule for the length, with one coefficient to spare at each end for short filters.
    static func halfLength(pass: Double, stop: Double) -> Int {
        let length = Int(((attenuation - 7.95) / (2.285 * 2 * Double.pi * (stop - pass))).rounded(.up))
        return length / 2 + 1
    }

    /// Gain at a frequency in cycles per input sample; real, since the filter is symmetric about its centre.
    func gain(at frequency: Double) -> Double {
        var sum = coefficients[0]
        for n in 1..<coefficients.count {
            sum += 2 * coefficients[n] * cos(2 * Double.pi * frequency * Double(n))
        }
        return sum
    }
}
