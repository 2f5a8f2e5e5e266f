import SignalProcessing

/// Motion of the ground in successive 1/8 s of samples, in bands and directions, and its noise: averages of the blocks
/// without a trigger that end 3 s before the newest one, so that no onset is in them.
struct GroundBlocks: Sendable {
    /// Numbers of a block: energies of five bands, products of the axes of the band from 1 Hz (xx yy zz xy xz yz), mean
    /// square of the differences of successive samples, zero crossings of the band and of its differences weighted by the
    /// axes' powers, mean square and largest of its square, largest square of the differences of successive samples.
    static let values = 17
    /// Values among them that the noise has too.
    static let noiseValues = 12
    /// Blocks that are kept; of the mean acceleration more.
    private static let kept = 40
    /// Band from 1 Hz, Hz, and samples per second.
    let (bandwidth, rate): (Double, Double)
    private static let meansKept = 128
    /// Blocks from a block to the noise that ends before it.
    private static let delay = 24

    /// Samples of a block.
    let length: Int
    /// Blocks that are complete.
    private(set) var count = 0
    /// Samples since the first or since the last gap.
    private(set) var taken = 0
    private(set) var noise = [Double](repeating: 0, count: noiseValues)
    /// Blocks that are in the noise; 240 at most.
    private(set) var seen = 0
    /// Whether the first sample of the newest block was in a trigger.
    private(set) var beginsTriggered = false

    private var bank: BandBank
    private var rows = [Double](repeating: 0, count: kept * values)
    private var means = [Double](repeating: 0, count: meansKept * 3)
    /// Three planes of samples of the unfinished block, without the first sample of all; three of its band.
    private var samples: [Double]
    private var inBlock = 0
    private var firstTriggered = false
    private var anyTriggered = false
    /// Whether a sample of the unfinished block was estimated.
    private var anyEstimated = false
    /// Whether each of the last blocks has such a sample.
    private var estimated = [Bool](repeating: false, count: kept)
    /// The first sample; the last one less it; the band's last sample and its last difference.
    private var first = SIMD3<Double>.zero
    private var last = SIMD3<Double>.zero
    private var before = SIMD3<Double>.zero
    private var change = SIMD3<Double>.zero
    /// Blocks in a row without and with a sample in a trigger.
    private var quiet = 0
    private var frozen = 0
    private var trust = NoiseTrust()

    /// - Parameter rate: samples per second.
    init(rate: Double) throws(FilterDesignError) {
        length = max(1, Int((rate / 8).rounded(.toNearestOrEven)))
        bank = try BandBank(rate: rate)
        (bandwidth, self.rate) = (min(12, 0.4 * rate) - 1, rate)
        samples = [Double](repeating: 0, count: 6 * length)
    }

    /// Forgets all samples.
    /// - Parameter blind: samples from now on until all detectors can trigger.
    mutating func reset(blind: Int = 0) {
        trust.start(blind: blocks(blind))
        bank.reset()
        for k in noise.indices { noise[k] = 0 }
        (count, taken, seen, inBlock, quiet, frozen) = (0, 0, 0, 0, 0, 0)
        (anyTriggered, last, before, change) = (false, .zero, .zero, .zero)
    }

    /// Samples are missing: the unfinished block is forgotten, and the filters begin anew at the level that they had. The
    /// noise stays; the next three seconds add nothing to it, nor does what comes before detectors can trigger.
    mutating func gap(blind: Int = 0) {
        trust.gap(blind: blocks(blind), noise: noisePower, seen: seen, isMissing: true)
        bank.reset()
        (taken, inBlock, quiet, frozen) = (count * length, 0, 0, 0)
        (anyTriggered, anyEstimated, last, before, change) = (false, false, .zero, .zero, .zero)
    }

    /// Detectors have begun anew: until they can trigger again, blocks without a trigger say nothing of the noise.
    mutating func detectorsBegan(blind: Int) {
        trust.gap(blind: blocks(blind), noise: noisePower, seen: seen, isMissing: false)
    }

