/// Progress and outcome of an update (`state/update`), as the updater reports it.
public struct UpdateMessage: Sendable, Equatable {
    public enum Phase: String, Sendable, CaseIterable {
        case requested, fetching, waiting, installing, watching, confirming, returning
        case updated, returned, refused, failed

        /// True for a phase that ends the update.
        public var isEnd: Bool {
            switch self {
            case .updated, .returned, .refused, .failed: true
            default: false
            }
        }

        /// Progress of an update, in percent.
        public var percent: Int? {
            switch self {
            case .requested: 0
            case .fetching: 10
            case .waiting: 30
            case .installing: 40
            case .watching: 60
            case .confirming: 80
            case .returning: 90
            default: nil
            }
        }
    }

    public var phase: Phase
    /// Nanoseconds of UTC.
    public var since: Int64
    /// Id of the command.
    public var id: String?
    public var version: String?
    public var from: String?
    public var installed: String?
    /// Nanoseconds of UTC.
    public var until: Int64?
    public var reason: String?

    /// Numbers of updates that have ended at this station, by their end.
    public struct Counts: Sendable, Equatable {
        public var updated: Int
        public var returned: Int
        public var refused: Int
        public var failed: Int

        public init(updated: Int = 0, returned: Int = 0, refused: Int = 0, failed: Int = 0) {
            (self.updated, self.returned, self.refused, self.failed) = (updated, returned, refused, failed)
        }
    }
    public var ended: Counts?

    public init(phase: Phase, since: Int64) { (self.phase, self.since) = (phase, since) }

    package func fields(_ f: inout some FieldVisitor) {
        f.choice(
            "phase", phase,
            "Where it stands. `updated`, `returned` (the version before is back), `refused` (nothing was changed) and `failed` (neither version could be put in place) are ends."
        )
        f.time("since", since, "Since when.")
        f.text("id", id, "The member `id` of the command.")
        f.text("version", version, "The version that was asked for.")
        f.text("from", from, "The version before.")
        f.text("installed", installed, "The version of the Debian package that is installed.")
        f.integer("progress_pct", phase.percent, unit: "%", "How much of it is done; left out at its end.")
        f.time("until", until, "When it goes back unless it has worked and was confirmed.")
        f.text("reason", reason, "Why it was refused, or went back.")
        f.object(
            "ended", ended, blank: Counts(),
            "How many updates have ended so at this station, of those that its updater has begun or refused."
        ) { counts, f in
            f.integer("updated", counts.updated, "With the new version.")
            f.integer("returned", counts.returned, "With the version before.")
            f.integer("refused", counts.refused, "Without any change.")
            f.integer("failed", counts.failed, "With neither.")
        }
    }
}
