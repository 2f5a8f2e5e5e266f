/// How good the times of the samples are.
public struct TimeQuality: Sendable, Equatable {
    public enum Source: String, Sendable, CaseIterable { case ntp, gps, ptp, free, replay }
    /// True when the clock follows its source.
    public var synced: Bool
    public var source: Source
    /// Estimated error in milliseconds; nil, and left out of the message, when not known.
    public var errorMs: Double?

    public init(synced: Bool, source: Source, errorMs: Double? = nil) {
        self.synced = synced
        self.source = source
        self.errorMs = errorMs
    }

    /// The times written in a recording.
    public static let replay = TimeQuality(synced: false, source: .replay)

    func write(to writer: inout some ObjectWriter) {
        writer.beginObject()
        writer.key("synced")
        writer.bool(synced)
        writer.key("source")
        writer.string(source.rawValue)
        writer.optional("error_ms", errorMs)
        writer.endObject()
    }
}
