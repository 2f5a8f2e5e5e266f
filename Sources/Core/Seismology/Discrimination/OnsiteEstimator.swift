import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Estimate of the motion to come from the first seconds after an onset, SI units.
public struct OnsiteEstimate: Sendable, Equatable {
    /// Seconds after the onset: 1, 2, 3, 5 or 8.
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

    /// Zollo and others (2010): 3 near and large, 2 far and large, 1 near and small, 0; of the first 3 s, from then on, where
    /// Pd is valid.
    public var level: Int?
    /// How far the true PGV is from the published one, base-10 logarithms: 80 % and more are within.
    public var range: (low: Double, high: Double)

    /// The range of the true PGV around a published one.
    public func range(around pgv: Double) -> (low: Double, high: Double) {
        (pgv * powerOfTen(range.low), pgv * powerOfTen(range.high))
    }

    /// The rupture goes on: the first seconds do not know how large it becomes.
    public var isSaturated: Bool { pdIsValid && tauC >= Self.saturation }
    static let saturation = 2.0

    public static func == (a: OnsiteEstimate, b: OnsiteEstimate) -> Bool {
        a.time == b.time && a.pv == b.pv && a.pd == b.pd && a.tauC == b.tauC && a.iv2 == b.iv2
            && a.pvIsValid == b.pvIsValid && a.pdIsValid == b.pdIsValid && a.pgvByPv == b.pgvByPv
            && a.pgvByPd == b.pgvByPd && a.level == b.level && a.range == b.range
    }
}

/// The on-site estimate: Pd, τc and Pv of the vertical, from half a second before the onset to 1, 2, 3, 5 and 8 s after
/// it, and the peak ground velocity that they predict. (Pd: Wu and others, GJI 170, 2007, which is for 3 s; Pv: fitted on cheap
/// sensors, whose noise hides Pd.)
struct OnsiteEstimator: Sendable {
    /// After some seconds: log PGV = a log Pv + b (cm/s), and from the published log PGV to the true one. By
    /// deploy/benchmarks/discrimination/onsite.
    private static let laws = [
        (time: 1, a: 1.254, b: 1.325, low: -0.75, high: 0.75),
        (time: 2, a: 1.203, b: 1.165, low: -0.76, high: 0.61),
        (time: 3, a: 1.026, b: 0.887, low: -0.89, high: 0.79),
        (time: 5, a: 0.996, b: 0.569, low: -0.77, high: 0.43),
        (time: 8, a: 1.033, b: 0.470, low: -0.62, high: 0.42),
    ]
    /// The range of all times where the estimate is saturated.
    private static let saturated = (low: -0.74, high: 1.89)

    private let rate: Double
    /// Sample of the onset; nil: nothing to estimate.
    private var onset: Int?
    /// Place of the next estimate among the laws, and the sample that completes it.
    private var next = 0
    private var end = 0
    private var level: Int?
    /// Largest of |vz|, |uz| of the noise and of the window; sums of squares of displacement and velocity.
    private(set) var noise = (pv: 0.0, pd: 0.0)
    private var peak = (pv: 0.0, pd: 0.0)
    private var sums = (u: 0.0, v: 0.0)

    /// - Parameter rate: samples per second.
    init(rate: Double) { self.rate = rate }

    private func samples(_ seconds: Double) -> Int { Int((seconds * rate).rounded(.toNearestOrEven)) }

    /// Forgets the event.
    mutating func reset() { onset = nil }

    /// An event begins with sample `i`.
    mutating func begin(_ motion: RapidMotion, at i: Int) {
        (onset, next, end, level) = (i, 0, i + samples(Double(Self.laws[0].time)), nil)
        (noise, peak, sums) = ((0, 0), (0, 0), (0, 0))
        for k in max(0, i - samples(RapidMotion.past))..<max(1, i - samples(2)) { Self.take(motion[k], &noise) }
        for k in max(0, i - samples(0.5))..<i { add(motion[k]) }
    }

    /// Takes sample `i` of an event.
    /// - Returns: the estimate that it completes.
    mutating func step(_ motion: RapidMotion, at i: Int) -> OnsiteEstimate? {
        guard let onset else { return nil }
        add(motion[i])
        guard i == end else { return nil }
        let estimate = estimate()
        next += 1
        if next < Self.laws.count {
            end = onset + samples(Double(Self.laws[next].time))
        } else {
            self.onset = nil
        }
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

    private mutating func estimate() -> OnsiteEstimate {
        /// 10^(a log₁₀ x + b), cm and cm/s, of and in SI units.
        func predicted(_ x: Double, _ a: Double, _ b: Double) -> Double {
            powerOfTen(a * decimalLogarithm(max(x, 1e-30) * 100) + b - 2)
        }
        let law = Self.laws[next]
        var estimate = OnsiteEstimate(
            time: law.time, pv: peak.pv, pd: peak.pd,
            tauC: 2 * Double.pi * (sums.u / max(sums.v, .leastNormalMagnitude)).squareRoot(), iv2: sums.v / rate,
            pvIsValid: peak.pv > 2 * noise.pv, pdIsValid: peak.pd > 3 * noise.pd,
            pgvByPv: predicted(peak.pv, law.a, law.b), pgvByPd: predicted(peak.pd, 0.903, 1.609), level: level,
            range: (law.low, law.high))
        if law.time == 3, estimate.pdIsValid {
            level = (estimate.tauC >= 0.6 ? 2 : 0) + (estimate.pd >= 0.002 ? 1 : 0)
            estimate.level = level
        }
        if estimate.isSaturated { estimate.range = Self.saturated }
        return estimate
    }
}

private func powerOfTen(_ x: Double) -> Double { exp(x * 2.302585092994046) }
