import Instruments
import Values

/// State of the agent (`state/health`).
public struct HealthMessage: Sendable, Equatable {
    public enum SensorState: String, Sendable, CaseIterable { case ok, settling, stalled, missing, fault }

    /// Messages that wait for the broker.
    public struct Outbox: Sendable, Equatable {
        public var messages = 0
        public var bytes = 0
        /// Seconds.
        public var oldest = 0.0
        public var dropped = ClassCounts()
        /// Messages of delivered events that were deleted for their age.
        public var deletedForAge = 0
        public var deletedForRoom = 0
        public init() {}
    }

    /// Since the start.
    public struct MQTT: Sendable, Equatable {
        public var connects = 0
        public var published = 0
        public var acked = 0
        public var replaced = 0
        public var refused: [NamedCount] = []
        public var rejectedCommands = 0
        public init() {}
    }

    /// The station's use of the network's events, since the start.
    public struct Warnings: Sendable, Equatable {
        public var issued = 0
        public var alarms = 0
        public var refused: [NamedCount] = []
        public init() {}
    }

    public var sensor: SensorState
    public var rate: Double?
    public var rateErrorPpm: Double?
    public var rateUncertaintyPpm: Double?
    public var samples = 0
    public var gaps = 0
    public var lostSamples = 0
    public var clipped = 0
    public var time: TimeQuality
    public var outbox = Outbox()
    public var mqtt = MQTT()
    /// Nil while `alarm.network.enabled` is off.
    public var warnings: Warnings?
    /// Nil where there is no hardware.
    public var driver: SensorCondition?
    public var loopLateMs: Double?
    public var cpuPercent: Double?
    public var rssBytes: Int?
    /// Temperature of the chip.
    public var temperature: Double?
    public var hostTemperature: Double?
    public var uptime = 0.0
    public var alerts: [String] = []

    public init(sensor: SensorState, time: TimeQuality) {
        self.sensor = sensor
        self.time = time
    }

    /// The object without its envelope, for a reply.
    public func json() -> [UInt8] { JSONWriter.object { fields(&$0) } }

    package func fields(_ f: inout some FieldVisitor) {
        f.choice("sensor", sensor, "How the sensor is.")
        f.number("rate_hz", rate, unit: "Hz", "Measured samples per second.")
        f.number("rate_error_ppm", rateErrorPpm, unit: "ppm", "Difference of the measured rate from the nominal one.")
        f.number("rate_uncertainty_ppm", rateUncertaintyPpm, unit: "ppm", "Standard uncertainty of the measured rate.")
        f.integer("samples", samples, "Samples since the start.")
        f.integer("gaps", gaps, "Gaps since the start.")
        f.integer("lost_samples", lostSamples, "Samples missing in them.")
        f.integer("clipped", clipped, "Samples at the sensor's full scale since the start.")
        f.object("time", time, "How good the times of the samples are.") { $0.fields(&$1) }
        f.object("outbox", outbox, "Messages waiting for the broker.") { $0.fields(&$1) }
        f.object("mqtt", mqtt, "Traffic with the broker since the start.") { $0.fields(&$1) }
        f.object(
            "warnings", warnings, blank: Warnings(),
            "The network's events since the start; left out while `alarm.network.enabled` is off."
        ) { $0.fields(&$1) }
        f.object(
            "driver", driver, blank: SensorCondition(),
            "What the driver has counted since the sensor was opened; left out where there is no hardware."
        ) { $0.fields(&$1) }
        f.number(
            "loop_late_ms", loopLateMs, unit: "ms", "Worst lateness of the sampling loop since the message before.")
        f.number("cpu_pct", cpuPercent, unit: "%", "Processor time since the message before, in percent of one core.")
        f.integer("rss_bytes", rssBytes, unit: "B", "Memory in use.")
        f.number(
            "temperature_c", temperature, unit: "Cel", "Temperature of the sensor's chip, for chips that measure it.")
        f.number(
            "host_temperature_c", hostTemperature, unit: "Cel",
            "Temperature of the board, of the hottest zone that the kernel measures; left out where it measures none.")
        f.number("uptime_s", uptime, unit: "s", "Time since the agent was started.")
        f.texts("alerts", alerts, "Codes of the active alerts.")
    }
}

extension HealthMessage.Outbox {
    package func fields(_ f: inout some FieldVisitor) {
        f.integer("messages", messages, "Messages waiting, in memory and on disk.")
        f.integer("bytes", bytes, unit: "B", "Their size.")
        f.number("oldest_s", oldest, unit: "s", "Age of the oldest one.")
        f.object("dropped", dropped, "Messages lost since the start, by priority.") { $0.fields(&$1) }
        f.integer(
            "deleted_age", deletedForAge,
            "Messages of delivered events deleted because they were older than `storage.keep_events_days`, since the database was created."
        )
        f.integer(
            "deleted_room", deletedForRoom,
            "Messages of delivered events deleted for want of room, since the database was created.")
    }
}

extension ClassCounts {
    package func fields(_ f: inout some FieldVisitor) {
        f.integer("essential", essential, "State, replies, events and their waveforms.")
        f.integer("state", state, "Summaries and health.")
        f.integer("trace", trace, "Traces.")
    }
}

