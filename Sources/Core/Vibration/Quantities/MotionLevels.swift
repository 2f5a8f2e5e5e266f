/// The plain sizes of one axis in an interval: root mean square of the velocity, largest displacement and acceleration.
struct MotionLevels: Sendable {
    struct Result: Sendable, Equatable {
        /// mm/s.
        var rms = 0.0
        /// mm.
        var displacement = 0.0
        /// m/s².
        var acceleration = 0.0
    }

    private var squares = 0.0
    private var present = Result()

    mutating func process(_ signals: VibrationSignals, axis: Int, from start: Int, count: Int) {
        let plane = axis * signals.stride + start
        let (v, d, a) = (signals.velocity + plane, signals.displacement + plane, signals.acceleration + plane)
        var (squares, displacement, acceleration) = (squares, present.displacement, present.acceleration)
        for i in 0..<count {
            squares += v[i] * v[i]
            displacement = max(displacement, abs(d[i]))
            acceleration = max(acceleration, abs(a[i]))
        }
        self.squares = squares
        (present.displacement, present.acceleration) = (displacement, acceleration)
    }

    /// Ends an interval of so many samples.
    mutating func close(samples: Int) -> Result {
        defer { self = MotionLevels() }
        var result = present
        result.rms = (squares / Double(max(1, samples))).squareRoot()
        return result
    }
}
