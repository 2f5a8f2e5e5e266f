import Commands
import Messages
import Settings

/// Something that a command asks of the threads that sample and store. Given by the main thread with a number of its
/// own, answered by an ``OrderOutcome`` of that number; none is ever left without.
enum StationOrder: Sendable {
    /// Finds out whether other settings can come into force, and has no effect but one: with `reopens` the sensor is closed
    /// and opened anew with them, since only that shows what it can do. No samples come then until `commit` or `abandon`;
    /// the gap is declared. A sensor that is not found is no obstacle: it may still come.
    indirect case prepare(Configuration, revision: Int, reopens: Bool)
    /// Settings come into force at the next border of a block: these or, with nil, what was prepared last. Cannot fail.
    indirect case commit(PreparedSettings?)
    /// What was prepared last does not; a sensor that was opened for it is opened as before.
    case abandon
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
    /// What a network of stations says of an event; the storage thread has it beside the event.
    indirect case confirm(EventConfirmation)
    // For the thread that owns the alarm's line.
    /// Ends an alarm or a test.
    case silence
    /// Plays a pattern of 0 and 1, each for so long (ns).
    case alarmTest(String, step: Int64)
    /// What the waveform ring has between two times (ns of UTC), as miniSEED on `topic`. For the storage thread, as the
    /// next one; those above it but for the alarm's are for the one that samples.
    case snapshot(from: Int64, to: Int64, topic: String)
    /// - room: bytes that the result may have; nil: any number.
    indirect case stored(StoredQuery, room: Int? = nil)
}

extension StationOrder {
    /// Of a change of the settings that is under way.
    var endsAChange: Bool {
        switch self {
        case .commit, .abandon: true
        default: false
        }
    }
}
