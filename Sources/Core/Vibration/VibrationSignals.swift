/// Signals of a chunk, from which the quantities are computed: each three planes, `stride` apart, from -``history`` on.
struct VibrationSignals {
    /// Samples of a chunk at most.
    static let capacity = 128
    /// Samples before the chunk that are still there.
    static let history = 16

    var stride: Int
    /// In the band, m/s².
    var acceleration: UnsafePointer<Double>
    /// mm/s.
    var velocity: UnsafePointer<Double>
    /// mm.
    var displacement: UnsafePointer<Double>
    /// Velocity as it is felt in buildings, mm/s.
    var felt: UnsafePointer<Double>
    /// Acceleration with the weighting of each axis, m/s².
    var weighted: UnsafePointer<Double>
    /// The velocity ``PeakInterpolation/reach`` samples before each, from -1 to one behind the last: its squared vector sum, and
    /// which axis moves most.
    var sums: UnsafePointer<Double>
    var leads: UnsafePointer<Double>
    /// Nanoseconds of UTC of each sample.
    var times: UnsafePointer<Int64>
}
