import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Features of a window of blocks beside the noise: numbers in which earthquakes and disturbances differ.
struct DiscriminationFeatures: Sendable, Equatable {
    /// In the order of ``DiscriminationModel/features``: shares of the bands from 0.5, 1, 2 and 4 Hz in the energy; energy
    /// below 2 Hz to the noise; rectilinearity; power of the last half second to the largest; largest rise from one block to
    /// the next; kurtosis; bandwidth; vertical to horizontal power; power of the differences of successive samples to what
    /// white noise of the power from 1 to 12 Hz has; the largest of these differences to their mean; rectilinearity of half
    /// seconds; shift of the mean to the largest acceleration; spectral flatness of the bands from 2 Hz (geometric to
    /// arithmetic mean of their densities). Base-10 logarithms but for the rectilinearities.
    /// (A vector, since an array would be allocated at each judging.)
    var values: SIMD16<Double>

    /// - Parameters:
    ///   - window: blocks, within the last 40.
    ///   - background: as ``GroundBlocks/noise``, from before the onset.
    ///   - rest: mean acceleration before the onset, m/s².
    init(_ blocks: GroundBlocks, _ window: Range<Int>, noise background: ArraySlice<Double>, rest: SIMD3<Double>) {
        func log(_ x: Double) -> Double { decimalLogarithm(max(x, 1e-30)) }
        let size = Double(window.count)
        func sum(_ k: Int) -> Double {
            var sum = 0.0
            for b in window { sum += blocks.value(k, b) }
            return sum
        }
        func largest(_ k: Int) -> Double {
            var largest = 0.0
            for b in window { largest = max(largest, blocks.value(k, b)) }
            return largest
        }
        func noise(_ k: Int) -> Double { background[background.startIndex + k] }
        func above(_ k: Int) -> Double { max(sum(k) / size - noise(k) - 1e-20, 0.05 * (noise(k) + 1e-20)) }
        let bands = (above(0), above(1), above(2), above(3), above(4))
        let all = bands.0 + bands.1 + bands.2 + bands.3 + bands.4
        let course = Self.course(blocks, window, floor: 2 * (noise(5) + noise(6) + noise(7) + 1e-20))
        let mean = course.total / size
        func product(_ k: Int) -> Double { sum(k) / size - noise(k) }
        let (xx, yy, zz) = (product(5), product(6), product(7))
        func axis(_ power: Double, _ k: Int) -> Double { max(power, 0.05 * noise(k) + 1e-20) }
        let (px, py, pz) = (axis(xx, 5), axis(yy, 6), axis(zz, 7))
        let steps = max(sum(11) / size - noise(11), 0.05 * noise(11) + 1e-20)
        let shift = blocks.mean(window.upperBound - 4..<window.upperBound) - rest
        let tilt = (shift * shift).sum().squareRoot() / max(largest(15), 1e-30).squareRoot()
        let (two, four, eight) = (bands.2 / 2, bands.3 / 4, bands.4 / 6)
        values = .zero
        values[0] = log(bands.0 / all)
        values[1] = log(bands.1 / all)
        values[2] = log(bands.2 / all)
        values[3] = log(bands.3 / all)
        values[4] = log((bands.0 + bands.1) / (noise(0) + noise(1) + 2e-20))
        values[5] = Self.rectilinearity(
            SymmetricMatrix(xx: xx, yy: yy, zz: zz, xy: product(8), xz: product(9), yz: product(10)))
        values[6] = log(course.last / 4 / course.largest)
        values[7] = log(course.rise)
        values[8] = log(sum(14) / size / (max(mean, 1e-30) * max(mean, 1e-30)))
        values[9] = log(sum(12) / max(sum(13), 1e-30))
        values[10] = log(pz / ((px + py) / 2))
        values[11] = log(steps * blocks.bandwidth / ((px + py + pz) * blocks.rate))
        values[12] = log(largest(16) / max(sum(11) / size, 1e-30))
        values[13] = Self.local(blocks, window, background)
        values[14] = log(max(tilt, 0.003))
        values[15] = (log(two) + log(four) + log(eight)) / 3 - log((two + four + eight) / 3)
    }

