/// A movement of the sensor as a whole, and its direction (Allen and Appelcline, iPhone in Action, 2008).
///
/// Begins when the acceleration of any axis exceeds the threshold, ends when those of all have been within it for the
/// lull. To start moving takes a force, to stop takes the opposite one, which is often the larger: so the direction is
/// that of the largest force, unless the first force on the same axis was the other way and nearly as large.
public struct MovementDetector: Sendable {
    /// How much smaller than the largest the first force may be and still give the direction.
    public static let tolerance = 0.3

    /// One axis since the movement began, m/s².
    private struct Force: Sendable {
        /// Largest by magnitude, with its sign.
        var largest = 0.0
        /// Largest of the first push: from the first sample beyond the threshold to the end of that sign.
        var first = 0.0
        var firstIsOver = false

        mutating func take(_ a: Double, _ threshold: Double) {
            if abs(a) > abs(largest) { largest = a }
            if first == 0 {
                if abs(a) > threshold { first = a }
            } else if !firstIsOver {
                if (a < 0) != (first < 0) { firstIsOver = true } else if abs(a) > abs(first) { first = a }
            }
        }

        /// The sign of the movement on this axis.
        var isNegative: Bool {
            let opposite = (first < 0) != (largest < 0)
            let close = abs(first) >= (1 - MovementDetector.tolerance) * abs(largest)
            return first != 0 && opposite && close ? first < 0 : largest < 0
        }
    }

    /// m/s².
    public let threshold: Double
    /// Samples, at least 1.
    public let lull: Int
    private var x = Force()
    private var y = Force()
    private var z = Force()
    /// Samples since the last one beyond the threshold; nil at rest.
    private var quiet: Int?

    public init(threshold: Double, lull: Int) {
        self.threshold = threshold
        self.lull = max(1, lull)
    }

    public mutating func reset() { quiet = nil }

    /// Largest acceleration of each axis in the present or last movement, with its sign, m/s².
    public var largest: (x: Double, y: Double, z: Double) { (x.largest, y.largest, z.largest) }

    /// Axis (0, 1, 2) and sign of the present or last movement.
    public var direction: (axis: Int, isNegative: Bool) {
        let axis = largestAxis(largest)
        return (axis, axis == 0 ? x.isNegative : axis == 1 ? y.isNegative : z.isNegative)
    }

    /// The next sample, m/s²; true while there is a movement.
    public mutating func step(_ ax: Double, _ ay: Double, _ az: Double) -> Bool {
        let beyond = max(abs(ax), abs(ay), abs(az)) > threshold
        if beyond {
            if quiet == nil { (x, y, z) = (Force(), Force(), Force()) }
            quiet = 0
        } else {
            guard let still = quiet else { return false }
            guard still + 1 < lull else {
                quiet = nil
                return false
            }
            quiet = still + 1
        }
        x.take(ax, threshold)
        y.take(ay, threshold)
        z.take(az, threshold)
        return true
    }
}
