/// First members of every JSON object of the agent.
package struct Envelope {
    /// Nil: the object has a description of the station under this name.
    var station: String?
    /// UUID of this run.
    var boot: String
    var number: Int
    /// Nanoseconds of UTC.
    var time: Int64
    /// Quality of the times, in messages that are made of samples.
    var quality: TimeQuality?

    package init(station: String?, boot: String, number: Int, time: Int64, quality: TimeQuality?) {
        (self.station, self.boot, self.number) = (station, boot, number)
        (self.time, self.quality) = (time, quality)
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.integer("v", 1, "Version of the format.")
        f.text("station", station, "Id of the station; in `state/info` an object that describes it.")
        f.text("boot", boot, "UUID of this run of the agent.")
        f.integer("seq", number, "Counts the messages of this kind since the start, from 0.")
        f.time("t", time, "The time that the content refers to; for a block of samples, of the first one.")
        guard let quality else { return }
        f.object("tq", quality, "How good the times are.") { $0.fields(&$1) }
    }
}

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
