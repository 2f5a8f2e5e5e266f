/// Where the spool is and how much it may hold.
public struct SpoolOptions: Sendable, Equatable {
    /// Folder; made when it is not there, its parent has to be.
    public var directory: String
    /// Bytes of the file and its log together, at least `leastBudget`.
    public var budgetBytes: Int
    /// Seconds of waveform that the ring keeps; 0: no ring.
    public var ringSeconds: Double
    /// Seconds that events are kept, once the broker has them; only the time counts in which the spool was open.
    public var keepEventsSeconds: Double

    /// Seconds that intervals of vibration are kept; only the time counts in which the spool was open.
    public var keepVibrationSeconds: Double

    /// Smaller budgets count as this.
    public static let leastBudget = 8_000_000

    public init(
        directory: String, budgetBytes: Int = 512_000_000, ringSeconds: Double = 3600,
        keepEventsSeconds: Double = 30 * 86_400, keepVibrationSeconds: Double = 400 * 86_400
    ) {
        self.directory = directory
        self.budgetBytes = budgetBytes
        self.ringSeconds = ringSeconds
        self.keepEventsSeconds = keepEventsSeconds
        self.keepVibrationSeconds = keepVibrationSeconds
    }

    /// Pages that the file may use: the budget without the log, which may be `Database.guardPages` long.
    var pages: Int { max(budgetBytes, Self.leastBudget) / Database.pageBytes - Database.guardPages }
    /// The ring is never larger than this, in bytes.
    var ringBytes: Int { pages * Database.pageBytes / 4 }
    /// Intervals of vibration are never more than this, in bytes.
    var vibrationBytes: Int { pages * Database.pageBytes / 4 }
    /// Nanoseconds, at most 292 years.
    var keepEvents: Int64 { Int64(max(0, min(keepEventsSeconds, 9e9)) * 1e9) }
}