    private func blocks(_ samples: Int) -> Int { samples > 0 ? (samples - 1) / length + 1 : 0 }

    /// Power of the noise from 1 Hz, m²/s⁴.
    private var noisePower: Double { noise[5] + noise[6] + noise[7] }

    /// Whether an event that begins with the next sample may have begun earlier, or beside what is no noise.
    var isDoubtful: Bool { trust.isDoubtful(at: taken / length, noise: noisePower) }

    /// Value `k` of a block, one of the last 40.
    @inline(__always)
    func value(_ k: Int, _ block: Int) -> Double { rows[block % Self.kept * Self.values + k] }

    /// Mean acceleration of some of the last 128 blocks, m/s².
    func mean(_ blocks: Range<Int>) -> SIMD3<Double> {
        var sum = SIMD3<Double>.zero
        for b in blocks {
            let k = b % Self.meansKept * 3
            sum += SIMD3(means[k], means[k + 1], means[k + 2])
        }
        return sum / Double(blocks.count)
    }

    /// Takes samples up to the end of the present block.
    /// - Parameters:
    ///   - raw: three planes of samples, `stride` apart, m/s².
    ///   - on: of each sample, not 0 in a trigger.
    ///   - isEstimated: whether they fill a gap; then their block says nothing of the noise.
    /// - Returns: how many were taken; a block is complete when ``isAtEnd``.
    mutating func take(
        _ raw: UnsafePointer<Double>, stride: Int, _ on: UnsafePointer<UInt8>, count: Int, isEstimated: Bool = false
    ) -> Int {
        let n = min(count, length - inBlock)
        if taken == 0 { first = SIMD3(raw[0], raw[stride], raw[2 * stride]) }
        if inBlock == 0 { (firstTriggered, anyTriggered, anyEstimated) = (on[0] != 0, false, false) }
        if isEstimated { anyEstimated = true }
        for i in 0..<n where on[i] != 0 { anyTriggered = true }
        let (first, inBlock, length) = (first, inBlock, length)
        samples.withUnsafeMutableBufferPointer { samples in
            guard let x = samples.baseAddress.map({ $0 + inBlock }) else { return }
            for i in 0..<n {
                x[i] = raw[i] - first.x
                x[length + i] = raw[stride + i] - first.y
                x[2 * length + i] = raw[2 * stride + i] - first.z
            }
        }
        taken += n
        self.inBlock += n
        if self.inBlock == length { complete() }
        return n
    }

    /// Whether the last sample that was taken ended a block.
    var isAtEnd: Bool { inBlock == 0 && count > 0 }

    private mutating func complete() {
        inBlock = 0
        beginsTriggered = firstTriggered
        let (block, length) = (count, length)
        count += 1
        Self.measure(&bank, &samples, &rows, at: block % Self.kept * Self.values, length, &last, &before, &change)
        let scale = 1 / Double(length)
        var sum = SIMD3<Double>.zero
        for i in 0..<length { sum += SIMD3(samples[i], samples[length + i], samples[2 * length + i]) }
        let (mean, k) = (first + sum * scale, block % Self.meansKept * 3)
        (means[k], means[k + 1], means[k + 2]) = (mean.x, mean.y, mean.z)
        estimated[block % Self.kept] = anyEstimated
        learn(block)
    }

    /// Writes the values of a block of samples.
    private static func measure(
        _ bank: inout BandBank, _ samples: inout [Double], _ rows: inout [Double], at row: Int, _ length: Int,
        _ last: inout SIMD3<Double>, _ before: inout SIMD3<Double>, _ change: inout SIMD3<Double>
    ) {
        rows.withUnsafeMutableBufferPointer { rows in
            samples.withUnsafeMutableBufferPointer { samples in
                guard let r = rows.baseAddress.map({ $0 + row }), let x = samples.baseAddress else { return }
                let w = x + 3 * length
                for k in 0..<6 { r[k] = 0 }
                bank.process(x, w, stride: length, count: length, energy: r)
                for k in 0..<5 { r[k] *= bank.gains[k] * bank.gains[k] / Double(length) }
                (r[11], r[16]) = steps(x, length, &last)
                describe(w, length, bank.gains[5], &before, &change, r)
            }
        }
    }

