#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The modes of averaged cross spectra by subspace identification, band by band, with a stabilisation diagram: a mode is what models
/// of five orders or more agree on in frequency, damping and shape, and what stands out of the spectrum as such a mode must.
///
/// Each band is shifted down to 0 Hz, so that few correlations span many periods, and the Hann window's own correlation is
/// divided out. Neighbouring bands overlap; only their inner parts count.
struct ModeSearch {
    /// A mode has a damping between these: below, it cannot be told from a machine's line; above, not from coloured noise.
    static let dampings = 0.0025...0.08
    /// Orders that must agree.
    private static let leastOrders = 5
    /// A mode stands out by so many times the spectrum's own uncertainty. Of noise alone nothing does by 4.
    private static let leastSignificance = 8.0
    /// Hz.
    private static let lowest = 0.2

    private struct Candidate {
        var frequency: Double
        var damping: Double
        var shape: CrossSpectra.Vector
        var order: Int
    }

    private struct Found {
        var mode: Candidate
        var orders: Int
    }

    private let spectra: CrossSpectra
    /// Hz of a line.
    private let step: Double
    private let lines: Int

    init(_ spectra: CrossSpectra, step: Double) {
        (self.spectra, self.step, lines) = (spectra, step, spectra.sum.count)
    }

    /// From the lowest on.
    func modes() -> [(frequency: Double, damping: Double, shape: CrossSpectra.Vector)] {
        var found: [Found] = []
        let top = Double(lines - 1) * step
        var centre = 0.7
        while true {
            let width = min(max(1, 0.8 * centre), top)
            let low = max(0, min(max(4 * step, centre - width / 2), top - width))
            found += modes(from: Int((low / step).rounded()), to: min(lines - 1, Int(((low + width) / step).rounded())))
            if low + width >= top { break }
            centre += 0.4 * width
        }
        // A mode of two bands is one, as are two of one shape within 2 % or twice their damping.
        var kept: [Candidate] = []
        for place in ascending(found.map { -Double($0.orders) }) {
            let one = found[place]
            let isKnown = kept.contains {
                let apart = max(0.02, min(0.06, 2 * max($0.damping, one.mode.damping)))
                return abs($0.frequency / one.mode.frequency - 1) < apart
                    && Self.likeness($0.shape, one.mode.shape) > 0.8
            }
            if !isKnown { kept.append(one.mode) }
        }
        return ascending(kept.map(\.frequency)).compactMap { place in
            let one = kept[place]
            return standsOut(one) ? (one.frequency, one.damping, one.shape) : nil
        }
    }

    private static func likeness(_ a: CrossSpectra.Vector, _ b: CrossSpectra.Vector) -> Double {
        let (re, im) = a.product(b)
        return (re * re + im * im) / max(a.power * b.power, 1e-300)
    }

    // MARK: A band

    private func modes(from first: Int, to last: Int) -> [Found] {
        guard last - first >= 2 * SubspaceIdentification.most / 3 else { return [] }
        let (begin, width) = (Double(first) * step, Double(last - first) * step)
        let interval = 1 / (2 * width)
        let subspace = SubspaceIdentification(correlations(from: first, to: last, interval: interval))
        var (before, stable): ([Candidate], [Candidate]) = ([], [])
        for order in stride(from: 2, through: SubspaceIdentification.most, by: 2) {
            var present: [Candidate] = []
            for pole in subspace.poles(order: order) {
                let decay = -0.5 * log(max(pole.value.power, 1e-300)) / interval
                let turn = atan2(pole.value.im, pole.value.re) / interval + 2 * Double.pi * begin
                let natural = (turn * turn + decay * decay).squareRoot()
                let shape = CrossSpectra.Vector(
                    re: SIMD3(pole.shape[0].re, pole.shape[1].re, pole.shape[2].re),
                    im: SIMD3(pole.shape[0].im, pole.shape[1].im, pole.shape[2].im))
                present.append(
                    Candidate(
                        frequency: natural / (2 * Double.pi), damping: decay / natural,
                        shape: shape * (1 / max(shape.power, 1e-300).squareRoot()), order: order))
            }
            stable += present.filter { one in
                let isInside =
                    one.frequency > max(Self.lowest, begin + 0.1 * width) && one.frequency < begin + 0.9 * width
                guard isInside, Self.dampings.contains(one.damping) else { return false }
                return before.contains {
                    abs($0.frequency - one.frequency) < 0.01 * one.frequency
                        && abs($0.damping - one.damping) < 0.25 * max($0.damping, one.damping)
                        && Self.likeness($0.shape, one.shape) > 0.95
                }
            }
            before = present
        }
        return Self.agreed(ascending(stable.map(\.frequency)).map { stable[$0] })
    }