extension HealthMessage.MQTT {
    package func fields(_ f: inout some FieldVisitor) {
        f.integer("connects", connects, "Connections made.")
        f.integer("published", published, "Messages sent.")
        f.integer("acked", acked, "Messages that the broker has acknowledged.")
        f.integer(
            "replaced", replaced,
            "Retained values that a newer one replaced before they could be sent. Of such a report `seq` is missing.")
        f.visit(
            Field("refused", "Messages refused, by the broker's reason; also `too_large` and `connection_broken`."),
            refused)
        f.integer("rejected_commands", rejectedCommands, "Commands refused by the station.")
    }
}

extension HealthMessage.Warnings {
    package func fields(_ f: inout some FieldVisitor) {
        f.integer("issued", issued, "Events of the network that `event/warning` told of.")
        f.integer("alarms", alarms, "How often one of them asked for the alarm line.")
        f.visit(
            Field(
                "refused",
                """
                Messages that no warning was made of, by reason: `topic`, `retained`, `unreadable`, `clock` (theirs or \
                ours), `old`, `place`, `stations`, `magnitude`, `disputed`, `class`, `distance`, `passed` (S has been \
                here), `many` (events at a time), `crowded` (messages at once, of which the newest eight count).
                """), refused)
    }
}

extension SensorCondition {
    package func fields(_ f: inout some FieldVisitor) {
        f.integer("lost", lost, "Samples that the device or the kernel threw away before they were read.")
        f.integer("overruns", overruns, "Overruns of the FIFO or the kernel's buffer.")
        f.integer("lost_triggers", lostTriggers, "Triggers that gave no sample.")
        f.integer("duplicates", duplicates, "Samples that came twice and were left out.")
        f.integer("clock_steps", clockSteps, "Jumps of the wall clock that were found and compensated.")
        f.integer("slow_reads", slowReads, "Reads that took too long to say anything about time.")
        f.integer("retries", retries, "Transfers that were tried again.")
        f.integer("wake_ups", wakeUps, "Times that the driver woke the processor to read.")
        f.number(
            "time_error_ms", timeError.map { $0 * 1e3 }, unit: "ms",
            "Standard uncertainty of the time of a block against the host's clock; left out while not known.")
    }
}

/// An active fault (`state/alert/<code>`).
public struct AlertMessage: Sendable, Equatable {
    public enum Severity: String, Sendable, CaseIterable { case info, warning, error }
    public var code: String
    public var severity: Severity
    /// Nanoseconds of UTC.
    public var since: Int64
    public var message: String
    /// An object.
    public var details: Value

    public init(code: String, severity: Severity, since: Int64, message: String, details: Value = .object([])) {
        self.code = code
        self.severity = severity
        self.since = since
        self.message = message
        self.details = details
    }

    /// The object without its envelope, for a reply.
    public func json() -> [UInt8] { JSONWriter.object { fields(&$0) } }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("code", code, "Code of the fault, one topic level, such as `sensor_missing`.")
        f.choice("severity", severity, "How bad it is.")
        f.time("since", since, "When the fault was first seen.")
        f.text("message", message, "A sentence for people.")
        f.tree("details", details, "What programs may want to know of it; members depend on the code.")
    }
}

// MARK: As others read it

/// `state/health` of a station of any version (see ``InfoReading``).
public struct HealthReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// State of the sensor, in the station's word.
    public var sensor: String? { tree["sensor"]?.rawText }
    public var clock: ClockReading? { tree["time"].map { .init($0) } }
    /// Codes of the active alerts; nil: it has no list of them.
    public var alerts: [String]? { tree["alerts"]?.list?.compactMap(\.rawText) }
    public var rate: Double? { tree["rate_hz"]?.number }
    /// Temperature of the chip, degrees Celsius.
    public var temperature: Double? { tree["temperature_c"]?.number }
    public var samples: Int64? { tree["samples"]?.integer }
    public var gaps: Int64? { tree["gaps"]?.integer }
    public var lostSamples: Int64? { tree["lost_samples"]?.integer }
    public var cpuPercent: Double? { tree["cpu_pct"]?.number }
    public var residentBytes: Int64? { tree["rss_bytes"]?.integer }
    public var uptime: Double? { tree["uptime_s"]?.number }
    /// Messages that the broker has acknowledged.
    public var acknowledged: Int64? { tree["mqtt"]?["acked"]?.integer }
}

/// The quality of a station's clock, as `state/health` (`time`) and other messages (`tq`) have it.
public struct ClockReading: Sendable {
    public let tree: Value
    init(_ tree: Value) { self.tree = tree }

    public var isSynced: Bool { tree["synced"]?.flag == true }
    public var source: String? { tree["source"]?.rawText }
    /// Milliseconds that it may be off.
    public var error: Double? { tree["error_ms"]?.number }
}

/// `state/alert/<code>` of a station of any version, and an alert of a list of them.
public struct AlertReading: Sendable {
    public let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    /// False for what is no object.
    public var isAlert: Bool { if case .object = tree { true } else { false } }
    public var code: String? { tree["code"]?.rawText }
    /// How bad it is, in the sender's word.
    public var severity: String? { tree["severity"]?.rawText }
    /// Nanoseconds of UTC.
    public var since: Int64? { tree["since"]?.anyTime }
    public var message: String? { tree["message"]?.rawText }
    /// Axes of the sensor that it is about.
    public var axes: [String] { tree["details"]?["axes"]?.rawTexts ?? [] }
}
