import SignalProcessing

extension DetectionConfiguration {
    public var level: Level {
        get { self[Level.self] }
        set { self[Level.self] = newValue }
    }

    /// Which axes; the level itself is a setting of each axis, since its trigger is a signal too.
    public struct Level: DetectorSettings {
        /// Which axes must be triggered for the detector to be on.
        public enum Axes: String, Sendable, CaseIterable { case x, y, z, any, two, all }

        public static let name = "level"
        public static let title = "Level"
        #if !hasFeature(Embedded)
        public static let fields: [DetectorField<Self>] = [
            .init(
                "enabled", .flag(\.enabled), title: "Level detector",
                "Detection by the level of each axis (see axes.all.detection)."),
            .init(
                "axes", .choice(\.axes), title: "Axes that must trigger", advanced: true,
                "Which axes must be triggered: one axis, any, two of the three, or all."),
            .init(
                "spike_guard", .flag(\.spikeGuard), title: "Spike guard", advanced: true,
                "Spikes of a single sample alone are no trigger: the RMS must exceed the threshold without them as well. "
                    + "The hold must be 2 samples or more for it."),
        ]
        #endif

        public var enabled = true
        public var axes = Axes.any
        public var spikeGuard = true

        public init() {}
    }
}

extension DetectionConfiguration.Level.Axes {
    /// Whether the detector is on when these axes (bits 0, 1, 2) are triggered.
    public func holds(_ bits: UInt8) -> Bool {
        switch self {
        case .x: bits & 1 != 0
        case .y: bits & 2 != 0
        case .z: bits & 4 != 0
        case .any: bits != 0
        case .two: bits.nonzeroBitCount >= 2
        case .all: bits == 7
        }
    }
}

/// On while enough axes are triggered, by more than spikes of a single sample.
struct AxesDetector: Detector {
    private let rule: DetectionConfiguration.Level.Axes
    private let thresholds: (x: Double, y: Double, z: Double)
    private var guarding: SpikeGuard?

    init(_ settings: DetectionConfiguration.Level, _ context: DetectorContext) {
        (rule, thresholds) = (settings.axes, context.thresholds)
        guard settings.spikeGuard, let levels = context.levels else { return }
        guarding = SpikeGuard(levels, rate: context.rate, thresholds: thresholds)
    }

    mutating func takeOver(_ old: AxesDetector, inputGoesOn: Bool) {
        guard inputGoesOn, let before = old.guarding, guarding?.isLike(before) == true else { return }
        guarding = before
    }

    mutating func reset() { guarding?.reset() }

    mutating func process(_ chunk: DetectorChunk, _ result: DetectorResult) {
        let (t, s, axes) = (chunk.triggered, chunk.stride, result.axes)
        var any: UInt8 = 0
        for i in 0..<chunk.count {
            let bits = t[i] | t[s + i] << 1 | t[2 * s + i] << 2
            axes[i] = bits
            any |= bits
        }
        guarding?.process(chunk, axes)
        guard any != 0 else { return }
        for i in 0..<chunk.count where axes[i] != 0 {
            if !rule.holds(axes[i] & Self.settled(i, chunk.axisValidFrom)) { axes[i] = 0 }
            var best = -1.0
            func look(_ plane: Int, _ threshold: Double) {
                guard axes[i] >> UInt8(plane) & 1 != 0 else { return }
                let value = chunk.rms[plane * s + i]
                guard value / threshold > best else { return }
                best = value / threshold
                (result.values[i], result.values[s + i]) = (value, threshold)
            }
            look(0, thresholds.x)
            look(1, thresholds.y)
            look(2, thresholds.z)
        }
    }

    /// The axes whose filter has settled by a sample of the chunk.
    private static func settled(_ i: Int, _ from: (x: Int, y: Int, z: Int)) -> UInt8 {
        (i < from.x ? 0 : 1) | (i < from.y ? 0 : 2) | (i < from.z ? 0 : 4)
    }

    /// The RMS, and its threshold, that is furthest above it among the triggered axes.
    mutating func reading(_ result: DetectorResult, at i: Int) -> DetectorReading {
        DetectorReading(axes: result.axes[i], value: result.values[i], threshold: result.values[result.stride + i])
    }
}

/// Shake's rule on the RMS of one axis: a sample is above when RMS > threshold; triggered from the sample that makes
/// `hold` contiguous ones above, off (and the count zero) at the first that is not.
public struct LevelDetector: Sendable {
    /// m/s².
    public let threshold: Double
    /// Samples, at least 1.
    public let hold: Int
    private var above = 0

    public init(threshold: Double, hold: Int) {
        self.threshold = threshold
        self.hold = max(1, hold)
    }

    public mutating func reset() { above = 0 }

    /// Goes on from where a detector of the same settings is; one of others leaves it at its start.
    public mutating func takeOver(_ old: LevelDetector) {
        if old.threshold == threshold, old.hold == hold { above = old.above }
    }

    /// The state at the next sample, from its RMS in m/s².
    public mutating func step(_ rms: Double) -> Bool {
        guard rms > threshold else {
            above = 0
            return false
        }
        if above < hold { above += 1 }
        return above >= hold
    }

    /// The state at each of `count` samples, as 1 and 0.
    public mutating func process(
        _ rms: UnsafePointer<Double>, _ triggered: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        for i in 0..<count { triggered[i] = step(rms[i]) ? 1 : 0 }
    }
}
