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
