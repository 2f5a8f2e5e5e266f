import SignalProcessing

extension DetectionConfiguration {
    public var movement: Movement {
        get { self[Movement.self] }
        set { self[Movement.self] = newValue }
    }

    public struct Movement: DetectorSettings {
        public static let name = "movement"
        public static let title = "Movement"
        #if !hasFeature(Embedded)
        public static let fields: [DetectorField<Self>] = [
            .init(
                "enabled", .flag(\.enabled),
                title: "Movement detector", advanced: true,
                "Detection of a movement of the sensor itself, with its direction (offset removed, not filtered)."),
            .init(
                "threshold", .acceleration(\.threshold, .from(0, to: 2000)), written: "0.3 g",
                title: "Movement threshold", advanced: true,
                "A movement begins when the acceleration of any axis is greater than this."),
            .init(
                "lull_s", .time(\.lull, .above(0, to: 60)),
                title: "Movement lull", advanced: true,
                "A movement ends when no axis has been above the threshold for this long."),
        ]
        #endif

        public var enabled = false
        /// m/s².
        public var threshold = 0.3 * standardGravity
        /// Seconds.
        public var lull = 0.1

        public init() {}
    }
}

/// A movement of the sensor as a whole, and its direction (Allen and Appelcline, iPhone in Action, 2008).
///
/// Begins when the acceleration of any axis exceeds the threshold, ends when those of all have been within it for the
/// lull. To start moving takes a force, to stop takes the opposite one, which is often the larger: so the direction is
/// that of the largest force, unless the first force on the same axis was the other way and nearly as large.
struct MovementDetector: Sendable {
    /// How much smaller than the largest the first force may be and still give the direction.
    static let tolerance = 0.3

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
    let threshold: Double
    /// Samples, at least 1.
    let lull: Int
    private var x = Force()
    private var y = Force()
    private var z = Force()
    /// Samples since the last one beyond the threshold; nil at rest.
    private var quiet: Int?

    init(threshold: Double, lull: Int) {
        self.threshold = threshold
        self.lull = max(1, lull)
    }

    mutating func reset() { quiet = nil }

    /// Largest acceleration of each axis in the present or last movement, with its sign, m/s².
    var largest: (x: Double, y: Double, z: Double) { (x.largest, y.largest, z.largest) }

    /// Axis (0, 1, 2) and sign of the present or last movement.
    var direction: (axis: Int, isNegative: Bool) {
        let axis = largestAxis(largest)
        return (axis, axis == 0 ? x.isNegative : axis == 1 ? y.isNegative : z.isNegative)
    }

    /// The next sample, m/s²; true while there is a movement.
    mutating func step(_ ax: Double, _ ay: Double, _ az: Double) -> Bool {
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

extension MovementDetector: Detector {
    /// In the axes of the result, beside the bit of the movement's axis: its direction is the negative one.
    private static let negative: UInt8 = 1 << 7

    public init(_ settings: DetectionConfiguration.Movement, _ context: DetectorContext) {
        self.init(
            threshold: settings.threshold, lull: WindowLength.seconds(settings.lull).samples(at: context.rate))
    }

    public mutating func takeOver(_ old: MovementDetector, inputGoesOn: Bool) {
        if threshold == old.threshold, lull == old.lull { self = old }
    }

    public mutating func process(_ chunk: DetectorChunk, _ result: DetectorResult) {
        let (a, s) = (chunk.offsetRemoved, chunk.stride)
        let (x, y, z) = (result.values, result.values + s, result.values + 2 * s)
        var i = max(0, chunk.validFrom)
        while i < chunk.count {
            result.axes[i] = 0
            if step(a[i], a[s + i], a[2 * s + i]) {
                let (axis, isNegative) = direction
                result.axes[i] = 1 << UInt8(axis) | (isNegative ? Self.negative : 0)
                (x[i], y[i], z[i]) = largest
            }
            i += 1
        }
    }

    public mutating func reading(_ result: DetectorResult, at i: Int) -> DetectorReading {
        let (bits, values, s) = (result.axes[i], result.values + i, result.stride)
        let axes = bits & ~Self.negative
        let peaks = (x: values[0], y: values[s], z: values[2 * s])
        return DetectorReading(
            axes: axes, value: max(abs(peaks.x), abs(peaks.y), abs(peaks.z)), threshold: threshold,
            movement: .init(axis: axes.trailingZeroBitCount, isNegative: bits & Self.negative != 0, peaks: peaks))
    }
}
