/// SQLite's sum over its log (sqlite.org/walformat.html), which goes on from frame to frame; for machines that count from
/// the lowest byte.
struct LogSum: Equatable {
    var a: UInt32
    var b: UInt32

    /// - Parameter count: of words; even.
    func adding(_ words: UnsafePointer<UInt32>, _ count: Int) -> LogSum {
        var (a, b) = (a, b)
        var index = 0
        while index < count {
            a = a &+ words[index] &+ b
            b = b &+ words[index &+ 1] &+ a
            index &+= 2
        }
        return LogSum(a: a, b: b)
    }

    /// Change of one of the last words that gives the wanted sum, where that changes a single byte. The sum is linear:
    /// a word counts with a factor that only depends on its place. Damage of another kind never looks like this; but
    /// the highest bits of a word count alike in many places.
    /// - Parameters:
    ///   - pairs: of words that were added last.
    ///   - word: the word of this number, counted from the end of them.
    /// - Returns: at most two.
    static func mend(
        _ wrong: LogSum, to right: LogSum, pairs: Int, word: (Int) -> UInt32
    ) -> [(back: Int, change: UInt32)] {
        let (da, db) = (right.a &- wrong.a, right.b &- wrong.b)
        var found: [(back: Int, change: UInt32)] = []
        // The factors of the second and the first word of a pair.
        var factors = [LogSum(a: 0, b: 1), LogSum(a: 1, b: 1)]
        for back in 0..<pairs * 2 where found.count < 2 {
            let factor = factors[back & 1]
            let change = factor.a & 1 == 1 ? da &* inverse(factor.a) : db &* inverse(factor.b)
            if change &* factor.a == da, change &* factor.b == db {
                let old = word(back)
                if (old ^ (old &+ change)).isOneByte { found.append((back, change)) }
            }
            factors[back & 1] = LogSum(a: factor.a &+ factor.b, b: factor.a &+ factor.b &+ factor.b)
        }
        return found
    }

    /// Inverse of an odd number.
    private static func inverse(_ number: UInt32) -> UInt32 {
        var inverse = number
        for _ in 0..<4 { inverse &*= 2 &- number &* inverse }
        return inverse
    }

    /// Whether two sums differ in a single byte.
    func isAlmost(_ other: LogSum) -> Bool { (UInt64(a ^ other.a) << 32 | UInt64(b ^ other.b)).isOneByte }
}

extension UnsignedInteger where Self: FixedWidthInteger {
    /// Whether all bits that are set are in the same byte, and there is one.
    fileprivate var isOneByte: Bool { self != 0 && self >> Self(trailingZeroBitCount & ~7) < 256 }
}
