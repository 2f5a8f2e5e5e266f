/// Random numbers that are the same on every machine for the same seed (Steele, Lea and Flood 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Random numbers that are the same on every machine: xoshiro256++ (Blackman and Vigna 2019), its state filled by
/// SplitMix64.
struct SeededNoise: Sendable {
    private var s0: UInt64
    private var s1: UInt64
    private var s2: UInt64
    private var s3: UInt64

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        (s0, s1, s2, s3) = (random.next(), random.next(), random.next(), random.next())
    }

    mutating func bits() -> UInt64 {
        let sum = s0 &+ s3
        let result = (sum << 23 | sum >> 41) &+ s0
        let t = s1 << 17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= t
        s3 = s3 << 45 | s3 >> 19
        return result
    }

    /// A number of the normal distribution, mean 0, variance 1: the sum of twelve uniform numbers of 16 bits.
    /// Integers alone, so no mathematical library can change a bit of it; it ends at ±6.
    mutating func gaussian() -> Double {
        var sum: UInt64 = 0
        for _ in 0..<3 {
            let word = bits()
            sum += (word & 0xFFFF) + (word >> 16 & 0xFFFF) + (word >> 32 & 0xFFFF) + word >> 48
        }
        // Twelve values with mean 32767.5 and variance (65536² − 1) / 12: together 65536² − 1.
        return (Double(sum) - 12 * 32767.5) / 65536
    }
}
