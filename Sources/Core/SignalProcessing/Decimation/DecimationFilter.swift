#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Kind of low pass before the samples that are left out.
public enum DecimationPhase: String, Sendable, CaseIterable {
    /// Symmetric FIR: every frequency has the same delay, a whole number of samples.
    case linear = "linear-phase"
    /// Elliptic IIR of order 10: a small part of the delay, which grows towards the end of the pass band.
    case recursive = "iir"
}

/// The low pass for a decimation by an integer factor: pass band to 0.8 of the new Nyquist frequency within 0.1 dB, stop
/// band from the new Nyquist frequency at −80 dB.
///
/// A linear-phase filter is divided into stages where that costs less (Crochiere and Rabiner, Optimum FIR digital
/// filter implementations for decimation, interpolation, and narrow-band filtering, IEEE Trans. Acoust. 23, 1975). A
/// stage but the last may let through what the next ones take away: its stop band holds only what would fold into the
/// final band. Of all products of integers that give the factor, the cheapest is taken.
public struct DecimationFilter: Sendable, Equatable {
    public let factor: Int
    /// Stages of a linear-phase filter, from the highest rate to the lowest; none for the factor 1.
    public let stages: [DecimationStage]
    /// Sections of a recursive filter.
    public let sections: [Section]
    /// The delay is `delay + fraction` input samples: of all frequencies where the filter has linear phase (then
    /// `fraction` is 0), of low ones where it is recursive (then `fraction` is −0.5 to 0.5).
    public let delay: Int
    public let fraction: Double

    /// - Parameter factor: input samples per output sample, at least 1; 1 passes everything unchanged.
    public init(factor: Int, phase: DecimationPhase = .linear) {
        let q = max(1, factor)
        self.factor = q
        guard q > 1, phase == .linear else {
            stages = []
            sections = q > 1 ? ellipticLowpass(pass: 0.4 / Double(q), stop: 0.5 / Double(q)) : []
            let exact = lowFrequencyDelay(sections)
            delay = Int(exact.rounded())
            fraction = exact - exact.rounded()
            return
        }
        sections = []
        var stages: [DecimationStage] = []
        var delay = 0
        var reached = 1
        for q in Self.cheapest(q) {
            let (pass, stop) = Self.edges(q, after: reached, total: self.factor)
            let stage = DecimationStage(factor: q, pass: pass, stop: stop)
            stages.append(stage)
            delay += stage.halfLength * reached
            reached *= q
        }
        self.stages = stages
        self.delay = delay
        fraction = 0
    }

    /// A filter of one given stage.
    init(stage: DecimationStage) {
        (factor, stages, sections, delay, fraction) = (stage.factor, [stage], [], stage.halfLength, 0)
    }

    /// Multiplications per input sample and signal, and what fetching and storing an output is worth in them.
    var cost: Double {
        var reached = 1
        var sum = Double(5 * sections.count)
        for stage in stages {
            reached *= stage.factor
            sum += (Double(stage.halfLength) + Self.overhead) / Double(reached)
        }
        return sum
    }

    private static let overhead = 8.0

    /// The band edges of a stage, in cycles per sample at its input, where the rate has been divided by `reached`.
    private static func edges(_ q: Int, after reached: Int, total: Int) -> (pass: Double, stop: Double) {
        let nyquist = 0.5 * Double(reached) / Double(total)
        return (0.8 * nyquist, 1 / Double(q) - nyquist)
    }

    /// The factors of `total`, in order, that cost the least.
    private static func cheapest(_ total: Int) -> [Int] {
        // For each divisor, as what is left to divide by: the factor to begin with, and the cost from there on.
        var left: [(rest: Int, first: Int, cost: Double)] = [(1, 1, 0)]
        for rest in 2...total where total % rest == 0 {
            var best = (rest: rest, first: rest, cost: Double.infinity)
            for following in left where rest % following.rest == 0 {
                let q = rest / following.rest
                let (pass, stop) = edges(q, after: total / rest, total: total)
                let taps = Double(DecimationStage.halfLength(pass: pass, stop: stop))
                let cost = (taps + overhead) / Double(total / following.rest) + following.cost
                if cost < best.cost { best = (rest, q, cost) }
            }
            left.append(best)
        }
        var factors: [Int] = []
        var rest = total
        for step in left.reversed() where step.rest == rest && rest > 1 {
            factors.append(step.first)
            rest /= step.first
        }
        return factors
    }
}

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
