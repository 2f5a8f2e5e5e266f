import Messages
import SignalProcessing

extension SettingsTable {
    static let trace = Chapter(
        key: "trace", title: "Traces", help: "Decimated traces, for live displays.", owners: .sampling,
        settings: [
            StationSetting(
                "trace.enabled", \.trace.enabled, .bool, apply: .live,
                title: "Publish traces", "Publish traces."),
            StationSetting(
                "trace.rate_hz", \.trace.rate, .frequency(.from(0.1, to: 4000)), apply: .live,
                title: "Trace rate",
                homeAssistant: .number(
                    "trace_rate", "Trace rate",
                    #""device_class":"frequency","unit_of_measurement":"Hz","min":0.1,"max":4000,"step":0.1"#),
                "Wanted rate; taken is the nearest that divides the sensor's rate by a whole number."),
            StationSetting(
                "trace.block_s", \.trace.block, .time(.from(0.1, to: 60)), apply: .live,
                title: "Block length", advanced: true, "Length of one message."),
            StationSetting(
                "trace.signals", \.trace.signals, .choices(), apply: .live,
                title: "Signals", "Signals of each axis in the traces."),
            StationSetting(
                "trace.filter", \.trace.filter, .choice(), apply: .live,
                title: "Decimation filter", advanced: true,
                "Low pass before the decimation; the times are corrected for its delay. iir: less delay, but not linear in phase."
            ),
            StationSetting(
                "trace.encoding", \.trace.encoding, .choice(former: ["mseed": .mseed2]), apply: .live,
                title: "Trace encoding", advanced: true,
                "json: one object; cbor: the same in binary form; mseed2, mseed3: one miniSEED record for each channel."
            ),
            StationSetting(
                "trace.only_in_events", \.trace.onlyInEvents, .bool, apply: .live,
                title: "Only during events", "Publish traces during events only."),
            StationSetting(
                "trace.qos", \.trace.qos, .integer(0...1), apply: .live,
                title: "Trace QoS", advanced: true, "MQTT quality of service of the traces."),
        ])

    static let waveform = Chapter(
        key: "waveform", title: "Event waveforms", help: "Waveforms of events, at the full rate.", owners: .sampling,
        settings: [
            StationSetting(
                "waveform.enabled", \.waveform.enabled, .bool, apply: .live,
                title: "Publish event waveforms", "Publish the waveform of each event."
            ).owned(by: .sampling, .storage),
            StationSetting(
                "waveform.encoding", \.waveform.encoding,
                .choice(former: ["mseed2-steim2": .mseed2, "mseed3-steim2": .mseed3]), apply: .live,
                title: "Waveform encoding", advanced: true,
                "miniSEED 2, which every program reads, or 3; both are lossless and compressed by Steim's second method."
            ),
            StationSetting(
                "waveform.chunk_s", \.waveform.chunk, .time(.from(1, to: 300)), apply: .live,
                title: "Message length", advanced: true,
                "Length of one message."),
        ])

    static let storage = Chapter(
        key: "storage", title: "Storage", help: "What survives a restart.", owners: .storage,
        settings: [
            StationSetting(
                "storage.directory", \.storage.directory, .path, apply: .restart, remote: .no,
                title: "Storage directory", advanced: true,
                "Folder of the queue for the broker, the waveforms and the results of self-test and calibration."),
            StationSetting(
                "storage.budget_mb", \.storage.budget, .integer(16...1_048_576, unit: "MB"), apply: .live,
                title: "Storage budget",
                "Limit for messages and waveforms; when it is reached, the oldest of the least important are deleted."),
            StationSetting(
                "storage.ring_minutes", \.storage.ringMinutes, .integer(0...1440, unit: "min"), apply: .live,
                title: "Waveform ring",
                "Length of the full-rate waveform that is stored for snapshots; 0: none."
            ).owned(by: .storage, .sampling),
            StationSetting(
                "storage.keep_events_days", \.storage.keepEventsDays, .integer(0...36_500, unit: "days"), apply: .live,
                title: "Keep events",
                "How long events are stored once the broker has them, while there is room; the days in which the agent runs count."
            ),
            StationSetting(
                "storage.backfill_per_s", \.storage.backfillRate, .integer(1...10_000, unit: "messages/s"),
                apply: .live,
                title: "Back-fill rate", advanced: true, "Maximum rate at which messages that had to wait are sent."
            ).owned(by: .link),
        ])

    static let health = Chapter(
        key: "health", title: "Health", help: "Reports on the agent itself.", owners: .reporter,
        settings: [
            StationSetting(
                "health.interval_s", \.health.interval, .time(.from(1, to: 86_400)), apply: .live,
                title: "Health interval", advanced: true,
                "Time between two reports; a change of state is reported at once.")
        ])

    static let log = Chapter(
        key: "log", title: "Log", help: "What the agent writes to its log.", owners: .log,
        settings: [
            StationSetting(
                "log.level", \.log.level, .choice(), apply: .live,
                title: "Log level", advanced: true, "Lines below this level are not written.")
        ])
}

public struct TraceConfiguration: Sendable, Equatable {
    public enum Signal: String, Sendable, CaseIterable { case raw, filtered, rms, triggered }
    public enum Encoding: String, Sendable, CaseIterable { case json, cbor, mseed2, mseed3 }
    public var enabled = true
    /// Wanted rate in Hz; the nearest rate that divides the sensor's by an integer is used.
    public var rate = 20.0
    /// Seconds per message.
    public var block = 1.0
    public var signals = Signal.allCases
    /// The low pass before the decimation.
    public var filter = DecimationPhase.linear
    public var encoding = Encoding.json
    public var onlyInEvents = false
    public var qos = 1

    /// Samples of a sensor of this rate for one of a trace.
    public func factor(at sensorRate: Double) -> Int { max(1, Int((sensorRate / rate).rounded())) }
}

public struct WaveformConfiguration: Sendable, Equatable {
    public enum Encoding: String, Sendable, CaseIterable { case mseed2, mseed3 }
    public var enabled = true
    public var encoding = Encoding.mseed2
    /// Seconds of data per message.
    public var chunk = 10.0
}

/// Storage that outlives a restart, and its place.
public struct StorageConfiguration: Sendable, Equatable {
    public var directory = "/var/lib/seismote"
    /// Megabytes (10⁶ bytes) of messages and waveforms.
    public var budget = 512
    /// Minutes of full-rate waveforms; 0: none.
    public var ringMinutes = 60
    /// Days that delivered events are kept.
    public var keepEventsDays = 30
    /// Messages a second.
    public var backfillRate = 50
}

public struct HealthConfiguration: Sendable, Equatable {
    /// Seconds.
    public var interval = 60.0
}

public struct LogConfiguration: Sendable, Equatable {
    public enum Level: String, Sendable, CaseIterable, Comparable {
        case debug, info, notice, warning, error
        public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }
    public var level = Level.info
}
