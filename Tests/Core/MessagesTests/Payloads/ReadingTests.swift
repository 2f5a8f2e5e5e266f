import Foundation
import TestSupport
import Testing
import Values

@testable import Messages

/// Messages as displays read them: each golden message by the reader that stands beside its declaration.
@Suite struct ReadingTests {
    /// Members of a message, and whether a reading gives what the message says.
    private final class Members<Reading> {
        private(set) var all: [(path: [String], holds: (Reading) -> Bool)] = []

        func callAsFunction<Read: Equatable>(
            _ path: String, _ read: @escaping (Reading) -> Read, _ expected: Read
        ) {
            all.append((path.split(separator: ".").map(String.init), { read($0) == expected }))
        }
    }

    /// The message with something else at a path of keys and numbers of a list's objects.
    private func odd(_ value: Value, _ path: ArraySlice<String>, _ other: Value) -> Value {
        guard let name = path.first else { return other }
        if case .object(var members) = value {
            for k in members.indices where members[k].key == name {
                members[k].value = odd(members[k].value, path.dropFirst(), other)
            }
            return .object(members)
        }
        if case .array(var list) = value, let index = Int(name), list.indices.contains(index) {
            list[index] = odd(list[index], path.dropFirst(), other)
            return .array(list)
        }
        return value
    }

