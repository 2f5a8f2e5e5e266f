import Seismology

/// One sample with everything that is known of it.
struct RecordedSample {
    /// Number since the start of the agent; rises by more than one over a gap.
    var index: Int64
    /// Nanoseconds of UTC.
    var time: Int64
    var motion: MotionSample
    var rms: (x: Double, y: Double, z: Double)
    var clipped: Bool
}