    /// Modes that enough orders agree on: the one of median damping of the five lowest, at their median frequency.
    private static func agreed(_ stable: [Candidate]) -> [Found] {
        var (rest, found): ([Candidate], [Found]) = (stable, [])
        while let first = rest.first {
            func isAlike(_ one: Candidate) -> Bool {
                abs(one.frequency - first.frequency) < 0.012 * first.frequency
                    && likeness(one.shape, first.shape) > 0.9
            }
            let group = rest.filter(isAlike)
            rest.removeAll(where: isAlike)
            var (orders, highest) = (0, SubspaceIdentification.most)
            for order in stride(from: 2, through: SubspaceIdentification.most, by: 2)
            where group.contains(where: { $0.order == order }) {
                orders += 1
                if orders == leastOrders { highest = order }
            }
            guard orders >= leastOrders else { continue }
            let lowest = group.filter { $0.order <= highest }
            var mode = lowest[ascending(lowest.map(\.damping))[lowest.count / 2]]
            mode.frequency = lowest[lowest.count / 2].frequency
            found.append(Found(mode: mode, orders: orders))
        }
        return found
    }

    /// Nine numbers for each lag from 1 on, of the motion of a band that is shifted down to 0 Hz.
    private func correlations(from first: Int, to last: Int, interval: Double) -> [Double] {
        let count = last - first
        var all = [Double](repeating: 0, count: 9 * SubspaceIdentification.lags)
        for lag in 1...SubspaceIdentification.lags {
            var sums = [Double](repeating: 0, count: 9)
            for k in 0...count {
                let angle = Double.pi * Double(lag * k % (2 * count)) / Double(count)
                let weight = k == 0 || k == count ? 0.5 : 1
                let (c, s, m) = (weight * cos(angle), weight * sin(angle), spectra.sum[first + k])
                sums[0] += c * Double(m.xx)
                sums[4] += c * Double(m.yy)
                sums[8] += c * Double(m.zz)
                for (a, b, re, im) in [
                    (0, 1, m.xyRe, m.xyIm), (0, 2, m.xzRe, m.xzIm), (1, 2, m.yzRe, m.yzIm),
                ] {
                    sums[3 * a + b] += c * Double(re) - s * Double(im)
                    sums[3 * b + a] += c * Double(re) + s * Double(im)
                }
            }
            let scale = 1 / ModeAnalysis.window(Double(lag) * interval * step)
            for k in 0..<9 { all[9 * (lag - 1) + k] = sums[k] * scale }
        }
        return all
    }

    // MARK: The spectrum

    /// Whether the power along the shape stands out of that on both sides, and decays as the mode does: the line of a machine
    /// does not decay, and a lorry makes the power of few segments.
    private func standsOut(_ mode: Candidate) -> Bool {
        let half = max(mode.damping * mode.frequency, 0.5 * step)
        func range(_ from: Double, _ to: Double) -> [Int] {
            let low = max(1, Int((from / step).rounded(.up))), high = min(lines - 1, Int(to / step))
            return low <= high ? Array(low...high) : [min(lines - 1, max(1, Int((from / step).rounded())))]
        }
        func power(_ line: Int) -> Double { mode.shape.product(spectra.sum[line].times(mode.shape)).re }
        func mean(_ lines: [Int]) -> Double { lines.reduce(0) { $0 + power($1) } / Double(lines.count) }
        let (f, reach) = (mode.frequency, max(2 * half, 1.5 * step))
        let core = range(f - max(half, 0.75 * step), f + max(half, 0.75 * step))
        let (left, right) = (range(f - 3 * half - reach, f - 3 * half), range(f + 3 * half, f + 3 * half + reach))
        let contrast = mean(core) / max(mean(left), mean(right), 1e-300)
        let around = range(f - 3 * half - reach, f + 3 * half + reach)
        // (Of noise that stays as it is the mean square is at most twice the squared mean.)
        let burst = around.reduce(0) { $0 + spectra.burst($1) } / Double(around.count)
        let averages = 0.95 * Double(spectra.segments) * min(1, 1.5 / max(burst, 1e-300))
        func share(_ lines: [Int]) -> Double { 1 / max(1, Double(lines.count) / 1.5) }
        let uncertainty = ((share(core) + share(left)) / averages).squareRoot()
        guard contrast - 1 > Self.leastSignificance * uncertainty else { return false }
        let turn = 2 * Double.pi * f
        let time = min(0.7 / (mode.damping * turn), 13)
        var (re, im, sum) = (0.0, 0.0, 0.0)
        let bell = max(4 * half, 3 * step)
        for line in range(f - bell, f + bell) {
            let (angle, size) = (2 * Double.pi * (Double(line) * step - f) * time, power(line))
            re += size * cos(angle)
            im += size * sin(angle)
            sum += size
        }
        let rest = (re * re + im * im).squareRoot() / max(sum, 1e-300) / ModeAnalysis.window(time * step)
        return rest < (1 + exp(-mode.damping * turn * time)) / 2
    }
}

/// Places of the keys from the least on; of the same keys the first comes first. (A sort for each kind of value takes 5 kB of the
/// program.)
func ascending(_ keys: [Double]) -> [Int] {
    var places: [Int] = []
    for (place, key) in keys.enumerated() {
        var k = places.count
        while k > 0, keys[places[k - 1]] > key { k -= 1 }
        places.insert(place, at: k)
    }
    return places
}