    /// Each member is read from where it stands, and an odd one changes no other.
    private func check<Reading>(
        _ message: Value, _ read: (Value) -> Reading, _ declare: (Members<Reading>) -> Void
    ) {
        let declared = Members<Reading>()
        declare(declared)
        let (members, whole) = (declared.all, read(message))
        for member in members { #expect(member.holds(whole), "\(member.path)") }
        for member in members {
            for other: Value in [.null, [["odd": "\u{1b}[2J\u{0}"]], ["odd": [1e308]], .double(-1e300), "\u{202e}odd"] {
                let reading = read(odd(message, member.path[...], other))
                #expect(!member.holds(reading), "\(member.path) is not read where it stands")
                for neighbour in members where !neighbour.path.starts(with: member.path) {
                    let isPart = member.path.starts(with: neighbour.path)
                    #expect(isPart || neighbour.holds(reading), "\(neighbour.path) beside an odd \(member.path)")
                }
            }
        }
    }

    private func golden(_ name: String) throws -> Value {
        try JSONReader.read([UInt8](Vectors.data("messages/\(name).json")))
    }

    private static let moment: Int64 = Samples.onset

    @Test func info() throws {
        check(try golden("info"), InfoReading.init) { has in
            has("agent.version", { $0.version }, "0.1.0")
            has("station.id", { $0.station?.id }, "basement-north")
            has("station.id", { $0.station?.isOf("basement-north") }, true)
            has("station.network", { $0.station?.network }, "XX")
            has("station.code", { $0.station?.code }, "BASE")
            has("station.location", { $0.station?.location }, "00")
            has("station.latitude", { $0.station?.latitude }, 37.77)
            has("station.longitude", { $0.station?.longitude }, -122.42)
            has("station.elevation_m", { $0.station?.elevation }, 16)
            has("station.description", { $0.station?.description }, "Basement, \"north\" wall")
            has("station.groups", { $0.station?.groups }, ["school", "all-floors"])
            has("sensor.driver", { $0.sensor?.driver }, "simulate")
            has("sensor.chip", { $0.sensor?.chip }, "quake")
            has("sensor.rate_hz", { $0.sensor?.rate }, 100)
            has("sensor.range", { $0.sensor?.range }, 19.6133)
            has("sensor.resolution", { $0.sensor?.resolution }, 1e-05)
            has("sensor.calibration.t", { $0.sensor?.calibrated }, Self.moment)
            has("sensor.calibration.method", { $0.sensor?.calibrationMethod }, "rest")
        }
        let bare = InfoReading(["station": ["latitude": .null]])
        #expect(!bare.hasAgent && bare.station?.statedLatitude == nil && bare.station?.isOf("a") == true)
    }

    @Test func config() throws {
        check(try golden("config"), ConfigReading.init) { has in has("rev", { $0.revision }, 7) }
        let settings: Value = [
            "mqtt": ["uri": ["mqtt://a", "mqtts://b"], "root": "school"],
            "sensor": [
                "mounting": ["north_deg": 12.5], "calibration": ["offset": [0.25, 0.5, 1], "matrix": [2, 3]],
            ],
            "trace": ["enabled": true, "rate_hz": 20, "filter": "fir"],
            "vibration": ["limit": "din4150-3:dwellings:foundation", "interval_s": 10],
        ]
        check(["rev": 7, "config": settings], ConfigReading.init) { has in
            has("rev", { $0.revision }, 7)
            has("config.mqtt.uri", { $0.settings?.brokers }, ["mqtt://a", "mqtts://b"])
            has("config.mqtt.root", { $0.settings?.root }, "school")
            has("config.sensor.mounting.north_deg", { $0.settings?.north }, 12.5)
            has("config.sensor.calibration.offset", { $0.settings?.calibrationOffset }, [0.25, 0.5, 1])
            has("config.sensor.calibration.matrix", { $0.settings?.calibrationMatrix }, [2, 3])
            has("config.trace.enabled", { $0.settings?.hasTraces }, true)
            has("config.trace.rate_hz", { $0.settings?.statedTraceRate }, 20)
            has("config.trace.filter", { $0.settings?.traceFilter }, "fir")
            has("config.vibration.limit", { $0.settings?.vibrationLimit }, "din4150-3:dwellings:foundation")
            has("config.vibration.interval_s", { $0.settings?.vibration("interval_s") }, 10)
        }
        #expect(SettingsReading(["mqtt": ["uri": "mqtt://a"]]).brokers == ["mqtt://a"])
    }

    @Test func summaryAndLevel() throws {
        check(try golden("summary"), SummaryReading.init) { has in
            has("t", { $0.time }, "2026-01-05T10:20:30.120000000Z")
            has("tq.synced", { $0.clock?.isSynced }, true)
            has("tq.source", { $0.clock?.source }, "ntp")
            has("tq.error_ms", { $0.clock?.error }, 2.1)
            has("window_s", { $0.window }, 10)
            has("x.rms", { $0.level("x")?.rms }, 0.0123)
            has("v3.peak", { $0.level("v3")?.peak }, 0.0511)
            has("pga", { $0.pga }, 0.041)
            has("pga_pct_g", { $0.pgaPercentG }, 0.4180836)
            has("pgv", { $0.pgv }, 0.0021)
            has("intensity.0.scale", { $0.intensities.first?.scale }, "mmi")
            has("intensity.0.relation", { $0.intensities.first?.relation }, "worden12")
            has("intensity.0.value", { $0.intensities.first?.value }, 3.2)
            has("intensity.0.roman", { $0.intensities.first?.roman }, "III")
            has("intensity.0.from_pga", { $0.intensities.first?.fromPGA }, 3.1)
            has("intensity.1.grade", { $0.intensities.last?.grade }, "1")
            has("sta_lta.v3", { $0.ratios.first { $0.signal == "v3" }?.ratio }, 3.4)
            has("triggered", { $0.isTriggered }, true)
            has("detectors", { $0.detectors }, ["level"])
        }
        let settling = SummaryReading(try golden("summary-settling"))
        #expect(!settling.isValid && settling.reason == "settling" && SummaryReading(.null).isValid)
        check(try golden("level"), LevelReading.init) { has in
            has("pga", { $0.pga }, 0.041)
            has("mmi", { $0.mmi }, 3.2)
            has("jma", { $0.jma }, 1.2)
            has("triggered", { $0.isTriggered }, true)
            has("synced", { $0.isSynced }, true)
            has("valid", { $0.isValid }, true)
        }
    }

    @Test func health() throws {
        check(try golden("health"), HealthReading.init) { has in
            has("sensor", { $0.sensor }, "ok")
            has("time.synced", { $0.clock?.isSynced }, true)
            has("time.error_ms", { $0.clock?.error }, 2.1)
            has("alerts", { $0.alerts }, ["clock_unsynced"])
            has("rate_hz", { $0.rate }, 99.98)
            has("temperature_c", { $0.temperature }, 41.5)
            has("samples", { $0.samples }, 360_000)
            has("gaps", { $0.gaps }, 1)
            has("lost_samples", { $0.lostSamples }, 12)
            has("cpu_pct", { $0.cpuPercent }, 1.2)
            has("rss_bytes", { $0.residentBytes }, 9_400_000)
            has("uptime_s", { $0.uptime }, 3600.5)
            has("mqtt.acked", { $0.acknowledged }, 3650)
        }
        check(try golden("alert"), AlertReading.init) { has in
            has("code", { $0.code }, "sensor_missing")
            has("severity", { $0.severity }, "error")
            has("since", { $0.since }, Self.moment)
            has("message", { $0.message }, "No accelerometer at bus 1, address 0x53")
        }
        #expect(AlertReading(["details": ["axes": ["x", "z"]]]).axes == ["x", "z"])
        #expect(AlertReading([:]).isAlert && !AlertReading("alert").isAlert)
    }

    @Test func replies() throws {
        check(try golden("reply"), ReplyReading.init) { has in
            has("id", { $0.id }, "a1")
            has("cmd", { $0.command }, "config")
            has("phase", { $0.phase }, .done)
            has("rev", { $0.revision }, 7)
            has("incomplete", { $0.isIncomplete }, true)
            has("result.rev", { $0.result.revision }, 7)
            has("result.changed", { $0.result.changed }, ["trace.rate_hz", "mqtt.uri"])
            has("result.pending.rev", { $0.result.pendingRevision }, 7)
            has("result.pending.deadline", { $0.result.pendingDeadline }, "2026-01-05T10:21:30.120000000Z")
        }
        check(try golden("reply-failed"), ReplyReading.init) { has in
            has("phase", { $0.phase }, .failed)
            has("errors.0.path", { $0.errors.first?.path }, "/axes/x/detection/window")
            has("errors.0.code", { $0.errors.first?.code }, "range")
            has("errors.0.message", { $0.errors.first?.message }, "0 is outside 1…65536.")
            has("errors.0.got", { $0.errors.first?.got }, 0)
            has("errors.0.allowed", { $0.errors.first?.allowed }, "1…65536")
            has("errors.1.nearest", { $0.errors.last?.nearest }, "config")
        }
        let message = #"""
            {"dry_run": true, "needs_restart": ["sensor.driver"], "restart_stream": ["trace.rate_hz"],
            "sources": {"overlay": ["/sensor/rate_hz"]}, "event_id": "a-1", "label": "lorry", "next": 20,
            "bytes": 512, "sha256": "ab", "samples": 100, "records": 3, "gaps": 1, "step_s": 60,
            "x": {"rms": [1, 2]}, "messages": 4, "uptime_s": 2.5, "version": "0.1.0", "passed": true,
            "from": "2026-01-05T10:20:30.12Z", "to": "b", "since": "c", "until": "d", "topics": 5, "blocks": 6,
            "alerts": [{"code": "clock_unsynced"}], "events": [{"event_id": "a-1"}],
            "revisions": [{"rev": 6, "t": "e", "source": "ctl", "changed": ["trace.rate_hz"]}],
            "rejected": {"rev": 8, "errors": [{"code": "range"}]}}
            """#
        check(try JSONReader.read(Array(message.utf8)), ResultReading.init) { has in
            has("dry_run", { $0.isDry }, true)
            has("needs_restart", { $0.needsRestart }, ["sensor.driver"])
            has("restart_stream", { $0.restartsStream }, ["trace.rate_hz"])
            has("sources.overlay", { $0.keys(from: "overlay") }, ["/sensor/rate_hz"])
            has("event_id", { $0.eventID }, "a-1")
            has("label", { $0.label }, "lorry")
            has("next", { $0.nextNumber }, 20)
            has("bytes", { $0.bytes }, 512)
            has("sha256", { $0.digest }, "ab")
            has("samples", { $0.samples }, 100)
            has("records", { $0.records }, 3)
            has("gaps", { $0.gaps }, 1)
            has("step_s", { $0.step }, 60)
            has("x.rms", { $0.column("x", "rms") }, [1, 2])
            has("messages", { $0.messages }, 4)
            has("uptime_s", { $0.uptime }, 2.5)
            has("version", { $0.version }, "0.1.0")
            has("passed", { $0.hasPassed }, true)
            has("from", { $0.begin }, Self.moment)
            has("to", { $0.to }, "b")
            has("since", { $0.since }, "c")
            has("until", { $0.until }, "d")
            has("topics", { $0.topics }, 5)
            has("blocks", { $0.blocks }, 6)
            has("alerts.0.code", { $0.alerts.first?.code }, "clock_unsynced")
            has("revisions.0.rev", { $0.revisions.first?.number }, 6)
            has("revisions.0.t", { $0.revisions.first?.time }, "e")
            has("revisions.0.source", { $0.revisions.first?.source }, "ctl")
            has("revisions.0.changed", { $0.revisions.first?.changed }, ["trace.rate_hz"])
            has("rejected.rev", { $0.rejected?.number }, 8)
            has("rejected.errors.0.code", { $0.rejected?.errors.first?.code }, "range")
        }
    }

    @Test func updates() throws {
        check(try golden("update"), UpdateReading.init) { has in
            has("id", { $0.id }, "u1")
            has("phase", { $0.phase }, .returning)
            has("reason", { $0.reason }, "no samples come")
        }
    }

    @Test func logLines() throws {
        check(try golden("log"), LogReading.init) { has in
            has("t", { $0.time }, "2026-01-05T10:20:30.120000000Z")
            has("message", { $0.words }, "not connected: \"refused\"")
            has("fields.broker", { $0.fields.first { $0.key == "broker" }?.value }, "mqtt://localhost:1883")
        }
        #expect(LogReading(["text": "of an early version"]).words == "of an early version")
    }

    @Test func events() throws {
        check(try golden("event-end"), StationEventMembers.init) { has in
            has("event_id", { $0.id }, "basement-north-20260105T102030120Z")
            has("station", { $0.station }, "basement-north")
            has("event_type", { $0.kind }, .end)
            has("onset", { $0.onset }, Self.moment)
            has("end", { $0.end }, Self.moment + 32_500_000_000)
            has("duration_s", { $0.duration }, 32.5)
            has("tq.error_ms", { $0.clock?.error }, 2.1)
            has("p_time", { $0.arrival }, Self.moment - 500_000_000)
            has("p_sigma_s", { $0.arrivalSigma }, 0.125)
            has("detectors.0.name", { $0.detectors.first?.name }, "level")
            has("detectors.0.axes", { $0.detectors.first?.axes }, ["x", "z"])
            has("pga", { $0.pga }, 0.41)
            has("pgv", { $0.pgv }, 0.021)
            has("mmi", { $0.mmi }, 3.2)
            has("jma", { $0.jma }, 1.2)
            has("dominant_hz", { $0.dominant }, 2.75)
            has("class.likely", { $0.likely }, "earthquake")
            has("class.p", { $0.probability }, 0.9375)
            has("class.t_s", { $0.judged }, 1)
            has("class.certain", { $0.isClassCertain }, true)
            has("onsite.pgv_predicted", { $0.onsite?.pgv }, 0.0625)
            has("onsite.pgv_low", { $0.onsite?.low }, 0.03125)
            has("onsite.pgv_high", { $0.onsite?.high }, 0.25)
            has("onsite.saturated", { $0.onsite?.isSaturated }, true)
            has("alarm", { $0.hasAlarm }, true)
            has("velocity_valid", { $0.isVelocityValid }, false)
            has("acceleration_valid", { $0.isAccelerationValid }, false)
            has("clipped", { $0.isClipped }, true)
            has("waveform.records", { $0.records }, 9)
            has("test", { $0.isTest }, true)
        }
        let later: Value = ["confirmed": true, "label": "lorry", "class": ["final": true, "moved": true]]
        let members = StationEventMembers(later)
        #expect(members.isConfirmed && members.label == "lorry" && members.isClassFinal && members.isMoved)
    }

    @Test func tracesAndVibration() throws {
        let trace = try #require(TraceBlockReading(try golden("trace")))
        #expect(trace.time == Self.moment && trace.rate == 20)
        #expect(trace.column("y", "raw") == [0.002, 0.004, 0.006, 0.008] && trace.column("y", "none") == nil)
        for path in ["t", "rate_hz"] {
            #expect(TraceBlockReading(odd(try golden("trace"), [path], .null)) == nil)
        }
        check(try golden("vibration"), VibrationReading.init) { has in
            has("interval_s", { $0.interval }, 60)
            has("x.ppv", { $0.axis("x")?.ppv }, 3.5)
            has("x.frequency_hz", { $0.axis("x")?.frequency }, 12.25)
            has("y.rms", { $0.axis("y")?.rms }, 0.5)
            has("y.kb_fmax", { $0.axis("y")?.kbFmax }, 1.25)
            has("z.vdv_period", { $0.axis("z")?.dose }, 0.125)
            has("z.below_floor", { $0.axis("z")?.isBelowFloor }, true)
            has("limit.name", { $0.limit }, "din4150-3:dwellings:foundation")
            has("limit.share", { $0.share }, 0.7)
        }
    }

    @Test func agentsAndNetworks() throws {
        let message = #"""
            {"process": 12, "written_ns": 5e9, "connected": true, "broker": "mqtt://a", "mqtt": "5.0",
            "waiting": true, "ended": true, "event_open": true, "mean": {"x": 1, "y": 2, "z": 9.5},
            "health": {"sensor": "ok"}, "alerts": [{"code": "clock_unsynced"}], "agent": {"version": "0.1.0"}}
            """#
        check(try JSONReader.read(Array(message.utf8)), AgentStateReading.init) { has in
            has("process", { $0.process }, 12)
            has("written_ns", { $0.written }, 5e9)
            has("connected", { $0.isConnected }, true)
            has("broker", { $0.broker }, "mqtt://a")
            has("mqtt", { $0.mqtt }, "5.0")
            has("waiting", { $0.isWaiting }, true)
            has("ended", { $0.isEnded }, true)
            has("event_open", { $0.isEventOpen }, true)
            has("mean.y", { $0.mean }, [1, 2, 9.5])
            has("health.sensor", { $0.health?.sensor }, "ok")
            has("alerts.0.code", { $0.alerts.first?.code }, "clock_unsynced")
            has("agent.version", { $0.info.version }, "0.1.0")
        }
        check(["online": true, "moved": [["id": "a", "distance_km": 12.5]]], NetworkStatusReading.init) { has in
            has("online", { $0.isOnline }, true)
            has("moved.0", { $0.moved.first?.id }, "a")
            has("moved.0", { $0.moved.first?.distance }, 12.5)
        }
        check(["boot": "b", "seq": 4, "t": "2026-01-05T10:20:30.12Z"], MessageStamp.init) { has in
            has("boot", { $0.boot }, "b")
            has("seq", { $0.sequence }, 4)
            has("seq", { $0.number }, 4)
            has("t", { $0.time }, Self.moment)
        }
    }
}
