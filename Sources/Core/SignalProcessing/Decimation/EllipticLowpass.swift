#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An elliptic low pass of order 10, stop band at −80.5 dB, steady gain 1, ripple below 0.1 dB where `pass` is at most
/// 0.8 of `stop` (Cauer 1958; by Landen's transformation: Orfanidis, Lecture notes on elliptic filter design, 2006).
/// - Parameters:
///   - pass: end of the pass band, cycles per sample.
///   - stop: begin of the stop band, cycles per sample, below half.
func ellipticLowpass(pass: Double, stop: Double) -> [Section] {
    let pairs = 5
    let order = Double(2 * pairs)
    let (passWarped, stopWarped) = (warped(pass), warped(stop))
    let k = passWarped / stopWarped
    let moduli = landen(k)
    // What ripple the order allows with this stop band: the degree equation gives k₁, in complementary form.
    var discrimination = 1.0
    for i in 1...pairs {
        let sn = ascend(Complex(re: sin(Double(2 * i - 1) / order * Double.pi / 2), im: 0), moduli).re
        discrimination *= sn * sn
    }
    discrimination = pow(k, order) * discrimination * discrimination
    let ripple = discrimination * pow(10, 80.5 / 20)
    // The place of the poles: the inverse function of i/ripple at the modulus k₁, on the imaginary axis.
    var y = 1 / ripple
    var before = discrimination
    for v in landen(discrimination) {
        y = 2 * y / ((1 + v) * (1 + (1 + y * y * before * before).squareRoot()))
        before = v
    }
    let shift = asinh(y) / order
    var sections: [Section] = []
    for i in 1...pairs {
        let angle = Double(2 * i - 1) / order * Double.pi / 2
        let zero = stopWarped / ascend(Complex(re: cos(angle), im: 0), moduli).re
        let cd = ascend(Complex(re: cos(angle) * cosh(shift), im: sin(angle) * sinh(shift)), moduli)
        // i times cd, scaled to the pass band; its conjugate belongs to it.
        let pole = Complex(re: -abs(passWarped * cd.im), im: passWarped * cd.re)
        let (product, sum) = (pole.squaredMagnitude, 2 * pole.re)
        let scale = 1 / (1 - sum + product)
        let (e1, e2) = ((4 * product - 2 * sum) * scale, 4 * product * scale)
        // (s² + zero²) with a steady gain of 1.
        let c = e2 / 4
        sections.append(Section(b0: c + c / (zero * zero), beta1: 4 * c, beta2: 4 * c, e1: e1, e2: e2))
    }
    return sections.sorted { $0.decayPerSample > $1.decayPerSample }
}

/// The delay of low frequencies in samples, of sections in series: −dφ/dω at 0.
func lowFrequencyDelay(_ sections: [Section]) -> Double {
    // H = B(δ)/A(δ) with δ = z − 1 and dδ/dω = i at ω = 0, so that φ' = B'(0)/B(0) − A'(0)/A(0).
    sections.reduce(0) { $0 + $1.e1 / $1.e2 - $1.beta1 / $1.beta2 }
}

/// The bilinear transform's frequency for one in cycles per sample, s = (1 − z⁻¹)/(1 + z⁻¹).
private func warped(_ frequency: Double) -> Double { tan(Double.pi * frequency) }

/// Landen's descending moduli, until nothing is left.
private func landen(_ k: Double) -> [Double] {
    var moduli: [Double] = []
    var k = k
    while k > 1e-16 {
        let root = k / (1 + (1 - k * k).squareRoot())
        k = root * root
        moduli.append(k)
    }
    return moduli
}

/// From a circular function (sine or cosine) to the elliptic one (sn or cd) of the same part of the period.
private func ascend(_ w: Complex, _ moduli: [Double]) -> Complex {
    var w = w
    for v in moduli.reversed() { w = (1 + v) * w / (Complex(re: 1, im: 0) + v * (w * w)) }
    return w
}
