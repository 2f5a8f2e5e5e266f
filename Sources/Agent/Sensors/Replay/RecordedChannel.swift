import MiniSEED

/// A channel of a recording, with the times of its first and last sample (ns of UTC).
public struct RecordedChannel: Sendable, Equatable {
    public var source: SourceIdentifier
    public var start: Int64
    public var end: Int64
}

/// Progress of a replay.
public struct ReplayProgress: Sendable, Equatable {
    /// Samples delivered in this pass of the file.
    public var read: Int
    /// Samples that one pass delivers.
    public var total: Int
}
