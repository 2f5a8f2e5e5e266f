/// How the agent is (`state/health`). Everything that is nil is left out.
public struct HealthMessage: Sendable, Equatable {
    public enum SensorState: String, Sendable, CaseIterable { case ok, settling, stalled, missing, fault }

    /// A counter with its name.
    public struct Count: Sendable, Equatable {
        public var name: String
        public var count: Int
        public init(_ name: String, _ count: Int) {
            self.name = name
            self.count = count
        }
    }

    /// What waits for the broker.
    public struct Outbox: Sendable, Equatable {
        public var messages = 0
        public var bytes = 0
        /// Age of the oldest message in seconds.
        public var oldest = 0.0
        /// Messages lost since the start, of each class of priority.
        public var droppedEssential = 0
        public var droppedState = 0
        public var droppedTrace = 0
        public init() {}
    }

    /// What a driver of hardware has counted since the sensor was opened.
    public struct Driver: Sendable, Equatable {
        public var lost = 0
        public var overruns = 0
        public var lostTriggers = 0
        public var duplicates = 0
        public var clockSteps = 0
        public var slowReads = 0
        public var retries = 0
        public var wakeUps = 0
        /// Standard uncertainty of the time of a block against the host's clock.
        public var timeErrorMs: Double?
        public init() {}
    }

    /// Since the start.
    public struct MQTT: Sendable, Equatable {
        public var connects = 0
        public var published = 0
        public var acked = 0
        /// By the broker's reason.
        public var refused: [Count] = []
        public var rejectedCommands = 0
        public init() {}
    }

    public var sensor: SensorState
    /// Measured samples per second, and its difference from the nominal rate.
    public var rate: Double?
    public var rateErrorPpm: Double?
    /// Standard uncertainty of the measured rate.
    public var rateUncertaintyPpm: Double?
    /// Since the start.
    public var samples = 0
    public var gaps = 0
    public var lostSamples = 0
    public var clipped = 0
    public var time: TimeQuality
    public var outbox = Outbox()
    public var mqtt = MQTT()
    /// Nil, and left out, where there is no hardware.
    public var driver: Driver?
    /// Worst lateness of the sampling loop since the last message, milliseconds.
    public var loopLateMs: Double?
    /// Of one core.
    public var cpuPercent: Double?
    public var rssBytes: Int?
    /// Of the chip.
    public var temperature: Double?
    /// Seconds.
    public var uptime = 0.0
    /// Codes of the active alerts.
    public var alerts: [String] = []

    public init(sensor: SensorState, time: TimeQuality) {
        self.sensor = sensor
        self.time = time
    }

    /// The object without its envelope, for a reply.
    public func json() -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        write(to: &json)
        json.endObject()
        return json.bytes
    }

    func write(to json: inout JSONWriter) {
        json.key("sensor")
        json.string(sensor.rawValue)
        json.optional("rate_hz", rate)
        json.optional("rate_error_ppm", rateErrorPpm)
        json.optional("rate_uncertainty_ppm", rateUncertaintyPpm)
        json.key("samples")
        json.int(samples)
        json.key("gaps")
        json.int(gaps)
        json.key("lost_samples")
        json.int(lostSamples)
        json.key("clipped")
        json.int(clipped)
        json.key("time")
        time.write(to: &json)
        outbox.write(to: &json)
        mqtt.write(to: &json)
        driver?.write(to: &json)
        json.optional("loop_late_ms", loopLateMs)
        json.optional("cpu_pct", cpuPercent)
        if let rssBytes {
            json.key("rss_bytes")
            json.int(rssBytes)
        }
        json.optional("temperature_c", temperature)
        json.key("uptime_s")
        json.double(uptime)
        json.list("alerts", alerts)
    }
}

extension HealthMessage.Outbox {
    func write(to json: inout JSONWriter) {
        json.key("outbox")
        json.beginObject()
        json.key("messages")
        json.int(messages)
        json.key("bytes")
        json.int(bytes)
        json.key("oldest_s")
        json.double(oldest)
        json.key("dropped")
        json.beginObject()
        json.key("essential")
        json.int(droppedEssential)
        json.key("state")
        json.int(droppedState)
        json.key("trace")
        json.int(droppedTrace)
        json.endObject()
        json.endObject()
    }
}

extension HealthMessage.Driver {
    func write(to json: inout JSONWriter) {
        json.key("driver")
        json.beginObject()
        json.key("lost")
        json.int(lost)
        json.key("overruns")
        json.int(overruns)
        json.key("lost_triggers")
        json.int(lostTriggers)
        json.key("duplicates")
        json.int(duplicates)
        json.key("clock_steps")
        json.int(clockSteps)
        json.key("slow_reads")
        json.int(slowReads)
        json.key("retries")
        json.int(retries)
        json.key("wake_ups")
        json.int(wakeUps)
        json.optional("time_error_ms", timeErrorMs)
        json.endObject()
    }
}

extension HealthMessage.MQTT {
    func write(to json: inout JSONWriter) {
        json.key("mqtt")
        json.beginObject()
        json.key("connects")
        json.int(connects)
        json.key("published")
        json.int(published)
        json.key("acked")
        json.int(acked)
        json.key("refused")
        json.beginObject()
        for reason in refused {
            json.key(text: reason.name)
            json.int(reason.count)
        }
        json.endObject()
        json.key("rejected_commands")
        json.int(rejectedCommands)
        json.endObject()
    }
}
