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
    /// A mode stands out by so many times the spectrum's own uncertainty.
    private static let leastSignificance = 5.0
    /// Mean square of a mode's own power by its squared mean: 2 of steady motion, 4 of gusts that follow a log-normal law of 0.4 in
    /// amplitude, 8 of 0.6; of lorries most have more than 10.
    private static let mostBurst = 9.0
    /// How far a mode stands out of the logarithm of the power of a typical segment, times the root of their number. In 260 records
    /// of lorries what has more bursts has 1.0 at most, in gusts 10 of 12 have 2 to 17.
    private static let leastRise = 1.9
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
        // (Narrow bands have fewer modes in them, and show the weak ones.)
        for share in [0.8, 0.4] {
            var centre = 0.7
            while true {
                let width = min(max(1, share * centre), top)
                let low = max(0, min(max(4 * step, centre - width / 2), top - width))
                found += modes(
                    from: Int((low / step).rounded()), to: min(lines - 1, Int(((low + width) / step).rounded())))
                if low + width >= top { break }
                centre += 0.4 * width
            }
        }
        // A mode of two bands is one, as are two of like shapes within 2 % or three times their damping.
        var kept: [Candidate] = []
        for place in ascending(found.map { -Double($0.orders) }) {
            let one = found[place].mode
            let isKnown = kept.contains {
                let apart = max(0.02, min(0.06, 3 * max($0.damping, one.damping)))
                return abs($0.frequency / one.frequency - 1) < apart && Self.likeness($0.shape, one.shape) > 0.5
            }
            if !isKnown { kept.append(one) }
        }
        var modes: [Candidate] = []
        for one in kept where standsOut(one, beside: modes) { modes.append(one) }
        return ascending(modes.map(\.frequency)).map { (modes[$0].frequency, modes[$0].damping, modes[$0].shape) }
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

    /// Whether the bell of a mode is in the power along its shape, beside a straight line and the bells of the other modes, and is
    /// neither a machine nor a few lorries.
    private func standsOut(_ mode: Candidate, beside others: [Candidate]) -> Bool {
        let (f, half) = (mode.frequency, halfWidth(mode))
        let reach = max(5 * half, 8 * step)
        let window = range(f - reach, f + reach)
        let power = window.map { mode.shape.product(spectra.sum[$0].times(mode.shape)).re }
        let smooth = max(2, Int(0.7 * half / step))
        let uncertainty = power.indices.map { k -> Double in
            let near = power[max(0, k - smooth)...min(power.count - 1, k + smooth)]
            return near.reduce(0, +) / Double(near.count)
        }
        let near = others.filter { abs($0.frequency - f) < reach + 2 * halfWidth($0) }
        var beside = [window.map { _ in 1 }, window.map { (Double($0) * step - f) / reach }]
        beside += near.map { bell($0, window) }
        let own = Self.fit(power, uncertainty, beside + [bell(mode, window)])
        let core = range(f - max(half, step), f + max(half, step))
        let burst = core.reduce(0) { $0 + spectra.burst($1) } / Double(core.count)
        // (Of noise that stays as it is the mean square is at most twice the squared mean.)
        let averages = Double(spectra.segments) * min(1, 1.7 / max(burst, 1e-300))
        guard own.certainty * (averages / 2.05).squareRoot() > Self.leastSignificance else { return false }
        let rest = power.indices.map { k in
            beside.indices.reduce(power[k]) { $0 - own.sizes[$1] * beside[$1][k] }
        }
        return decays(mode, rest, window) && isOften(mode, burst, power, window)
            && !isLine(mode, own.certainty) { Self.fit(power, uncertainty, beside + [$0]).certainty }
    }

    /// Whether a mode's own power, what is left of the power without all else, decays as the mode does. The line of a machine
    /// does not.
    private func decays(_ mode: Candidate, _ power: [Double], _ window: ClosedRange<Int>) -> Bool {
        let (f, turn) = (mode.frequency, 2 * Double.pi * mode.frequency)
        let time = min(0.7 / (mode.damping * turn), 13)
        let bell = max(4 * mode.damping * f, 3 * step)
        var (re, im, sum) = (0.0, 0.0, 0.0)
        for line in range(f - bell, f + bell) where window.contains(line) {
            let (angle, size) = (2 * Double.pi * (Double(line) * step - f) * time, power[line - window.lowerBound])
            re += size * cos(angle)
            im += size * sin(angle)
            sum += size
        }
        let rest = (re * re + im * im).squareRoot() / max(sum, 1e-300) / ModeAnalysis.window(time * step)
        return rest < (1 + exp(-mode.damping * turn * time)) / 2
    }

    /// Whether a mode moves often enough: a lorry makes the power of few segments. (The burst of two motions that do not follow
    /// one another adds by the squares of their shares.) In gusts a few may have most of the power as well, but there the mode
    /// stands out of a typical segment.
    private func isOften(_ mode: Candidate, _ burst: Double, _ power: [Double], _ window: ClosedRange<Int>) -> Bool {
        let (f, half) = (mode.frequency, halfWidth(mode))
        func total(_ line: Int) -> Double { spectra.sum[line].diagonal.sum() }
        func mean(_ lines: ClosedRange<Int>) -> Double { lines.reduce(0) { $0 + total($1) } / Double(lines.count) }
        let core = range(f - max(half, step), f + max(half, step))
        let top = core.max { power[$0 - window.lowerBound] < power[$1 - window.lowerBound] } ?? core.lowerBound
        let (left, right) = (range(f - 4 * half - step, f - 2.5 * half), range(f + 2.5 * half, f + 4 * half + step))
        let side = mean(left) > mean(right) ? left : right
        let rest = min(1, mean(side) / max(total(top), 1e-300)), own = 1 - rest
        // Beside it: noise of three axes has 4/3, one steady mode 2.
        let besides = min(2, max(4 / 3, side.reduce(0) { $0 + spectra.burst($1) } / Double(side.count)))
        func typical(_ lines: ClosedRange<Int>) -> Double {
            lines.reduce(0) { $0 + spectra.typical($1) } / Double(lines.count)
        }
        let rise = typical(core) - max(typical(left), typical(right))
        if rise * Double(spectra.segments).squareRoot() > Self.leastRise { return true }
        // (A mode that hardly shows beside its neighbours has no burst of its own that could be known.)
        return own < 0.1 || burst - 0.1 - besides * rest * rest - 2 * rest * own < Self.mostBurst * own * own
    }

    /// Whether the line of a machine, at any half line within the bell, fits better than the bell. (Of a bell that is narrower than
    /// a line it cannot be known; it does not decay.)
    private func isLine(_ mode: Candidate, _ certainty: Double, fit: ([Double]) -> Double) -> Bool {
        let (f, half) = (mode.frequency, halfWidth(mode))
        guard half > step else { return false }
        let (lines, reach) = (range(f - half, f + half), max(5 * half, 8 * step))
        return (2 * lines.lowerBound - 1...2 * lines.upperBound + 1).contains { place in
            let line = range(f - reach, f + reach).map { line -> Double in
                // The Hann window's own spectrum.
                let x = abs(Double(line) - 0.5 * Double(place))
                guard x != 0, x != 1 else { return x == 0 ? 1 : 0.25 }
                let size = sin(Double.pi * x) / (Double.pi * x * (1 - x * x))
                return x < 2 ? size * size : 0
            }
            return fit(line) >= certainty
        }
    }

    /// Hz: half of the width of a mode's bell as the window widens it.
    private func halfWidth(_ mode: Candidate) -> Double {
        let half = mode.damping * mode.frequency
        return (half * half + 0.5 * step * step).squareRoot()
    }

    private func bell(_ mode: Candidate, _ window: ClosedRange<Int>) -> [Double] {
        let half = halfWidth(mode)
        return window.map { line in
            let x = (Double(line) * step - mode.frequency) / half
            return 1 / (1 + x * x)
        }
    }

    /// The lines between two frequencies, one at least.
    private func range(_ from: Double, _ to: Double) -> ClosedRange<Int> {
        let low = min(lines - 1, max(1, Int((from / step).rounded(.up))))
        return low...max(low, min(lines - 1, Int(to / step)))
    }

    /// Least squares: the sizes of the parts that make up the power, and the last one's by its own uncertainty.
    private static func fit(
        _ power: [Double], _ uncertainty: [Double], _ parts: [[Double]]
    ) -> (certainty: Double, sizes: [Double]) {
        let (n, all) = (parts.count, parts + [power])
        var rows = [Double](repeating: 0, count: n * (n + 1))
        func at(_ i: Int, _ j: Int) -> Int { i * (n + 1) + j }
        for i in 0..<n {
            for j in i...n {
                for k in power.indices {
                    rows[at(i, j)] += all[i][k] * all[j][k] / (uncertainty[k] * uncertainty[k])
                }
            }
        }
        for i in 0..<n {
            for j in i + 1..<max(n, i + 1) {
                let factor = rows[at(i, j)] / rows[at(i, i)]
                for k in j...n { rows[at(j, k)] -= factor * rows[at(i, k)] }
            }
        }
        var sizes = [Double](repeating: 0, count: n)
        for i in (0..<n).reversed() {
            let rest = (i + 1..<max(n, i + 1)).reduce(rows[at(i, n)]) { $0 - rows[at(i, $1)] * sizes[$1] }
            sizes[i] = rest / rows[at(i, i)]
        }
        return (rows[at(n - 1, n)] / max(rows[at(n - 1, n - 1)], 1e-300).squareRoot(), sizes)
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
