/// The curves over frequency of all tables of one measure, beside each other, so that one half cycle is held against all of them at
/// once. Curves that are the multiple of another one are decided by the same half cycle, and stand here once; limits that are
/// one value at any frequency are decided by the largest peak, and are not here.
struct LimitCurves: Sendable {
    /// As many as there is room for.
    static let most = 8
    static let ppv = LimitCurves(.ppv)
    static let pvs = LimitCurves(.pvs)

    /// Ends of the stretches of frequency, Hz, rising; the last stretch has none.
    private let ends: [Double]
    /// Each stretch has limit = base + slope × frequency. Infinite where there is no curve.
    private let base: [SIMD8<Double>]
    private let slope: [SIMD8<Double>]
    let strictest: SIMD8<Double>
    /// At the frequency at which each is lowest, and at that above ``fast`` Hz.
    let least: SIMD8<Double>
    let leastFast: SIMD8<Double>
    static let fast = 4.0

    private init(_ measure: LimitTable.Measure) {
        let curves = Array(Self.distinct(measure).prefix(Self.most))
        let ends = Set(curves.flatMap(\.breaks)).sorted()
        var (base, slope) = ([SIMD8<Double>](), [SIMD8<Double>]())
        for k in 0...ends.count {
            let from = k == 0 ? 0 : ends[k - 1]
            let to = k == ends.count ? 3 * from + 3 : ends[k]
            let (a, b) = (from + (to - from) / 3, from + 2 * (to - from) / 3)
            var (bases, slopes) = (SIMD8<Double>(repeating: .infinity), SIMD8<Double>.zero)
            for (lane, curve) in curves.enumerated() {
                let (low, high) = (curve.value(at: a), curve.value(at: b))
                slopes[lane] = (high - low) / (b - a)
                bases[lane] = low - slopes[lane] * a
            }
            base.append(bases)
            slope.append(slopes)
        }
        (self.ends, self.base, self.slope) = (ends, base, slope)
        var strictest = SIMD8<Double>(repeating: .infinity)
        for (lane, curve) in curves.enumerated() { strictest[lane] = curve.strictest }
        self.strictest = strictest
        least = pointwiseMin(strictest, base[0])
        // (Straight between the ends, at which they may jump, and no lower beyond the last one.)
        var leastFast = SIMD8<Double>(repeating: .infinity)
        for k in 0...ends.count where k == ends.count || ends[k] > Self.fast {
            let from = max(Self.fast, k == 0 ? 0 : ends[k - 1])
            for frequency in [from, k == ends.count ? from : ends[k]] {
                leastFast = pointwiseMin(leastFast, base[k] + slope[k] * frequency)
            }
        }
        self.leastFast = leastFast
    }

    /// The curves of a measure that are no multiple of each other.
    static func distinct(_ measure: LimitTable.Measure) -> [LimitCurve] {
        var all: [LimitCurve] = []
        for table in LimitTable.all where table.measure == measure {
            for row in table.rows where !row.curve.parts.isEmpty {
                let isKnown = all.contains { $0.times(row.curve.strictest / $0.strictest) == row.curve }
                if !isKnown { all.append(row.curve) }
            }
        }
        return all
    }

    /// The limit of each at a frequency in Hz.
    func limits(at frequency: Double) -> SIMD8<Double> {
        var k = 0
        while k < ends.count, frequency > ends[k] { k += 1 }
        return base[k] + slope[k] * frequency
    }
}
