import Feed
import Messages

/// What `/metrics` tells.
struct Metrics {
    private let server: Server

    init(_ server: Server) { self.server = server }

    private typealias Sample = (labels: [(String, String)], value: Double)

    func write(_ text: inout MetricsText) {
        let contents = server.board.read { contents in
            (
                states: contents.states.values.filter { state in
                    server.settings.groups.isEmpty || state.info.map(server.settings.serves) ?? false
                }.sorted { $0.id < $1.id }, counts: contents.counts,
                isConnected: contents.isConnected, stations: contents.stations.count
            )
        }
        let states = contents.states
        func each(_ value: (Board.StationState) -> Double?) -> [Sample] {
            states.compactMap { state in value(state).map { ([("station", state.id)], $0) } }
        }
        func flag(_ value: Value?) -> Double? { value?.flag.map { $0 ? 1 : 0 } }
        let now = monotonicSeconds()
        /// Of levels that are of now.
        func level(_ name: String) -> (Board.StationState) -> Double? {
            { state in
                now - state.levelAt < 30 && state.level?["valid"] == .bool(true) ? state.level?[name]?.number : nil
            }
        }
        func health(_ name: String, _ factor: Double = 1) -> [Sample] {
            each { state in state.health?[name]?.number.map { $0 * factor } }
        }
        text.add(
            "seismote_station_online", .gauge, "Whether the broker has the station online.",
            each { $0.isOnline.map { $0 ? 1 : 0 } })
        text.add(
            "seismote_peak_ground_acceleration_meters_per_second_squared", .gauge,
            "Peak acceleration of the last second.", each(level("pga")))
        text.add(
            "seismote_intensity_mercalli", .gauge, "Modified Mercalli intensity of the last second.", each(level("mmi"))
        )
        text.add("seismote_intensity_jma", .gauge, "JMA intensity of the last second.", each(level("jma")))
        text.add(
            "seismote_triggered", .gauge, "Whether the station is triggered.", each { flag($0.level?["triggered"]) })
        text.add(
            "seismote_clock_synced", .gauge, "Whether the station's clock is synchronised.",
            each { flag($0.level?["synced"]) })
        text.add(
            "seismote_sensor_ok", .gauge, "Whether the sensor delivers samples.",
            each { $0.health?["sensor"].map { $0 == .string("ok") ? 1 : 0 } })
        text.add("seismote_sensor_rate_hertz", .gauge, "Measured sample rate.", health("rate_hz"))
        text.add("seismote_sensor_temperature_celsius", .gauge, "Temperature of the chip.", health("temperature_c"))
        text.add("seismote_samples_total", .counter, "Samples since the agent's start.", health("samples"))
        text.add("seismote_gaps_total", .counter, "Gaps since the agent's start.", health("gaps"))
        text.add(
            "seismote_lost_samples_total", .counter, "Samples lost since the agent's start.", health("lost_samples"))
        text.add(
            "seismote_agent_cpu_ratio", .gauge, "Share of a processor that the agent uses.", health("cpu_pct", 0.01))
        text.add("seismote_agent_resident_memory_bytes", .gauge, "Memory of the agent.", health("rss_bytes"))
        text.add("seismote_agent_uptime_seconds", .gauge, "Time since the agent's start.", health("uptime_s"))
        text.add(
            "seismote_alerts", .gauge, "Active alerts of the station.",
            each { state in if case .array(let alerts)? = state.health?["alerts"] { Double(alerts.count) } else { nil }
            })
        let counts = contents.counts
        func one(_ value: Int) -> [Sample] { [([], Double(value))] }
        text.add(
            "seismote_feed_broker_connected", .gauge, "Whether the feed is connected to the broker.",
            one(contents.isConnected ? 1 : 0))
        text.add("seismote_feed_stations", .gauge, "Stations with records in the ring.", one(contents.stations))
        text.add("seismote_feed_clients", .gauge, "Connected clients.", one(server.clientCount))
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
        if let forwarded = server.forwarded {
            text.add(
                "seismote_feed_datalink_connected", .gauge, "Whether the other server takes records.",
                one(forwarded.isConnected ? 1 : 0))
            text.add(
                "seismote_feed_datalink_records_total", .counter, "Records that the other server has acknowledged.",
                one(forwarded.records))
        }
        text.add(
            "seismote_feed_shake_datagrams_total", .counter, "Datagrams sent as a Raspberry Shake sends them.",
            one(counts.shakeSent))
        text.add("seismote_feed_cut_clients_total", .counter, "Clients that were cut.", one(server.cut))
        text.add("seismote_feed_requests_total", .counter, "Requests to the web services.", one(server.requests))
        text.add("seismote_feed_sent_bytes_total", .counter, "Bytes sent to clients.", one(server.sentBytes))
        text.add("seismote_feed_ring_bytes", .gauge, "Size of the ring on the disk.", one(counts.ringBytes))
    }
}
