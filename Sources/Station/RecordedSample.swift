import Seismology

/// One sample with everything that is known of it.
struct RecordedSample {
    /// Number since the start of the agent; rises by more than one over a gap.
    var index: Int64
    /// Nanoseconds of UTC.
    var time: Int64
    var motion: MotionSample
    var rms: (x: Double, y: Double, z: Double)
    /// STA/LTA; zeros when it is off.
    var ratios: Ratios
    /// Bits 0, 1, 2: x, y, z.
    var triggeredAxes: UInt8
    var clipped: Bool
}
