import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What the first seconds after an onset say of the motion to come, SI units.
public struct OnsiteEstimate: Sendable, Equatable {
    /// Seconds after the onset: 1, 2 or 3.
    public var time: Int
    /// Largest vertical velocity (from 0.4 Hz) and displacement (from 0.075 Hz).
    public var pv: Double
    public var pd: Double
    public var tauC: Double
    /// ∫v² dt, m²/s.
    public var iv2: Double
    /// Whether they stand out of the noise.
    public var pvIsValid: Bool
    public var pdIsValid: Bool
    /// Predicted peak velocity by Pv, and by Pd.
    public var pgvByPv: Double
    public var pgvByPd: Double

    /// The prediction that counts; nil where nothing stands out of the noise.
    public var pgv: Double? { pvIsValid ? pgvByPv : pdIsValid ? pgvByPd : nil }

    /// Zollo and others (2010): 3 near and large, 2 far and large, 1 near and small, 0; after 3 s, where Pd is valid.
    public var level: Int? {
        guard time == 3, pdIsValid else { return nil }
        return (tauC >= 0.6 ? 2 : 0) + (pd >= 0.002 ? 1 : 0)
    }

    /// Of the published PGV, as a base-10 logarithm.
    public static let range = 0.6
}

/// The on-site estimate: Pd, τc and Pv of the vertical, from half a second before the onset to 1, 2 and 3 s after it, and
/// the peak ground velocity that they predict. (Pd: Wu and others, GJI 170, 2007, which is for 3 s; Pv: fitted on cheap
/// sensors, whose noise hides Pd.)
public struct OnsiteEstimator: Sendable {
    /// log PGV = a log Pv + b (cm/s) after 1, 2 and 3 s.
    private static let velocity = [(a: 1.364, b: 1.450), (a: 1.166, b: 1.160), (a: 0.900, b: 0.748)]

    private let rate: Double
    /// Sample of the onset; nil: nothing to estimate.
    private var onset: Int?
    /// Seconds of the next estimate, and the sample that completes it.
    private var time = 1
    private var end = 0
    /// Largest of |vz|, |uz| of the noise and of the window; sums of squares of displacement and velocity.
    private(set) var noise = (pv: 0.0, pd: 0.0)
    private var peak = (pv: 0.0, pd: 0.0)
    private var sums = (u: 0.0, v: 0.0)

    /// - Parameter rate: samples per second.
    public init(rate: Double) { self.rate = rate }

    private func samples(_ seconds: Double) -> Int { Int((seconds * rate).rounded(.toNearestOrEven)) }

    /// Forgets the event.
    public mutating func reset() { onset = nil }

    /// An event begins with sample `i`.
    public mutating func begin(_ motion: RapidMotion, at i: Int) {
        (onset, time, end) = (i, 1, i + samples(1))
        (noise, peak, sums) = ((0, 0), (0, 0), (0, 0))
        for k in max(0, i - samples(RapidMotion.past))..<max(1, i - samples(2)) { Self.take(motion[k], &noise) }
        for k in max(0, i - samples(0.5))..<i { add(motion[k]) }
    }

    /// Takes sample `i` of an event.
    /// - Returns: the estimate that it completes.
    public mutating func step(_ motion: RapidMotion, at i: Int) -> OnsiteEstimate? {
        guard let onset else { return nil }
        add(motion[i])
        guard i == end else { return nil }
        let estimate = estimate()
        time += 1
        end = onset + samples(Double(time))
        if time > 3 { self.onset = nil }
        return estimate
    }

    private static func take(_ sample: SIMD4<Double>, _ peak: inout (pv: Double, pd: Double)) {
        (peak.pv, peak.pd) = (max(peak.pv, abs(sample.y)), max(peak.pd, abs(sample.w)))
    }

    private mutating func add(_ sample: SIMD4<Double>) {
        Self.take(sample, &peak)
        sums.u += sample.w * sample.w
        sums.v += sample.z * sample.z
    }

    private func estimate() -> OnsiteEstimate {
        /// 10^(a log₁₀ x + b), cm and cm/s, of and in SI units.
        func predicted(_ x: Double, _ a: Double, _ b: Double) -> Double {
            exp((a * decimalLogarithm(max(x, 1e-30) * 100) + b - 2) * 2.302585092994046)
        }
        let model = Self.velocity[time - 1]
        return OnsiteEstimate(
            time: time, pv: peak.pv, pd: peak.pd,
            tauC: 2 * Double.pi * (sums.u / max(sums.v, .leastNormalMagnitude)).squareRoot(), iv2: sums.v / rate,
            pvIsValid: peak.pv > 2 * noise.pv, pdIsValid: peak.pd > 3 * noise.pd,
            pgvByPv: predicted(peak.pv, model.a, model.b), pgvByPd: predicted(peak.pd, 0.903, 1.609))
    }
}
