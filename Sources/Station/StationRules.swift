import Seismology
import Settings
import SignalProcessing

/// What the settings say of single samples: which detectors count, and when.
struct StationRules: Sendable {
    let levelEnabled: Bool
    let levelAxes: DetectionConfiguration.Level.Axes
    let peak: PeakDetector?
    var movement: MovementDetector?
    /// Samples after a start or a gap whose numbers are not to be trusted.
    let settleSamples: Int
    let traceEnabled: Bool

    init(_ configuration: Configuration, _ path: SignalPath, rate: Double) {
        let detection = configuration.detection
        levelEnabled = detection.level.enabled
        levelAxes = detection.level.axes
        peak = detection.peak.enabled ? .init(threshold: detection.peak.threshold, signal: detection.peak.signal) : nil
        movement =
            detection.movement.enabled
            ? .init(
                threshold: detection.movement.threshold,
                lull: WindowLength.seconds(detection.movement.lull).samples(at: rate)) : nil
        let settle = configuration.conditioning.settle ?? max(1, path.settlingTime)
        // An average with a tiny share of the new never settles.
        settleSamples = max(Int(min(settle * rate, 1e15).rounded()), path.holdBack)
        traceEnabled = configuration.trace.enabled
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
