#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How strongly people in buildings feel vibration (KB, DIN 4150-2 and DIN 45669-1): velocity in mm/s through a high pass
/// 1/√(1 + (5.6 Hz/f)²), its running effective value KB_F with a time constant of 0.125 s. `kb_fmax` is the largest; `kb_ftm`
/// the root mean square of the largest of each takt of 30 s, where values of at most 0.1 count as 0. Takts begin with the
/// interval.
struct FeltStrength: Sendable {
    struct Result: Sendable, Equatable {
        var largest = 0.0
        var takts = 0.0
    }

    static let corner = 5.6
    private static let takt: Int64 = 30_000_000_000
    private static let least = 0.1

    private let share: Double
    private var square = 0.0
    /// Squares.
    private var largest = 0.0
    private var largestOfTakt = 0.0
    private var (sum, takts) = (0.0, 0)
    private var taktEnd = Int64.min
    private var isEmpty = true

    init(rate: Double) { share = -expm1(-1 / (0.125 * rate)) }

    mutating func reset() { square = 0 }

    /// - Parameter interval: nanoseconds of UTC at which the present interval began.
    mutating func process(
        _ felt: UnsafePointer<Double>, _ times: UnsafePointer<Int64>, interval: Int64, from start: Int, count: Int
    ) {
        if taktEnd == .min { taktEnd = interval + Self.takt }
        var (square, largest) = (square, largestOfTakt)
        for i in start..<start + count {
            if times[i] >= taktEnd {
                largestOfTakt = largest
                endTakt()
                largest = 0
                while times[i] >= taktEnd { taktEnd += Self.takt }
            }
            square += share * (felt[i] * felt[i] - square)
            largest = max(largest, square)
            isEmpty = false
        }
        (self.square, largestOfTakt) = (square, largest)
    }

    private mutating func endTakt() {
        guard !isEmpty else { return }
        largest = max(largest, largestOfTakt)
        if largestOfTakt > Self.least * Self.least { sum += largestOfTakt }
        takts += 1
        (largestOfTakt, isEmpty) = (0, true)
    }

    /// Ends an interval.
    mutating func close() -> Result {
        endTakt()
        defer { (largest, sum, takts, taktEnd) = (0, 0, 0, .min) }
        return Result(largest: largest.squareRoot(), takts: (sum / Double(max(1, takts))).squareRoot())
    }
}
