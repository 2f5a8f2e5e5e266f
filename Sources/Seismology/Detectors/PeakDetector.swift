/// On at every sample whose acceleration exceeds a threshold.
public struct PeakDetector: Sendable {
    /// m/s².
    public let threshold: Double
    public let signal: DetectorSignal

    public init(threshold: Double, signal: DetectorSignal) {
        self.threshold = threshold
        self.signal = signal
    }

    /// Which components exceed it, and the largest of them in m/s².
    ///
    /// - Returns: bits 0, 1, 2 for x, y, z; all that make it up for a vector; 0 when it is off.
    public func step(_ x: Double, _ y: Double, _ z: Double) -> (axes: UInt8, value: Double) {
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
