import Glibc

/// The ground motion of one earthquake, computed before it is played.
///
/// White noise under an envelope, shaped by a source spectrum, after the stochastic method (Boore 2003, "Simulation of
/// ground motion using the stochastic method"): the envelope is Saragoni and Hart's (1974), the spectrum that of Brune's
/// ω² model (1970) below an upper limit. P first and mostly vertical and of higher frequency, then S mostly horizontal,
/// then a coda that dies away.
struct Quake: Sendable {
    /// Samples of x, y and z in m/s²; gravity is not in them.
    private(set) var x: [Double]
    private(set) var y: [Double]
    private(set) var z: [Double]

    /// Wave speeds of the crust in km/s.
    static let speedP = 6.0
    static let speedS = 3.5
    /// Seconds from the P wave to the end.
    static let duration = 70.0
    /// Corner frequencies in Hz: a moderate earthquake (about Mw 5) has 1.1 Hz for S.
    private static let cornerS = 1.1
    private static let cornerP = 1.7

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - peak: largest horizontal acceleration in m/s².
    ///   - distance: km.
    init(rate: Double, peak: Double, distance: Double, seed: UInt64) {
        let count = Int((Self.duration * rate).rounded())
        let delay = distance * (1 / Self.speedS - 1 / Self.speedP)
        // Duration of the strong part: that of the source and of the path.
        let strongS = 1 / Self.cornerS + 0.05 * distance
        let strongP = 0.6 * strongS
        var noise = SeededNoise(seed: seed ^ 0x5155_414B_4500_0000)

        /// One wave: noise, envelope, spectrum, scaled to a largest value of 1.
        func wave(from start: Double, strong: Double, corner: Double, upper: Double, coda: Double) -> [Double] {
            let envelope = Envelope(strong: strong)
            var filter = BruneFilter(corner: corner, upper: min(upper, 0.4 * rate), rate: rate)
            var values = [Double](repeating: 0, count: count)
            for index in 0..<count {
                let time = Double(index) / rate - start
                let gaussian = noise.gaussian()
                guard time > 0 else { continue }
                let tail = coda * exp(-time / 12) * min(1, time / strong)
                values[index] = filter.process(gaussian * (envelope.value(time) + tail))
            }
            let largest = values.reduce(0) { max($0, abs($1)) }
            return largest > 0 ? values.map { $0 / largest } : values
        }

        let pUp = wave(from: 0, strong: strongP, corner: Self.cornerP, upper: 15, coda: 0)
        let pSide = wave(from: 0, strong: strongP, corner: Self.cornerP, upper: 12, coda: 0)
        let sX = wave(from: delay, strong: strongS, corner: Self.cornerS, upper: 8, coda: 0.1)
        let sY = wave(from: delay, strong: strongS, corner: Self.cornerS, upper: 8, coda: 0.1)
        let sZ = wave(from: delay, strong: strongS, corner: Self.cornerS, upper: 10, coda: 0.1)
        x = (0..<count).map { sX[$0] + 0.08 * pSide[$0] }
        y = (0..<count).map { 0.8 * sY[$0] + 0.06 * pSide[$0] }
        z = (0..<count).map { 0.45 * sZ[$0] + 0.25 * pUp[$0] }
        let largest = max(x.reduce(0) { max($0, abs($1)) }, y.reduce(0) { max($0, abs($1)) })
        let factor = largest > 0 ? peak / largest : 0
        for index in 0..<count {
            x[index] *= factor
            y[index] *= factor
            z[index] *= factor
        }
    }

    /// Saragoni and Hart's window: w(t) = a (t/T)^b exp(−c t/T), largest (1) at a fifth of T, 5 % of it at T.
    private struct Envelope {
        private let b: Double
        private let c: Double
        private let a: Double
        private let length: Double

        init(strong: Double) {
            let (epsilon, eta) = (0.2, 0.05)
            b = -epsilon * log(eta) / (1 + epsilon * (log(epsilon) - 1))
            c = b / epsilon
            a = pow(exp(1) / epsilon, b)
            length = 2 * strong
        }

        func value(_ time: Double) -> Double {
            let part = time / length
            return a * pow(part, b) * exp(-c * part)
        }
    }

    /// Amplitude f² / (f² + fc²), which is Brune's acceleration spectrum, and two poles at an upper limit.
    private struct BruneFilter {
        private let high: Double
        private let low: Double
        private var states = (0.0, 0.0, 0.0, 0.0)

        init(corner: Double, upper: Double, rate: Double) {
            high = 1 - exp(-2 * .pi * corner / rate)
            low = 1 - exp(-2 * .pi * upper / rate)
        }

        mutating func process(_ input: Double) -> Double {
            states.0 += high * (input - states.0)
            let first = input - states.0
            states.1 += high * (first - states.1)
            let second = first - states.1
            states.2 += low * (second - states.2)
            states.3 += low * (states.2 - states.3)
            return states.3
        }
    }
}
