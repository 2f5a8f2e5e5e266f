import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What a window of blocks looks like beside the noise, as numbers that earthquakes and disturbances differ in.
struct DiscriminationFeatures: Sendable, Equatable {
    /// In the order of ``DiscriminationModel/features``: shares of the bands from 1, 2 and 4 Hz in the energy; energy below
    /// 2 Hz to the noise; rectilinearity; power of the last half second to the largest; largest rise from one block to the
    /// next; kurtosis; bandwidth; vertical to horizontal power. Base-10 logarithms but for the rectilinearity. Then zeros.
    /// (A vector, since an array would be allocated at each judging.)
    var values: SIMD16<Double>

    /// - Parameters:
    ///   - window: blocks, within the last 40.
    ///   - background: as ``GroundBlocks/noise``, from before the onset.
    init(_ blocks: GroundBlocks, _ window: Range<Int>, noise background: ArraySlice<Double>) {
        func log(_ x: Double) -> Double { decimalLogarithm(max(x, 1e-30)) }
        let size = Double(window.count)
        func sum(_ k: Int) -> Double {
            var sum = 0.0
            for b in window { sum += blocks.value(k, b) }
            return sum
        }
        func noise(_ k: Int) -> Double { background[background.startIndex + k] }
        func above(_ k: Int) -> Double { max(sum(k) / size - noise(k) - 1e-20, 0.05 * (noise(k) + 1e-20)) }
        let bands = (above(0), above(1), above(2), above(3), above(4))
        let all = bands.0 + bands.1 + bands.2 + bands.3 + bands.4
        // Powers, no lower than twice the noise.
        let floor = 2 * (noise(5) + noise(6) + noise(7) + 1e-20)
        var (total, largest, rise, last, previous) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for b in window {
            let power = blocks.value(5, b) + blocks.value(6, b) + blocks.value(7, b)
            let q = max(power, floor)
            total += power
            largest = max(largest, q)
            if b >= window.upperBound - 4 { last += q }
            if b > window.lowerBound { rise = max(rise, q / previous) }
            previous = q
        }
        let mean = total / size
        func product(_ k: Int) -> Double { sum(k) / size - noise(k) }
        let (xx, yy, zz) = (product(5), product(6), product(7))
        let (first, second, third, _) = SymmetricMatrix(
            xx: xx, yy: yy, zz: zz, xy: product(8), xz: product(9), yz: product(10)
        ).eigen
        func axis(_ power: Double, _ k: Int) -> Double { max(power, 0.05 * noise(k) + 1e-20) }
        values = .zero
        values[0] = log(bands.1 / all)
        values[1] = log(bands.2 / all)
        values[2] = log(bands.3 / all)
        values[3] = log((bands.0 + bands.1) / (noise(0) + noise(1) + 2e-20))
        values[4] = 1 - (max(0, second) + max(0, third)) / 2 / max(first, 1e-30)
        values[5] = log(last / 4 / largest)
        values[6] = log(rise)
        values[7] = log(sum(13) / size / (max(mean, 1e-30) * max(mean, 1e-30)))
        values[8] = log(sum(11) / max(sum(12), 1e-30))
        values[9] = log(axis(zz, 7) / ((axis(xx, 5) + axis(yy, 6)) / 2))
    }

    /// ln(p / (1 − p)) of an earthquake so many seconds after the onset.
    func logit(at seconds: Double) -> Double {
        var s = DiscriminationModel.bias
        for (k, feature) in DiscriminationModel.features.enumerated() {
            let z = min(2.5, max(-2.5, (values[k] - feature.mean) / feature.scale))
            s += feature.weight * (feature.isSquare ? z * z : z)
        }
        typealias M = DiscriminationModel
        let u = log2(min(5, max(0.5, seconds)))
        return (M.a + M.b * u) * s + M.c * u + M.d - M.threshold
    }

    /// The values of the model's features.
    var array: [Double] { DiscriminationModel.features.indices.map { values[$0] } }

    /// The probability that belongs to a logit.
    static func probability(_ logit: Double) -> Double { 1 / (1 + exp(-logit)) }
}
