import Messages
import Values

/// Counts of the feed's server since its start.
public struct ServerCounts: Sendable {
    public var clients = 0
    /// Clients that are sent packets.
    public var streams = 0
    /// Connections for which there was no place.
    public var turnedAway = 0
    public var cut = 0
    public var requests = 0
    public var sentBytes = 0
    /// Names and passwords that were wrong.
    public var failedLogins = 0
    /// The longest time that a request or a client has waited for its turn in the last minute, and the longest part of such
    /// a time in which the feed itself has worked for others: seconds.
    public var longestWait = 0.0
    public var longestWork = 0.0
    /// Other server that is given all records: whether it takes them, and how many it has acknowledged.
    public var dataLink: (isConnected: Bool, records: Int)?
    public init() {}
}

/// Text of `/metrics`.
struct FeedMetrics {
    private let settings: FeedSettings
    private let contents: SharedState.Contents
    private let server: ServerCounts
    private let now: Double

    /// - Parameter now: monotonic seconds.
    init(_ settings: FeedSettings, _ contents: SharedState.Contents, _ server: ServerCounts, now: Double) {
        (self.settings, self.contents, self.server, self.now) = (settings, contents, server, now)
    }

    private typealias Sample = (labels: [(String, String)], value: Double)

    func write(_ text: inout MetricsText) {
        let states = contents.states.values.filter { state in
            settings.groups.isEmpty || state.info.map(settings.serves) ?? false
        }.sorted { $0.id < $1.id }
        func each(_ value: (SharedState.StationState) -> Double?) -> [Sample] {
            states.compactMap { state in value(state).map { ([("station", state.id)], $0) } }
        }
        func flag(_ value: Bool?) -> Double? { value.map { $0 ? 1 : 0 } }
        /// Levels of now, without old ones.
        func level(_ value: @escaping (LevelReading) -> Double?) -> (SharedState.StationState) -> Double? {
            { state in
                guard now - state.levelAt < 30, let level = state.level, level.isValid else { return nil }
                return value(level)
            }
        }
        func health(_ value: (HealthReading) -> Double?) -> [Sample] { each { $0.health.flatMap(value) } }
        func counter(_ value: (HealthReading) -> Int64?) -> [Sample] { health { value($0).map(Double.init) } }
        text.add(
            "seismote_station_online", .gauge, "Whether the broker has the station online.",
            each { $0.isOnline.map { $0 ? 1 : 0 } })
        text.add(
            "seismote_peak_ground_acceleration_meters_per_second_squared", .gauge,
            "Peak acceleration of the last second.", each(level { $0.pga }))
        text.add(
            "seismote_intensity_mercalli", .gauge, "Modified Mercalli intensity of the last second.",
            each(level { $0.mmi }))
        text.add("seismote_intensity_jma", .gauge, "JMA intensity of the last second.", each(level { $0.jma }))
        text.add(
            "seismote_triggered", .gauge, "Whether the station is triggered.", each { flag($0.level?.isTriggered) })
        text.add(
            "seismote_clock_synced", .gauge, "Whether the station's clock is synchronised.",
            each { flag($0.level?.isSynced) })
        text.add(
            "seismote_sensor_ok", .gauge, "Whether the sensor delivers samples.",
            each { flag(($0.health?.sensor).map { $0 == "ok" }) })
        text.add("seismote_sensor_rate_hertz", .gauge, "Measured sample rate.", health { $0.rate })
        text.add("seismote_sensor_temperature_celsius", .gauge, "Temperature of the chip.", health { $0.temperature })
        text.add("seismote_samples_total", .counter, "Samples since the agent's start.", counter { $0.samples })
        text.add("seismote_gaps_total", .counter, "Gaps since the agent's start.", counter { $0.gaps })
        text.add(
            "seismote_lost_samples_total", .counter, "Samples lost since the agent's start.",
            counter { $0.lostSamples })
        text.add(
            "seismote_agent_cpu_ratio", .gauge, "Share of a processor that the agent uses.",
            health { $0.cpuPercent.map { $0 * 0.01 } })
        text.add("seismote_agent_resident_memory_bytes", .gauge, "Memory of the agent.", counter { $0.residentBytes })
        text.add("seismote_agent_uptime_seconds", .gauge, "Time since the agent's start.", health { $0.uptime })
        text.add(
            "seismote_alerts", .gauge, "Active alerts of the station.",
            each { ($0.health?.alerts).map { Double($0.count) } })
        writeVibration(of: states, &text)
        let counts = contents.counts
        func one(_ value: Int) -> [Sample] { [([], Double(value))] }
        text.add(
            "seismote_feed_broker_connected", .gauge, "Whether the feed is connected to the broker.",
            one(contents.isConnected ? 1 : 0))
        text.add("seismote_feed_stations", .gauge, "Stations with records in the ring.", one(contents.stations.count))
        text.add("seismote_feed_clients", .gauge, "Connected clients.", one(server.clients))
        text.add("seismote_feed_messages_total", .counter, "Messages taken from the broker.", one(counts.messages))
        text.add(
            "seismote_feed_dropped_messages_total", .counter, "Messages dropped because the feed was too slow.",
            one(counts.dropped))
        text.add(
            "seismote_feed_unreadable_messages_total", .counter, "Traces that could not be read.",
            one(counts.unreadable))
        text.add("seismote_feed_packets_total", .counter, "Records made.", one(counts.packets))
        text.add("seismote_feed_missing_samples_total", .counter, "Samples that were given up.", one(counts.missing))
        text.add(
            "seismote_feed_late_samples_total", .counter, "Samples that came after they had been given up.",
            one(counts.late))
        text.add(
            "seismote_feed_duplicate_samples_total", .counter, "Samples that came more than once.",
            one(counts.duplicates))
        text.add(
            "seismote_feed_fetches_total", .counter, "Times that a station was asked for missing samples.",
            one(counts.asked))
        text.add(
            "seismote_feed_fetched_samples_total", .counter, "Samples that stations had on their disks for dataselect.",
            one(counts.fetched))
        if let dataLink = server.dataLink {
            text.add(
                "seismote_feed_datalink_connected", .gauge, "Whether the other server takes records.",
                one(dataLink.isConnected ? 1 : 0))
            text.add(
                "seismote_feed_datalink_records_total", .counter, "Records that the other server has acknowledged.",
                one(dataLink.records))
        }
        text.add(
            "seismote_feed_shake_datagrams_total", .counter, "Datagrams sent as a Raspberry Shake sends them.",
            one(counts.shakeSent))
        text.add(
            "seismote_feed_refused_total", .counter,
            "Messages, samples, events or records that were refused or given up.",
            FeedRefusal.allCases.map { ([("reason", $0.rawValue)], Double(counts.refused[$0] ?? 0)) })
        text.add("seismote_feed_streams", .gauge, "Clients that are sent packets.", one(server.streams))
        text.add(
            "seismote_feed_turned_away_clients_total", .counter, "Connections for which there was no place.",
            one(server.turnedAway))
        text.add(
            "seismote_feed_failed_logins_total", .counter, "Names and passwords that were wrong.",
            one(server.failedLogins))
        text.add(
            "seismote_feed_longest_wait_seconds", .gauge,
            "Longest time that a client or request has waited for its turn in the last minute.",
            [([], server.longestWait)])
        text.add(
            "seismote_feed_longest_work_seconds", .gauge,
            "Longest part of such a wait in which the feed worked for others; the rest was for a processor or a disk.",
            [([], server.longestWork)])
        text.add("seismote_feed_events", .gauge, "Events in the ring.", one(contents.events.count))
        text.add("seismote_feed_cut_clients_total", .counter, "Clients that were cut.", one(server.cut))
        text.add("seismote_feed_requests_total", .counter, "Requests to the web services.", one(server.requests))
        text.add("seismote_feed_sent_bytes_total", .counter, "Bytes sent to clients.", one(server.sentBytes))
        text.add("seismote_feed_ring_bytes", .gauge, "Size of the ring on the disk.", one(counts.ringBytes))
    }

