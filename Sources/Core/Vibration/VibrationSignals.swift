/// What quantities are made of: the signals of a chunk, each three planes, `stride` apart.
struct VibrationSignals {
    /// Samples of a chunk at most.
    static let capacity = 128
    /// Samples before the chunk whose velocity is still there.
    static let history = 16

    var stride: Int
    /// In the band, m/s².
    var acceleration: UnsafePointer<Double>
    /// mm/s; from -``history`` on.
    var velocity: UnsafePointer<Double>
    /// mm.
    var displacement: UnsafePointer<Double>
    /// Velocity as it is felt in buildings, mm/s.
    var felt: UnsafePointer<Double>
    /// Acceleration with the weighting of each axis, m/s².
    var weighted: UnsafePointer<Double>
    /// Nanoseconds of UTC of each sample.
    var times: UnsafePointer<Int64>
}
