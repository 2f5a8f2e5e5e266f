/// Quality of the samples' times.
public struct TimeQuality: Sendable, Equatable {
    public enum Source: String, Sendable, CaseIterable { case ntp, gps, ptp, free, replay }
    public var synced: Bool
    public var source: Source
    public var errorMs: Double?

    public init(synced: Bool, source: Source, errorMs: Double? = nil) {
        self.synced = synced
        self.source = source
        self.errorMs = errorMs
    }

    /// The times written in a recording.
    public static let replay = TimeQuality(synced: false, source: .replay)

    package func fields(_ f: inout some FieldVisitor) {
        f.flag("synced", synced, "Whether the clock follows its source.")
        f.choice(
            "source", source,
            "What the clock follows: `ntp` (any program that steers it), `gps` (pulses of a receiver), `ptp`; `free`: nothing; `replay`: the times are those of a recording."
        )
        f.number("error_ms", errorMs, unit: "ms", "Estimated error of the clock; left out when not known.")
    }
}
