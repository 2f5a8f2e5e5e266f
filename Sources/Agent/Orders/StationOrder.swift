import Settings

/// Something that a command asks of the threads that sample and store. Given by the main thread with a number of its
/// own, answered by an ``OrderOutcome`` of that number; none is ever left without.
enum StationOrder: Sendable {
    /// Other settings into force at the next border of a block; `reopens`: the sensor is opened anew with them.
    indirect case reconfigure(Configuration, revision: Int, reopens: Bool)
    case resetExtremes
    /// An event as if the ground had shaken, `test: true` in all its messages.
    case testEvent
    /// At rest, for so many seconds: offset, noise and 1 g.
    case calibrate(seconds: Double)
    /// The chip's own; the stream has a gap while it runs.
    case selfTest
    /// Other traces for a while, beside those of the settings, on `data/stream`; one such set at a time.
    case stream(TraceConfiguration, seconds: Double)
    /// Ends such traces before their time.
    case endStream
    /// What the waveform ring has between two times (ns of UTC), as miniSEED on `topic`. For the storage thread; all others
    /// are for the one that samples.
    case snapshot(from: Int64, to: Int64, topic: String)
}
