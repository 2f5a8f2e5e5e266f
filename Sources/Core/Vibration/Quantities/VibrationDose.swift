/// What a weighted acceleration does to people in an interval: its root mean square, and the vibration dose value
/// (∫ a_w⁴ dt)^¼ (ISO 2631-1, BS 6472-1), m/s^1.75. Doses of several intervals add by their fourth powers.
struct VibrationDose: Sendable {
    struct Result: Sendable, Equatable {
        /// m/s².
        var rms = 0.0
        /// m/s^1.75.
        var dose = 0.0
        /// The dose to the power of four.
        var fourth = 0.0
    }

    private let period: Double
    private var (squares, fourths) = (0.0, 0.0)

    init(rate: Double) { period = 1 / rate }

    mutating func process(_ weighted: UnsafePointer<Double>, from start: Int, count: Int) {
        var (squares, fourths) = (squares, fourths)
        for i in start..<start + count {
            let square = weighted[i] * weighted[i]
            squares += square
            fourths += square * square
        }
        (self.squares, self.fourths) = (squares, fourths)
    }

    /// Ends an interval of so many samples.
    mutating func close(samples: Int) -> Result {
        defer { (squares, fourths) = (0, 0) }
        let fourth = fourths * period
        return Result(
            rms: (squares / Double(max(1, samples))).squareRoot(), dose: fourth.squareRoot().squareRoot(),
            fourth: fourth)
    }
}
