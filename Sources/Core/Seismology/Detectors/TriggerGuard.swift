/// Tells shaking of the ground from what else makes a short-term average rise, for a trigger on a vector. A trigger
/// counts from the sample at which both of these hold, to its end:
///
/// - Two axes agree: on so many axes the short-term average of the power is at least `ratio` times the long-term one.
///   Waves move the ground in more than one direction; a fault of one axis does not. In the short-term average a sample
///   counts for at most `clip` long-term ones (a winsorised mean, Huber, Robust Statistics, 1981), so that one or two
///   samples alone cannot raise it. The long-term average is made up for the time that it has not yet seen, and stands
///   still while triggered and while no axis changes at all (a stalled sensor, a quantised one at rest), so that it
///   never decays to nothing.
/// - It is no jump: of the squared changes between successive 1/32 s (sums over all axes, averaged over the short term)
///   the largest one makes up at most the share `jump`. A step makes up all of it and a spike, up and down, a half;
///   shaking, many small parts.
public struct TriggerGuard: Sendable {
    public struct Settings: Sendable, Equatable {
        /// How many axes must agree, 1 to 3; axes without any signal do not count.
        public var axes: Int
        public var ratio: Double
        public var clip: Double
        public var jump: Double
        /// Samples.
        var shortTerm: Int
        var longTerm: Int
        public var maximumFrozen: Int
        /// Samples in 1/32 s, at least 1.
        public var block: Int

        public init(
            axes: Int, ratio: Double, clip: Double, jump: Double, shortTerm: Int, longTerm: Int, maximumFrozen: Int,
            rate: Double
        ) {
            (self.axes, self.ratio, self.clip, self.jump) = (axes, ratio, clip, jump)
            (self.shortTerm, self.longTerm) = (max(1, shortTerm), max(1, longTerm))
            self.maximumFrozen = maximumFrozen
            block = max(1, Int((rate / 32).rounded(.toNearestOrEven)))
        }
    }

    private struct Triple: Sendable {
        var x = 0.0
        var y = 0.0
        var z = 0.0
    }

    public private(set) var settings: Settings
    private var short = Triple()
    private var long = Triple()
    /// Share of the long-term average that is before its first sample.
    private var unseen = 1.0
    private var before = Triple()
    /// Sum of the present 1/32 s, mean of the last one.
    private var sum = Triple()
    private var mean = Triple()
    private var inBlock = 0
    private var hasMean = false
    /// Average squared change, and what its largest part has decayed to.
    private var changes = 0.0
    private var largest = 0.0
    /// Samples since the trigger, and whether it has been found good.
    private var lasted = 0
    private var isGood = false

    public init(_ settings: Settings) { self.settings = settings }

    /// Goes on with the averages of another one where they are the same ones, whatever its limits; begins anew where
    /// they are not.
    public mutating func takeOver(_ old: TriggerGuard) {
        let (s, o) = (settings, old.settings)
        guard s.shortTerm == o.shortTerm, s.longTerm == o.longTerm, s.block == o.block else { return }
        self = old
        settings = s
    }

    /// Forgets all samples.
    public mutating func reset() { self = TriggerGuard(settings) }

    /// Takes away from `on` the samples of triggers that are not, or not yet, good.
    ///
    /// - Parameters:
    ///   - power: three planes of the square of the filtered signal, m²/s⁴.
    ///   - raw: three planes of the raw signal, m/s².
    ///   - stride: from one plane of the power to the next; `rawStride` likewise.
    public mutating func process(
        power: UnsafePointer<Double>, stride: Int, raw: UnsafePointer<Double>, rawStride: Int,
        _ on: UnsafeMutablePointer<UInt8>,
        count: Int
    ) {
        let (shortWeight, longWeight) = (1 / Double(settings.shortTerm), 1 / Double(settings.longTerm))
        let (clip, maximumFrozen, block) = (settings.clip, settings.maximumFrozen, settings.block)
        var (short, long, before, sum) = (short, long, before, sum)
        var (unseen, lasted, inBlock) = (unseen, lasted, inBlock)
        for i in 0..<count {
            let (px, py, pz) = (power[i], power[stride + i], power[2 * stride + i])
            let limit = unseen < 1 ? clip / (1 - unseen) : 0
            short.x += (min(px, limit * long.x) - short.x) * shortWeight
            short.y += (min(py, limit * long.y) - short.y) * shortWeight
            short.z += (min(pz, limit * long.z) - short.z) * shortWeight
            let (x, y, z) = (raw[i], raw[rawStride + i], raw[2 * rawStride + i])
            let isStill = x == before.x && y == before.y && z == before.z
            (before.x, before.y, before.z) = (x, y, z)
            if !isStill, lasted == 0 || lasted > maximumFrozen {
                long.x += (px - long.x) * longWeight
                long.y += (py - long.y) * longWeight
                long.z += (pz - long.z) * longWeight
                // Below this it is nothing beside 1, and would become a denormal number.
                unseen = unseen > 1e-20 ? unseen * (1 - longWeight) : 0
            }
            sum.x += x
            sum.y += y
            sum.z += z
            inBlock += 1
            if inBlock == block {
                inBlock = 0
                change(sum)
                sum = Triple()
            }
            guard on[i] != 0 else {
                lasted = 0
                isGood = false
                continue
            }
            lasted += 1
            if !isGood { isGood = agree(short, long, 1 / (1 - unseen)) && largest <= settings.jump * changes }
            if !isGood { on[i] = 0 }
        }
        (self.short, self.long, self.before, self.sum) = (short, long, before, sum)
        (self.unseen, self.lasted, self.inBlock) = (unseen, lasted, inBlock)
    }

    /// Takes the sum of one 1/32 s.
    private mutating func change(_ sum: Triple) {
        let scale = 1 / Double(settings.block)
        let now = Triple(x: sum.x * scale, y: sum.y * scale, z: sum.z * scale)
        let (dx, dy, dz) = (now.x - mean.x, now.y - mean.y, now.z - mean.z)
        let weight = min(1, Double(settings.block) / Double(settings.shortTerm))
        let part = hasMean ? (dx * dx + dy * dy + dz * dz) * weight : 0
        (mean, hasMean) = (now, true)
        changes += part - changes * weight
        largest = max(part, largest - largest * weight)
    }

    private func agree(_ short: Triple, _ long: Triple, _ correction: Double) -> Bool {
        // An axis that is not there is exactly 0, or rounding noise.
        let least = 1e-6 * max(long.x, long.y, long.z)
        var (present, agreeing) = (0, 0)
        func count(_ short: Double, _ long: Double) {
            guard long > least else { return }
            present += 1
            if short >= settings.ratio * long * correction { agreeing += 1 }
        }
        count(short.x, long.x)
        count(short.y, long.y)
        count(short.z, long.z)
        return agreeing >= min(settings.axes, present)
    }
}