    /// Sum of the powers of a window; of the powers no lower than a floor: sum of the last four, largest, largest ratio of
    /// successive ones.
    private static func course(
        _ blocks: GroundBlocks, _ window: Range<Int>, floor: Double
    ) -> (total: Double, last: Double, largest: Double, rise: Double) {
        var (total, last, largest, rise, previous) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for b in window {
            let power = blocks.value(5, b) + blocks.value(6, b) + blocks.value(7, b)
            let q = max(power, floor)
            total += power
            largest = max(largest, q)
            if b >= window.upperBound - 4 { last += q }
            if b > window.lowerBound { rise = max(rise, q / previous) }
            previous = q
        }
        return (total, last, largest, rise)
    }

    /// 1 for motion on a line, 0 for motion alike in all directions.
    private static func rectilinearity(_ matrix: SymmetricMatrix) -> Double {
        let (first, second, third, _) = matrix.eigen
        return 1 - (max(0, second) + max(0, third)) / 2 / max(first, 1e-30)
    }

    /// Rectilinearity of half seconds, back from the window's end as far as they fit, weighted by their power.
    private static func local(
        _ blocks: GroundBlocks, _ window: Range<Int>, _ background: ArraySlice<Double>
    ) -> Double {
        func noise(_ k: Int) -> Double { background[background.startIndex + k] }
        let floor = 0.05 * (noise(5) + noise(6) + noise(7)) + 1e-20
        var (sum, weights, begin) = (0.0, 0.0, window.lowerBound + window.count % 4)
        while begin < window.upperBound {
            func product(_ k: Int) -> Double {
                let sum = blocks.value(k, begin) + blocks.value(k, begin + 1) + blocks.value(k, begin + 2)
                return (sum + blocks.value(k, begin + 3)) / 4 - noise(k)
            }
            let (xx, yy, zz) = (product(5), product(6), product(7))
            let weight = max(xx + yy + zz, floor)
            sum +=
                weight
                * rectilinearity(
                    SymmetricMatrix(xx: xx, yy: yy, zz: zz, xy: product(8), xz: product(9), yz: product(10)))
            weights += weight
            begin += 4
        }
        return sum / weights
    }

    /// ln(p / (1 − p)) of an earthquake so many seconds after the onset.
    func logit(at seconds: Double) -> Double {
        let parts = DiscriminationModel.parts(values, at: seconds)
        return parts.constant + parts.features.sum()
    }

    /// Contribution of each feature to the logit, in the order of ``DiscriminationModel/features``; a product of two is
    /// shared by both. With ``DiscriminationModel/constant(at:)`` they add up to ``logit(at:)``.
    func contributions(at seconds: Double) -> [Double] {
        let parts = DiscriminationModel.parts(values, at: seconds).features
        return DiscriminationModel.features.indices.map { parts[$0] }
    }

    /// The values of the model's features.
    var array: [Double] { DiscriminationModel.features.indices.map { values[$0] } }

    /// The probability that belongs to a logit.
    static func probability(_ logit: Double) -> Double { 1 / (1 + exp(-logit)) }
}

extension DiscriminationModel {
    /// u: octaves from 2 s of the time since the onset, −2 … 1.3.
    private static func octaves(_ seconds: Double) -> Double { log2(min(5, max(0.5, seconds))) - 1 }

    /// Part of the logit that does not depend on the features.
    static func constant(at seconds: Double) -> Double {
        let u = octaves(seconds)
        return bias + time.first * u + time.second * u * u
    }

    /// logit = constant + Σ (weight + later u) z + Σ product zz, z = (feature − mean) / scale within ±2.5.
    fileprivate static func parts(
        _ values: SIMD16<Double>, at seconds: Double
    ) -> (constant: Double, features: SIMD16<Double>) {
        let u = octaves(seconds)
        var (z, parts) = (SIMD16<Double>.zero, SIMD16<Double>.zero)
        for (i, feature) in features.enumerated() {
            z[i] = min(limit, max(-limit, (values[i] - feature.mean) / feature.scale))
            parts[i] = (feature.weight + feature.later * u) * z[i]
        }
        var k = 0
        for i in 0..<features.count {
            for j in i..<features.count {
                let half = products[k] * z[i] * z[j] / 2
                parts[i] += half
                parts[j] += half
                k += 1
            }
        }
        return (constant(at: seconds), parts)
    }
}