    /// Mean and largest square of the differences of successive samples, over all axes.
    @inline(__always)
    private static func steps(
        _ x: UnsafePointer<Double>, _ length: Int, _ last: inout SIMD3<Double>
    ) -> (mean: Double, largest: Double) {
        var (sum, largest, before) = (0.0, 0.0, last)
        for i in 0..<length {
            let now = SIMD3(x[i], x[length + i], x[2 * length + i])
            let step = now - before
            let square = step.x * step.x + step.y * step.y + step.z * step.z
            sum += square
            if square > largest { largest = square }
            before = now
        }
        last = before
        return (sum / Double(length), largest)
    }

    /// Writes what follows the energies into a row of values.
    /// - Parameter w: three planes of the band's signal without its gain.
    @inline(__always)
    private static func describe(
        _ w: UnsafePointer<Double>, _ length: Int, _ gain: Double, _ before: inout SIMD3<Double>,
        _ change: inout SIMD3<Double>, _ r: UnsafeMutablePointer<Double>
    ) {
        var (xx, yy, zz, xy, xz, yz) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        var (fourth, largest) = (0.0, 0.0)
        var (cx, cy, cz, ex, ey, ez) = (0, 0, 0, 0, 0, 0)
        var (bx, by, bz) = (before.x, before.y, before.z)
        var (dx, dy, dz) = (change.x, change.y, change.z)
        for i in 0..<length {
            let (x, y, z) = (w[i] * gain, w[length + i] * gain, w[2 * length + i] * gain)
            let (x2, y2, z2) = (x * x, y * y, z * z)
            xx += x2
            yy += y2
            zz += z2
            xy += x * y
            xz += x * z
            yz += y * z
            let e = x2 + y2 + z2
            fourth += e * e
            if e > largest { largest = e }
            cx += x * bx < 0 ? 1 : 0
            cy += y * by < 0 ? 1 : 0
            cz += z * bz < 0 ? 1 : 0
            let (nx, ny, nz) = (x - bx, y - by, z - bz)
            ex += nx * dx < 0 ? 1 : 0
            ey += ny * dy < 0 ? 1 : 0
            ez += nz * dz < 0 ? 1 : 0
            (bx, by, bz, dx, dy, dz) = (x, y, z, nx, ny, nz)
        }
        (before, change) = (SIMD3(bx, by, bz), SIMD3(dx, dy, dz))
        let scale = 1 / Double(length)
        (r[5], r[6], r[7], r[8], r[9], r[10]) = (xx * scale, yy * scale, zz * scale, xy * scale, xz * scale, yz * scale)
        r[12] = Double(cx) * r[5] + Double(cy) * r[6] + Double(cz) * r[7]
        r[13] = Double(ex) * r[5] + Double(ey) * r[6] + Double(ez) * r[7]
        (r[14], r[15]) = (fourth * scale, largest)
    }

    /// Lets the block before the delay into the noise where there was no trigger, or where one lasts for over 3 min.
    private mutating func learn(_ block: Int) {
        frozen = anyTriggered ? frozen + 1 : 0
        quiet = anyTriggered ? 0 : quiet + 1
        if !trust.take(power(block), block: block, noise: noisePower, seen: seen) {
            for k in noise.indices { noise[k] = 0 }
            seen = 0
        }
        guard block >= Self.delay, quiet > Self.delay || frozen > 1440 else { return }
        guard trust.mayLearn, !estimated[(block - Self.delay) % Self.kept] else { return }
        seen = min(seen + 1, 240)
        let weight = 1 / Double(seen)
        for k in 0..<Self.noiseValues { noise[k] += (value(k, block - Self.delay) - noise[k]) * weight }
        trust.learned(power(block - Self.delay))
    }

    private func power(_ block: Int) -> Double { value(5, block) + value(6, block) + value(7, block) }
}
