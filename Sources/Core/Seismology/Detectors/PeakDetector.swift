import SignalProcessing

extension DetectionConfiguration {
    public var peak: Peak {
        get { self[Peak.self] }
        set { self[Peak.self] = newValue }
    }

    public struct Peak: DetectorSettings {
        public static let name = "peak"
        public static let title = "Peak"
        #if !hasFeature(Embedded)
        public static let fields: [DetectorField<Self>] = [
            .init(
                "enabled", .flag(\.enabled),
                title: "Peak detector",
                "Detection by a single sample of the acceleration (offset removed, not filtered)."),
            .init(
                "threshold", .acceleration(\.threshold, .from(0, to: 2000)), written: "5 mg",
                title: "Peak threshold", advanced: true, "On while the acceleration is greater than this."),
            .init(
                "signal", .choice(\.signal), title: "Peak signal", advanced: true,
                "Each axis for itself, one axis, the horizontal vector or the 3-D vector."),
            .init(
                "min_samples", .count(\.minimumSamples, 1...1000), title: "Minimum samples", advanced: true,
                "On when so many samples in a row are above the threshold: with 2 or more, a spike of one does not count."
            ),
        ]
        #endif

        public var enabled = false
        /// m/s².
        public var threshold = 5e-3 * standardGravity
        public var signal = DetectorSignal.h
        public var minimumSamples = 1

        public init() {}

        public var chosenSignal: DetectorSignal? { signal }
    }
}

/// On at every sample whose acceleration exceeds a threshold, from the first or a later one in a row.
struct PeakDetector: Sendable {
    /// m/s².
    let threshold: Double
    let signal: DetectorSignal
    private let minimumSamples: Int
    /// Samples in a row that exceed the threshold, as far as they are needed.
    private var row = 0

    init(threshold: Double, signal: DetectorSignal, minimumSamples: Int = 1) {
        self.threshold = threshold
        self.signal = signal
        self.minimumSamples = minimumSamples
    }

    /// Which components exceed it, and the largest of them in m/s².
    ///
    /// - Returns: bits 0, 1, 2 for x, y, z; all that make it up for a vector; 0 when it is off.
    func step(_ x: Double, _ y: Double, _ z: Double) -> (axes: UInt8, value: Double) {
        let value: Double
        let axes: UInt8
        switch signal {
        case .x: (value, axes) = (abs(x), 1)
        case .y: (value, axes) = (abs(y), 2)
        case .z: (value, axes) = (abs(z), 4)
        case .h: (value, axes) = ((x * x + y * y).squareRoot(), 3)
        case .v3: (value, axes) = ((x * x + y * y + z * z).squareRoot(), 7)
        case .each:
            value = max(abs(x), abs(y), abs(z))
            axes = (abs(x) > threshold ? 1 : 0) | (abs(y) > threshold ? 2 : 0) | (abs(z) > threshold ? 4 : 0)
        }
        return (value > threshold ? axes : 0, value)
    }
}

extension PeakDetector {
    /// The components of the next sample, once enough in a row exceed the threshold; else 0.
    mutating func held(_ axes: UInt8) -> UInt8 {
        row = axes == 0 ? 0 : min(row + 1, minimumSamples)
        return row == minimumSamples ? axes : 0
    }
}

extension PeakDetector: Detector {
    public init(_ settings: DetectionConfiguration.Peak, _ context: DetectorContext) {
        self.init(
            threshold: settings.threshold, signal: settings.signal, minimumSamples: settings.minimumSamples)
    }

    public mutating func process(_ chunk: DetectorChunk, _ result: DetectorResult) {
        let (x, s) = (chunk.offsetRemoved, chunk.stride)
        for i in 0..<chunk.count {
            let (axes, value) = step(x[i], x[s + i], x[2 * s + i])
            (result.axes[i], result.values[i]) = (held(axes), value)
        }
    }

    public mutating func reset() { row = 0 }

    public mutating func takeOver(_ old: PeakDetector, inputGoesOn: Bool) {
        guard (threshold, signal, minimumSamples) == (old.threshold, old.signal, old.minimumSamples) else {
            return
        }
        row = old.row
    }

    public mutating func reading(_ result: DetectorResult, at i: Int) -> DetectorReading {
        DetectorReading(axes: result.axes[i], value: result.values[i], threshold: threshold)
    }
}
