import Foundation
import Messages
import Platform
import Settings
import TestSupport
import Testing
import Values

@testable import Agent

/// Live means live: for each row of the table that says so, another value is set on a running agent, and a consequence is
/// seen in what it does. A row without a probe fails here, so whoever adds one has to say how it shows.
@Suite(.timeLimit(.minutes(30))) struct LiveRowTests {
    /// How a row is seen to be in force.
    enum Probe: Sendable {
        /// The pipeline's messages on these topics are others than those of an agent that nobody has changed.
        case messages(String, of: String, _ settings: String = "", _ ground: Ground = .shaken)
        /// Something else; see LiveProbes.swift.
        case watched(@Sendable () throws -> Bool)
    }

    /// What the sensor feels: in which blocks (of 0.16 s) it is shaken. The change comes with block 40.
    enum Ground: Sendable, Hashable {
        case shaken, shakenTwice, quake, spike
        var blocks: [ClosedRange<Int>] {
            switch self {
            case .shaken: [70...95]
            case .shakenTwice: [60...70, 100...110]
            // With enough noise before, to tell an earthquake.
            case .quake: [115...140]
            case .spike: [70...70]
            }
        }
    }

    static let live = SettingsTable.settings.filter { $0.apply == .live }.map(\.key)

    @Test func everyLiveRowHasAProbe() {
        #expect(Set(Self.live) == Set(Self.probes.keys), "write a probe for it in LiveRowTests or LiveProbes")
    }

    /// All of them; under a sanitizer, which makes the pipeline slow, so many of those that nothing but the pipeline shows
    /// (SEISMOTE_LIVE_ROWS).
    private static var tried: [String] {
        guard let text = ProcessInfo.processInfo.environment["SEISMOTE_LIVE_ROWS"], let most = Int(text) else {
            return live
        }
        let slow = live.filter { if case .messages = probes[$0] { true } else { false } }
        let step = max(1, slow.count / max(1, most))
        let left = Set(slow.enumerated().filter { $0.offset % step == 0 }.map(\.element))
        return live.filter { left.contains($0) || !slow.contains($0) }
    }

    @Test(arguments: tried) func aChangeHasAConsequence(_ key: String) throws {
        switch Self.probes[key] {
        case .messages(let topic, let value, let settings, let ground):
            let changed = try Self.run(settings, ground, change: Self.patch(key, value))
            let before = try Self.unchanged(settings, ground)
            #expect(changed.messages(topic) != before.messages(topic), "\(topic) is the same")
            #expect(!before.messages("").isEmpty)
        case .watched(let look): #expect(try look())
        case nil: Issue.record("no probe")
        }
    }

    // MARK: Two agents, one of them changed

    /// `trace.rate_hz` and `10` as a patch.
    static func patch(_ key: String, _ value: String) -> String {
        key.split(separator: ".").reversed().reduce(value) { "{\"\($1)\":\($0)}" }
    }

    private struct Case: Hashable {
        var settings: String
        var ground: Ground
    }
    private static let known = Mutex<[Case: AgentBench.Published]>([:])

    /// What an agent publishes that gets a change without a consequence for samples, so that revisions are the same.
    private static func unchanged(_ settings: String, _ ground: Ground) throws -> AgentBench.Published {
        let one = Case(settings: settings, ground: ground)
        if let found = known.withLock({ $0[one] }) { return found }
        let published = try run(settings, ground, change: #"{"health":{"interval_s":77}}"#)
        known.withLock { $0[one] = published }
        return published
    }

    private static func run(_ settings: String, _ ground: Ground, change: String) throws -> AgentBench.Published {
        let base = Self.base.filter { line in !settings.hasPrefix(line.prefix { $0 != ":" }) }
        let bench = try AgentBench((base + [settings]).joined(separator: "\n"))
        bench.gate.isQuake.store(ground == .quake, ordering: .relaxed)
        bench.gate.isSpike.store(ground == .spike, ordering: .relaxed)
        #expect(bench.blocks(40))
        #expect(bench.change(change), "refused: \(bench.replies())")
        var block = 41
        for shaken in ground.blocks {
            #expect(bench.blocks(shaken.lowerBound - block))
            bench.gate.shake()
            #expect(bench.blocks(shaken.count))
            bench.gate.shake(false)
            block = shaken.upperBound + 1
        }
        #expect(bench.blocks(150 - block))
        return bench.published
    }

    /// Short times, so that 24 s are enough.
    private static let base = ["conditioning: {settle_s: 0}", "spectrum: {window_s: 3}", "waveform: {chunk_s: 1}"]

    private static let event = "event: {pre_event_s: 1, post_event_s: 1, dead_time_s: 0}"

    /// One detector alone, with events that are short.
    private static func only(_ detector: String, _ rest: String = "") -> String {
        let off = ["level", "sta_lta"].filter { !detector.hasPrefix($0) }.map { "\($0): {enabled: false}, " }.joined()
        return "detection: {\(off)\(detector), \(rest.isEmpty ? event : rest)}"
    }

    private static let ratio = only("sta_lta: {sta_s: 0.5, lta_s: 3}")
    private static let level = only("level: {enabled: true}")
    private static func ratio(guard rules: String) -> String {
        only("sta_lta: {sta_s: 0.5, lta_s: 3, guard: {\(rules)}}")
    }
    private static func peak(_ rest: String) -> String { only("peak: {enabled: true, \(rest)}") }
    private static let energy = only("energy: {enabled: true, window_s: 0.5, average_s: 3, threshold: 5}")
    private static func movement(_ rest: String) -> String {
        only("movement: {enabled: true, threshold: 0.5, \(rest)}")
    }

    // MARK: The rows

    private static let trigger = "event/trigger"
    private static let summary = "state/summary"
    private static let trace = "data/trace"
    private static let vibration = "data/vibration"
    private static let shortBand = "band: own, lower_hz: 1, upper_hz: 40, interval_s: 10"
    private static let site = "vibration: {enabled: true, \(shortBand), limit: \"din4150-3:commercial:foundation\"}"

    static let probes: [String: Probe] = pipeline.merging(connection) { $1 }.merging(disk) { $1 }

    private static let pipeline: [String: Probe] = [
        "station.network": .messages(trace, of: "\"ZZ\"", "trace: {encoding: mseed2}"),
        "station.code": .messages(trace, of: "\"ABC\"", "trace: {encoding: mseed2}"),
        "station.location": .messages(trace, of: "\"77\"", "trace: {encoding: mseed2}"),
        "station.latitude": info("latitude", "12.5"), "station.longitude": info("longitude", "-12.5"),
        "station.elevation_m": info("elevation_m", "77"), "station.description": info("description", "\"below\""),
        "station.groups": .watched(groups),

        "sensor.mounting.north_deg": .messages(summary, of: "90"),
        "conditioning.offset": .messages(trace, of: #"{"mode":"none"}"#),
        "conditioning.settle_s": .messages(summary, of: "0", "conditioning: {settle_s: 20}"),
        "axes.all.signal": .messages(trace, of: #"{"sine":{"amplitude":1,"frequency_hz":2}}"#),
        "axes.all.filter": .messages(trace, of: #"{"butterworth":{"type":"lowpass","corner_hz":5,"order":2}}"#),
        "axes.all.detection.window": .messages(trace, of: "\"0.3 s\""),
        "axes.all.detection.threshold": .messages(trace, of: "100"),
        "axes.all.detection.hold": .messages(trace, of: "\"2 s\""),

        "detection.level.enabled": .messages(trigger, of: "false", level),
        "detection.level.axes": .messages(trigger, of: "\"z\"", level),
        "detection.level.spike_guard": .messages(trigger, of: "false", level, .spike),
        "detection.sta_lta.enabled": .messages(trigger, of: "false", ratio),
        "detection.sta_lta.method": .messages(summary, of: "\"classic\"", ratio),
        "detection.sta_lta.signal": .messages(summary, of: "\"x\"", ratio),
        "detection.sta_lta.filter": .messages(summary, of: "\"axes\"", ratio),
        "detection.sta_lta.sta_s": .messages(summary, of: "1", ratio),
        "detection.sta_lta.lta_s": .messages(summary, of: "5", ratio),
        "detection.sta_lta.on": .messages(trigger, of: "5.9", ratio),
        "detection.sta_lta.off": .messages(trigger, of: "0.5", ratio),
        "detection.sta_lta.min_duration_s": .messages(trigger, of: "2", ratio),
        "detection.sta_lta.max_frozen_s": .messages(trigger, of: "1", ratio),
        "detection.sta_lta.guard.enabled": .messages(trigger, of: "false", ratio(guard: "axes: 3, ratio: 5")),
        "detection.sta_lta.guard.axes": .messages(trigger, of: "3", ratio(guard: "ratio: 5")),
        "detection.sta_lta.guard.ratio": .messages(trigger, of: "10000", ratio),
        "detection.sta_lta.guard.clip": .messages(trigger, of: "0.001", ratio),
        "detection.sta_lta.guard.jump": .messages(trigger, of: "0.001", ratio),
        "detection.peak.enabled": .messages(trigger, of: "true", only("peak: {enabled: false}")),
        "detection.peak.threshold": .messages(trigger, of: "100", peak("signal: h")),
        "detection.peak.signal": .messages(trigger, of: "\"z\"", peak("signal: h")),
        "detection.peak.min_samples": .messages(trigger, of: "1000", peak("signal: h")),
        "detection.energy.enabled": .messages(
            trigger, of: "true", only("energy: {enabled: false, window_s: 0.5, average_s: 3}")),
        "detection.energy.signal": .messages(trigger, of: "\"z\"", energy),
        "detection.energy.filter": .messages(
            trigger, of: #"{"butterworth":{"type":"bandpass","corners_hz":[15,30],"order":2}}"#, energy),
        "detection.energy.window_s": .messages(trigger, of: "1", energy),
        "detection.energy.average_s": .messages(trigger, of: "2", energy),
        "detection.energy.threshold": .messages(trigger, of: "1000", energy),
        "detection.movement.enabled": .messages(
            trigger, of: "true", only("movement: {enabled: false, threshold: 0.5}")),
        "detection.movement.threshold": .messages(trigger, of: "100", movement("lull_s: 0.1")),
        "detection.movement.lull_s": .messages(trigger, of: "1.5", movement("lull_s: 0.1")),
        "detection.event.votes": .messages(
            trigger, of: "2", "detection: {level: {axes: z}, sta_lta: {sta_s: 0.5, lta_s: 3}, \(event)}"),
        "detection.event.pre_event_s": .messages("data/waveform", of: "4", level),
        "detection.event.post_event_s": .messages(trigger, of: "3", level),
        "detection.event.max_event_s": .messages(trigger, of: "1", level),
        "detection.event.dead_time_s": .messages(trigger, of: "60", level, .shakenTwice),
        "detection.event.min_intensity": .messages(trigger, of: "12", level),
        "detection.event.confirmation": .watched(confirmation),

        "classification.enabled": .messages(trigger, of: "false", level),
        "alarm.network.enabled": warning("alarm.network.enabled", "true", "enabled: false") { before, after, _ in
            before == nil && after != nil
        },
        "alarm.network.mmi": warning("alarm.network.mmi", "10", "enabled: true, mmi: 3") { before, after, _ in
            before?.contains("\"alarm\":true") == true && after?.contains("\"alarm\":false") == true
        },
        "alarm.network.stations": warning("alarm.network.stations", "7", "enabled: true") { before, after, refused in
            before != nil && after == nil && refused == [NamedCount("stations", 1)]
        },
        "alarm.enabled": .messages(trigger, of: "true", level, .quake),
        "alarm.probability": .messages(
            trigger, of: "0.99", level + "\nalarm: {enabled: true, probability: 0.5}", .quake),
        "alarm.velocity": .messages(trigger, of: "10", level + "\nalarm: {enabled: true}", .quake),
        "onsite.enabled": .messages(trigger, of: "false", level, .quake),

        "intensity.scales": .messages(summary, of: #"["wald99"]"#),
        "intensity.horizontal": .messages(summary, of: "\"vector\""),
        "intensity.window_s": .messages(summary, of: "3"),
        "intensity.jma_window_s": .messages(summary, of: "10"),
        "spectrum.window_s": .messages(summary, of: "6"),
        "spectrum.min_hz": .messages(summary, of: "20"),

        "vibration.enabled": .messages(vibration, of: "true", "vibration: {enabled: false, \(shortBand)}"),
        // The bench has 100 samples a second: the pipeline that would measure the band of 80 Hz refuses it.
        "vibration.band": .watched {
            let bench = try AgentBench(site)
            guard bench.blocks(5) else { return false }
            return !bench.change(patch("vibration.band", "\"din\"")) && bench.change(patch("vibration.upper_hz", "30"))
        },
        "vibration.lower_hz": .messages(vibration, of: "3", site),
        "vibration.upper_hz": .messages(vibration, of: "20", site),
        "vibration.interval_s": .messages(vibration, of: "12", site),
        "vibration.weighting": .messages(vibration, of: "\"iso2631-2\"", site),
        "vibration.limit": .messages(vibration, of: "\"bs7385-2:dwellings:base\"", site),
        "vibration.warn_share": .messages(vibration, of: "0.000001", site),
        "vibration.modes": .watched { try modes("vibration: {modes: false}", patch("vibration.modes", "true")) },
        // (Another period, and another highest mode, end the one under way.)
        "vibration.modes_s": .watched {
            try modes("vibration: {modes: true}", after: patch("vibration.modes_s", "7200"))
        },
        "vibration.modes_top_hz": .watched {
            try modes("vibration: {modes: true}", after: patch("vibration.modes_top_hz", "10"))
        },
        "vibration.utc_offset_h": .messages(vibration, of: "12", site),

        "trace.enabled": .messages(trace, of: "false"),
        "trace.rate_hz": .messages(trace, of: "10"),
        "trace.block_s": .messages(trace, of: "2"),
        "trace.signals": .messages(trace, of: #"["raw"]"#),
        "trace.filter": .messages(trace, of: "\"iir\""),
        "trace.encoding": .messages(trace, of: "\"cbor\""),
        "trace.only_in_events": .messages(trace, of: "true", level),
        "trace.qos": .messages(trace, of: "0"),
        "waveform.enabled": .messages("data/waveform", of: "false", level),
        "waveform.encoding": .messages("data/waveform", of: "\"mseed3\"", level),
        "waveform.chunk_s": .messages("data/waveform", of: "3", level),

    ]

    private static let connection: [String: Probe] = [
        "mqtt.uri": .watched(uri),
        "mqtt.protocol": connect("mqtt.protocol", "\"3.1.1\"") { $0.level == 4 },
        "mqtt.root": connect("mqtt.root", "\"other\"") { $0.hasText("other/test/state/online") },
        "mqtt.username": connect("mqtt.username", "\"someone\"") { $0.hasText("someone") },
        "mqtt.password": connect("mqtt.password", "\"hush\"") { $0.hasText("hush") },
        "mqtt.client_id": .watched(clientID),
        "mqtt.password_file": .watched(passwordFile),
        "mqtt.tls.ca_file": file(\.caFile), "mqtt.tls.cert_file": file(\.certFile),
        "mqtt.tls.key_file": file(\.keyFile), "mqtt.tls.psk_identity": file(\.pskIdentity),
        "mqtt.tls.psk_file": file(\.pskFile),
        "mqtt.tls.alpn": connect("mqtt.tls.alpn", "\"seismo\"", isEncrypted: true) { $0.hasText("seismo") },
        // The extension of supported versions, with 1.3 alone.
        "mqtt.tls.min_version": connect("mqtt.tls.min_version", "1.3", isEncrypted: true) {
            $0.hasBytes([0, 0x2b, 0, 3, 2, 3, 4])
        },
        "mqtt.keepalive_s": connect("mqtt.keepalive_s", "77") { $0.keepalive == 77 },
        "mqtt.max_packet_bytes": .watched(packetLimit),
        // The will delay interval of MQTT 5.
        "mqtt.will_delay_s": connect("mqtt.will_delay_s", "771") { $0.hasBytes([0x18, 0, 0, 3, 3]) },
        "mqtt.reconnect.min_s": retry("mqtt.reconnect.min_s", "50", longest: 60, above: 50),
        "mqtt.reconnect.max_s": retry("mqtt.reconnect.max_s", "60", longest: 0.1, above: 0.2),
        "mqtt.home_assistant.enabled": discovery("enabled", "false"),
        "mqtt.home_assistant.prefix": discovery("prefix", "\"house\"", at: "house/device/seismote-test/config"),
        "mqtt.home_assistant.discovery": discovery("discovery", "\"components\""),
        "mqtt.home_assistant.page": .watched(page),
        "mqtt.home_assistant.birth_topic": birth("birth_topic", "ha/birth", topic: "ha/birth", "online"),
        "mqtt.home_assistant.birth_payload": birth("birth_payload", "here", topic: "homeassistant/status", "here"),
        "mqtt.openeew.enabled": .messages("/traces", of: "true"),
        "mqtt.openeew.topic": .messages(
            "/traces", of: "\"/other\"", "mqtt: {openeew: {enabled: true}}\nunlocked: [mqtt.openeew.topic]"),
        "mqtt.openeew.country_code": .messages("/traces", of: "\"cl\"", "mqtt: {openeew: {enabled: true}}"),
    ]

    private static let disk: [String: Probe] = [
        "storage.budget_mb": .watched(budget), "storage.ring_minutes": .watched(ring),
        "vibration.keep_days": .watched(keptVibration),
        "storage.keep_events_days": .watched(keptEvents), "storage.backfill_per_s": .watched(backfill),
        "health.interval_s": .watched(health), "log.level": .watched(logLevel),
    ]
}
