import Foundation
import TestSupport
import Testing

@testable import Messages

/// Each kind of message, byte by byte as stored in `Tests/Vectors/messages`. A wanted change of the format is stored with
/// `SEISMOTE_STORE_VECTORS=messages swift test --filter MessagesTests.GoldenTests`, and then looked at in the difference.
@Suite struct GoldenTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var file: String
        /// Dotted paths of every key; a list's objects count once.
        var keys: String
        var send: @Sendable (inout Messenger, PublicationSink) -> Void
        var testDescription: String { file }
    }

    static let envelope = "v station boot seq t"
    static let quality = "tq tq.synced tq.source tq.error_ms"
    static let levels = ["x", "y", "z", "h", "v3"].map { "\($0) \($0).rms \($0).peak \($0).rsam \($0).velocity" }
        .joined(separator: " ")
    static let peaks = ["x", "y", "z", "h", "v3"].map { "peaks.\($0) peaks.\($0).value peaks.\($0).t" }
        .joined(separator: " ")
    static let intensity =
        "intensity intensity.scale intensity.relation intensity.value intensity.roman intensity.color"
        + " intensity.from_pga intensity.from_pgv intensity.sigma intensity.grade intensity.raw"
    static let flat = "mmi jma"
    static let extremes = ["x", "y", "z", "magnitude"]
        .map { "extremes.\($0) extremes.\($0).min extremes.\($0).max extremes.\($0).since" }.joined(separator: " ")
    static let event =
        "\(envelope) \(quality) event_type event_id onset detectors detectors.name detectors.signal detectors.axes detectors.on"
        + " detectors.value detectors.threshold detectors.max detectors.direction detectors.peaks detectors.peaks.x"
        + " detectors.peaks.y detectors.peaks.z detectors.config_rev peaks \(peaks) pga pga_pct_g pgv"
        + " peak_velocity peak_velocity.x peak_velocity.y peak_velocity.z peak_velocity.h peak_velocity.v3 pgd cav cav_std arias"
        + " duration_s \(intensity) \(flat) rms_max rms_max.x rms_max.y rms_max.z rsam rsam.x rsam.y rsam.z p_time p_sigma_s class class.likely class.certain class.moved class.final onsite clipped config_rev"
    /// From the first second on.
    static let assessed =
        "class.p class.t_s onsite.t_s onsite.pv onsite.pd onsite.tau_c onsite.pgv_predicted onsite.mmi_predicted"
        + " onsite.pgv_low onsite.pgv_high onsite.saturated onsite.level"
    static let trace = ["x", "y", "z"].map { "\($0) \($0).raw \($0).filtered \($0).rms \($0).triggered" }
        .joined(separator: " ")

    static let cases: [Case] = [
        Case(
            file: "info.json",
            keys: "\(envelope) agent agent.name agent.version agent.build station station.id station.network"
                + " station.code station.location station.latitude station.longitude station.elevation_m"
                + " station.description station.groups sensor sensor.driver sensor.chip sensor.rate_hz sensor.range"
                + " sensor.resolution sensor.axes sensor.axes.x sensor.axes.y sensor.axes.z"
                + " sensor.level sensor.level.tilt_deg sensor.level.matrix sensor.self_test sensor.self_test.t"
                + " sensor.self_test.passed sensor.self_test.unit sensor.self_test.source"
                + ["x", "y", "z"].map {
                    " sensor.self_test.\($0) sensor.self_test.\($0).change sensor.self_test.\($0).min sensor.self_test.\($0).max"
                }.joined()
                + " sensor.calibration sensor.calibration.t sensor.calibration.method sensor.calibration.offset"
                + " sensor.calibration.matrix sensor.calibration.noise_ug_per_sqrt_hz sensor.calibration.seconds capabilities"
                + " capabilities.verbs capabilities.encodings capabilities.scales topics topics.root topics.state"
                + " update update.phase update.version update.progress_pct"
                + " topics.event topics.data topics.cmd topics.res"
        ) { $0.send(Samples.info, time: Samples.onset, to: $1) },
        Case(
            file: "config.json",
            keys: "\(envelope) rev sha256 config config.station config.station.id config.sensor config.sensor.rate_hz"
                + " config.sensor.driver config.mqtt config.mqtt.password_file sources sources.file sources.overlay"
                + " sources.command_line pending pending.rev pending.deadline needs_restart"
        ) { $0.send(Samples.config, time: Samples.onset, to: $1) },
        Case(file: "config-schema.json", keys: "$schema type properties") {
            $0.send(
                schema: .object([
                    .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
                    .init("type", .string("object")), .init("properties", .object([])),
                ]), to: $1)
        },
        Case(
            file: "summary.json",
            keys: "\(envelope) \(quality) window_s \(levels) pga pga_pct_g pgv pgd \(intensity) \(flat) magnitude"
                + " direction direction.azimuth_deg direction.axis direction.incidence_deg direction.rectilinearity spectrum spectrum.dominant_hz spectrum.peak sta_lta sta_lta.v3"
                + " triggered detectors class class.likely class.p class.t_s class.certain class.moved class.final extremes \(extremes) valid"
        ) { $0.send(Samples.summary, time: Samples.onset, quality: Samples.quality, to: $1) },
        Case(
            file: "summary-settling.json",
            keys: "\(envelope) tq tq.synced tq.source window_s \(levels) pga pga_pct_g pgv pgd intensity magnitude"
                + " triggered detectors valid reason"
        ) { $0.send(Samples.settling, time: Samples.onset, quality: .replay, to: $1) },
        Case(file: "level.json", keys: "\(envelope) pga \(flat) triggered likely valid synced") { messenger, sink in
            messenger.send(Samples.summary, time: Samples.onset, quality: Samples.quality) {
                if $0.topic.hasSuffix("level") { sink($0, $1) }
            }
        },
        Case(
            file: "vibration.json",
            keys: "\(envelope) \(quality) start interval_s seconds gaps interrupted band band.lower_hz band.upper_hz"
                + ["x", "y", "z"].map { axis in
                    " \(axis)"
                        + "ppv t frequency_hz rms displacement acceleration kb_fmax kb_ftm weighting aw_rms vdv vdv_period"
                        .split(separator: " ").map { " \(axis).\($0)" }.joined()
                }.joined()
                + " z.floor z.floor.ppv z.floor.rms z.floor.kb_fmax z.floor.aw_rms z.floor.vdv z.below_floor pvs pvs_t"
                + " half_cycles half_cycles.axis half_cycles.value half_cycles.t half_cycles.frequency_hz period period_seconds limit limit.name limit.axis limit.value limit.limit limit.share"
                + " limit.t limit.frequency_hz state"
        ) { $0.send(Samples.vibration, time: Samples.onset, quality: Samples.quality, to: $1) },
        Case(
            file: "modes.json",
            keys: "\(envelope) \(quality) start seconds segments resolution_hz temperature_c modes"
                + " modes.id modes.frequency_hz modes.damping modes.x modes.y modes.z modes.prominence_db modes.picked"
        ) { $0.send(Samples.modes, time: Samples.onset, quality: Samples.quality, to: $1) },
        Case(
            file: "warning.json",
            keys: "\(envelope) state network_event version alarm s_arrival seconds mmi mmi_range distance_km magnitude"
                + " issued"
        ) { $0.send(Samples.warning, to: $1) },
        Case(
            file: "health.json",
            keys:
                "\(envelope) sensor rate_hz rate_error_ppm rate_uncertainty_ppm samples gaps lost_samples clipped time time.synced"
                + " time.source time.error_ms outbox outbox.messages outbox.bytes outbox.oldest_s outbox.dropped"
                + " outbox.dropped.essential outbox.dropped.state outbox.dropped.trace outbox.deleted_age outbox.deleted_room mqtt"
                + " mqtt.connects mqtt.published"
                + " mqtt.acked mqtt.replaced mqtt.refused mqtt.refused.quota_exceeded mqtt.refused.not_authorized"
                + " mqtt.rejected_commands warnings warnings.issued warnings.alarms warnings.refused warnings.refused.old"
                + " driver driver.lost driver.overruns driver.lost_triggers driver.duplicates"
                + " driver.clock_steps driver.slow_reads driver.retries driver.wake_ups driver.time_error_ms loop_late_ms cpu_pct rss_bytes temperature_c host_temperature_c uptime_s alerts"
        ) { $0.send(Samples.health, time: Samples.onset, to: $1) },
        Case(
            file: "alert.json",
            keys: "\(envelope) code severity since message details details.bus details.address"
        ) { $0.send(Samples.alert, time: Samples.onset, to: $1) },
        Case(
            file: "update.json",
            keys:
                "\(envelope) phase since id version from installed progress_pct until reason ended ended.updated"
                + " ended.returned ended.refused ended.failed"
        ) { $0.send(Samples.update, time: Samples.onset, to: $1) },
        Case(file: "event-onset.json", keys: event) {
            $0.send(Samples.event(.onset), time: Samples.onset, quality: Samples.quality, to: $1)
        },
        Case(file: "event-update.json", keys: "\(event) \(assessed)") {
            $0.send(Samples.event(.update), time: Samples.onset, quality: Samples.quality, to: $1)
        },
        Case(
            file: "event-end.json",
            keys:
                "\(event) \(assessed) class_features alarm end response_spectrum response_spectrum.period_s response_spectrum.x response_spectrum.y response_spectrum.geometric_mean d5_75_s d5_95_s gaps missing_s acceleration_valid velocity_valid displacement_valid sta_lta_max sta_lta_max.x sta_lta_max.y sta_lta_max.z sta_lta_max.h sta_lta_max.v3"
                + " dominant_hz direction direction.azimuth_deg direction.axis direction.incidence_deg direction.rectilinearity first_motion first_motion.axis"
                + " first_motion.t waveform waveform.topic waveform.bytes waveform.records waveform.sha256"
                + " waveform.messages waveform.unit_per_count test"
        ) { $0.send(Samples.event(.end), time: Samples.onset, quality: Samples.quality, to: $1) },
        Case(file: "trace.json", keys: "\(envelope) \(quality) rate_hz n unit gap \(trace)") {
            $0.send(Samples.trace(), time: Samples.onset, quality: Samples.quality, to: $1)
        },
        Case(
            file: "reply.json",
            keys: "\(envelope) id cmd phase rev errors incomplete result result.rev result.changed result.live"
                + " result.restart_stream result.needs_restart result.pending result.pending.rev result.pending.deadline"
        ) { GoldenTests.send(Samples.reply, &$0, $1) },
        Case(
            file: "reply-failed.json",
            keys: "\(envelope) cmd phase rev errors errors.path errors.code errors.message errors.got"
                + " errors.allowed errors.nearest result"
        ) { GoldenTests.send(Samples.failure, &$0, $1) },
        Case(file: "log.json", keys: "\(envelope) level message fields fields.broker fields.retry_s fields.count") {
            $0.send(Samples.logLine, to: $1)
        },
        Case(file: "trace-raw.json", keys: "\(envelope) \(quality) rate_hz n unit gap x x.raw y y.raw z z.raw") {
            $0.send(Samples.trace(.raw), time: Samples.onset, quality: Samples.quality, to: $1)
        },
    ]

    private static func send(_ reply: ReplyMessage, _ messenger: inout Messenger, _ sink: PublicationSink) {
        let bytes = messenger.reply(reply, time: Samples.onset)
        let header = Messenger.header(ReplyDestination(topic: "seismote/basement-north/res/a1"))
        bytes.withUnsafeBytes { sink(header, $0) }
    }

    @Test(arguments: cases)
    func equalsTheStoredFile(_ golden: Case) throws {
        try Self.compare(Self.bytes(golden), with: golden.file)
    }

    @Test(arguments: cases)
    func storedFileHasExactlyTheseKeys(_ golden: Case) throws {
        var found: Set<String> = []
        Self.collect(try Vectors.json("messages/\(golden.file)"), below: "", into: &found)
        // Settings' schema is passed through; what is inside is not ours.
        #expect(found.sorted() == Set(golden.keys.split(separator: " ").map(String.init)).sorted())
    }

    @Test(arguments: [(true, "online.txt"), (false, "offline.txt")])
    func onlineIsPlainText(_ online: Bool, _ file: String) throws {
        let collector = Collector()
        try Samples.messenger().send(online: online, to: collector.sink)
        try Self.compare(try #require(collector.sent.first).bytes, with: file)
    }

    private static func bytes(_ golden: Case) throws -> [UInt8] {
        let collector = Collector()
        var messenger = try Samples.messenger()
        golden.send(&messenger, collector.sink)
        return try #require(collector.sent.first).bytes
    }

    /// Compares, or stores where that was asked for.
    static func compare(_ bytes: [UInt8], with file: String) throws {
        let path = "messages/\(file)"
        if ProcessInfo.processInfo.environment["SEISMOTE_STORE_VECTORS"] == "messages" {
            try Data(bytes).write(to: Vectors.url(path))
        }
        let stored = [UInt8](try Vectors.data(path))
        #expect(String(decoding: bytes, as: UTF8.self) == String(decoding: stored, as: UTF8.self))
        #expect(bytes == stored)
    }

    private static func collect(_ tree: Any, below path: String, into keys: inout Set<String>) {
        if let object = tree as? [String: Any] {
            for (key, value) in object {
                let name = path.isEmpty ? key : "\(path).\(key)"
                keys.insert(name)
                collect(value, below: name, into: &keys)
            }
        } else if let list = tree as? [Any] {
            for element in list { collect(element, below: path, into: &keys) }
        }
    }
}
