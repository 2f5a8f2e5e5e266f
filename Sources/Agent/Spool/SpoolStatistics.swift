import Messages

/// Contents of the spool, and what had to go.
public struct SpoolStatistics: Sendable, Equatable {
    /// Messages that wait for the broker, and their bytes (payload, topic and 64 for the rest).
    public internal(set) var messages = ClassCounts()
    public internal(set) var bytes = ClassCounts()
    /// When the oldest of them was made, nanoseconds of UTC; nil: none waits.
    public internal(set) var oldestMade: Int64?
    /// Messages dropped for want of room before the broker had them, since the file was begun: restarts do not reset it.
    public internal(set) var dropped = ClassCounts()
    /// Messages among these that the file had from before it was opened.
    public internal(set) var droppedBefore = ClassCounts()
    /// Messages of events that the broker has, or has refused, deleted because they were older than events are kept, and for
    /// want of room, since the file was begun.
    public internal(set) var deletedForAge = 0
    public internal(set) var deletedForRoom = 0
    /// Messages that could not be read back and were dropped, since the file was begun.
    public internal(set) var damaged = 0
    /// Pieces of the ring, ten minutes of levels or of vibration, and facts that could not be read back, since the file was begun.
    public internal(set) var damagedOthers = 0
    /// How often damage was found of which nobody knows what was lost by it, since the file was begun.
    public internal(set) var unknownLosses = 0
    /// How often an index did not agree with its table and was made again, since the start.
    public internal(set) var rebuiltIndices = 0
    /// Pages of the log that were found damaged at a start, since the file was begun.
    public internal(set) var damagedPages = 0
    /// Messages of events that the broker has, or has refused, and that are still here.
    public internal(set) var keptMessages = 0
    public internal(set) var keptBytes = 0
    /// Pieces of waveform in the ring, their bytes and the seconds they last.
    public internal(set) var ringSegments = 0
    public internal(set) var ringBytes = 0
    public internal(set) var ringSeconds = 0.0
    /// Bytes of the file, and of its log that have yet to be written back.
    public internal(set) var fileBytes = 0
    public internal(set) var logBytes = 0
    /// Bytes written to the log and from there to the file since it was opened.
    public internal(set) var bytesWritten = 0

    public init() {}
}