    /// Writes vibration of the last interval, until a second one should have come and has not.
    private func writeVibration(of all: [SharedState.StationState], _ text: inout MetricsText) {
        let states = all.filter { state in
            guard let length = state.vibration?.interval else { return false }
            return now - state.vibrationAt < 2 * min(max(length, 1), 3600) + 30
        }
        func axes(_ value: (VibrationReading.Axis) -> Double?) -> [Sample] {
            states.flatMap { state in
                ["x", "y", "z"].compactMap { axis -> Sample? in
                    guard let number = state.vibration?.axis(axis).flatMap(value) else { return nil }
                    return ([("station", state.id), ("axis", axis)], number)
                }
            }
        }
        text.add(
            "seismote_vibration_peak_velocity_meters_per_second", .gauge,
            "Peak particle velocity of the last interval.", axes { $0.ppv.map { $0 / 1000 } })
        text.add(
            "seismote_vibration_frequency_hertz", .gauge, "Frequency of that peak.",
            axes { $0.frequency })
        text.add(
            "seismote_vibration_velocity_rms_meters_per_second", .gauge,
            "Root mean square of the velocity of the last interval.", axes { $0.rms.map { $0 / 1000 } })
        text.add(
            "seismote_vibration_kb_fmax", .gauge, "Weighted strength KB_Fmax of the last interval.",
            axes { $0.kbFmax })
        text.add(
            "seismote_vibration_dose", .gauge, "Vibration dose value of the day or night so far, m/s^1.75.",
            axes { $0.dose })
        text.add(
            "seismote_vibration_below_floor", .gauge, "Whether the peak says nothing but that it was quiet.",
            axes { $0.isBelowFloor.map { $0 ? 1 : 0 } })
        text.add(
            "seismote_vibration_limit_ratio", .gauge, "What the last interval was of the limit.",
            states.compactMap { state in (state.vibration?.share).map { ([("station", state.id)], $0) } })
    }
}

/// Metrics as Prometheus and OpenMetrics write them.
struct MetricsText: Sendable {
    public enum Kind: String, Sendable { case gauge, counter }

    private let isOpenMetrics: Bool
    public private(set) var text = ""

    /// - Parameter openMetrics: OpenMetrics 1.0 instead of Prometheus' text format 0.0.4.
    public init(openMetrics: Bool) { isOpenMetrics = openMetrics }

    public var contentType: String {
        isOpenMetrics
            ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8"
    }

    /// One family with all its samples; nothing where there are none.
    /// - Parameter name: of a counter with `_total`.
    public mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
    ) {
        guard !samples.isEmpty else { return }
        let family = isOpenMetrics && kind == .counter && name.hasSuffix("_total") ? String(name.dropLast(6)) : name
        text += "# HELP \(family) \(Self.escaped(help, quotes: false))\n# TYPE \(family) \(kind.rawValue)\n"
        for sample in samples {
            text += name
            if !sample.labels.isEmpty {
                let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }
                text += "{\(labels.joined(separator: ","))}"
            }
            text += " \(Self.number(sample.value))\n"
        }
    }

    /// The whole document.
    public func finished() -> String { isOpenMetrics ? text + "# EOF\n" : text }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            case _ where scalar.value < 0x20: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
