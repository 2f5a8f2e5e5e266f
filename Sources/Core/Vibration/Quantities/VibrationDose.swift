/// Effect of a weighted acceleration on people in an interval: its root mean square, and the vibration dose value
/// (∫ a_w⁴ dt)^¼ (ISO 2631-1, BS 6472-1), m/s^1.75. Doses of several intervals add by their fourth powers.
///
/// The fourth power of a sine at a quarter of the rate has its own mean only at twice the rate: the dose is added up over samples
/// and the motion halfway between them, ``PeakInterpolation/reach`` samples later.
struct VibrationDose: Sendable {
    private let period: Double
    private let interpolation: PeakInterpolation
    private var squares = 0.0
    private var fourths = 0.0

    init(rate: Double, interpolation: PeakInterpolation) {
        (period, self.interpolation) = (1 / rate, interpolation)
    }

    mutating func process(_ weighted: UnsafePointer<Double>, from start: Int, count: Int) {
        var (squares, fourths) = (squares, fourths)
        for i in start..<start + count {
            squares += weighted[i] * weighted[i]
            let w = weighted + (i - PeakInterpolation.reach)
            let middle = interpolation.middle(w)
            let (a, b) = (w[0] * w[0], middle * middle)
            fourths += 0.5 * (a * a + b * b)
        }
        (self.squares, self.fourths) = (squares, fourths)
    }

    /// Ends an interval of so many samples.
    /// - Returns: root mean square, m/s².
    mutating func close(samples: Int) -> Double {
        defer { squares = 0 }
        return (squares / Double(max(1, samples))).squareRoot()
    }

    /// Ends it for the dose.
    /// - Returns: the dose to the power of four.
    mutating func closeDose() -> Double {
        defer { fourths = 0 }
        return fourths * period
    }
}

/// The plain sizes of one axis in an interval: root mean square of the velocity, largest displacement and acceleration. The
/// largest lie between samples, and are found ``PeakInterpolation/reach`` samples later.
struct MotionLevels: Sendable {
    private let interpolation: PeakInterpolation
    private var squares = 0.0
    /// mm, and m/s².
    private var displacement = 0.0
    private var acceleration = 0.0

    init(interpolation: PeakInterpolation) { self.interpolation = interpolation }

    mutating func process(_ signals: VibrationSignals, axis: Int, from start: Int, count: Int) {
        let plane = axis * signals.stride + start
        let v = signals.velocity + plane
        var squares = squares
        for i in 0..<count { squares += v[i] * v[i] }
        self.squares = squares
        displacement = largest(signals.displacement + plane, count, displacement)
        acceleration = largest(signals.acceleration + plane, count, acceleration)
    }

    private func largest(_ signal: UnsafePointer<Double>, _ count: Int, _ before: Double) -> Double {
        var largest = before
        for i in 0..<count {
            let s = signal + (i - PeakInterpolation.reach)
            let size = abs(s[0])
            guard size > 0.5 * largest else { continue }
            let isTop = size >= abs(s[-1]) && size >= abs(s[1])
            largest = max(largest, isTop ? interpolation.peak(s).value : size)
        }
        return largest
    }

    /// Ends an interval of so many samples.
    /// - Returns: root mean square of the velocity, mm/s.
    mutating func close(samples: Int) -> Double {
        defer { squares = 0 }
        return (squares / Double(max(1, samples))).squareRoot()
    }

    /// Ends it for what is found later.
    /// - Returns: mm and m/s².
    mutating func closePeaks() -> (displacement: Double, acceleration: Double) {
        defer { (displacement, acceleration) = (0, 0) }
        return (displacement, acceleration)
    }
}
