import Messages
import Testing

@testable import Settings

/// What is wrong is said exactly, and all of it at once.
@Suite struct ErrorTests {
    /// `path code` of each error, sorted.
    private func summary(_ text: String) -> [String] { errors(text).map { "\($0.path) \($0.code.rawValue)" }.sorted() }

    @Test(arguments: [
        ("trace: {rate_hz: fast}", "/trace/rate_hz type"),
        ("trace: {rate_hz: 0}", "/trace/rate_hz range"),
        ("trace: {rate_hz: -5}", "/trace/rate_hz range"),
        ("trace: {rate_hz: .nan}", "/trace/rate_hz type"),
        ("trace: {rate_hz: .inf}", "/trace/rate_hz type"),
        ("trace: {rate_hz: [20]}", "/trace/rate_hz type"),
        ("trace: {rate: 20}", "/trace/rate unknown_key"),
        ("trace: {signals: [raw, loud]}", "/trace/signals/1 range"),
        ("trace: {qos: 2}", "/trace/qos range"),
        ("trace: {enabled: yes}", "/trace/enabled type"),
        ("trace: 5", "/trace type"),
        ("tracer: {}", "/tracer unknown_key"),
        ("station: {id: group}", "/station/id range"),
        ("station: {id: 'a b'}", "/station/id range"),
        ("station: {latitude: 91}", "/station/latitude range"),
        ("sensor: {driver: telepathy}", "/sensor/driver range"),
        ("sensor: {rate_hz: 1e9}", "/sensor/rate_hz range"),
        ("sensor: {driver: replay}", "/sensor/replay/file cross_field"),
        ("sensor: {mounting: {x: +y}}", "/sensor/mounting cross_field"),
        ("conditioning: {offset: {mode: magic}}", "/conditioning/offset/mode range"),
        ("conditioning: {offset: {mode: mean_first}}", "/conditioning/offset type"),
        ("conditioning: {settle_s: -1}", "/conditioning/settle_s range"),
        (
            "axes: {x: {filter: {butterworth: {type: lowpass, corner_hz: 50, order: 2}}}}",
            "/axes/x/filter/butterworth/corner_hz cross_field"
        ),
        (
            "axes: {x: {filter: {butterworth: {type: lowpass, corner_hz: 5, order: 11}}}}",
            "/axes/x/filter/butterworth/order range"
        ),
        (
            "axes: {y: {filter: {butterworth: {type: bandpass, corners_hz: [10, 1], order: 2}}}}",
            "/axes/y/filter/butterworth/corners_hz cross_field"
        ),
        ("axes: {z: {signal: {sine: {frequency_hz: 60}}}}", "/axes/z/signal/sine/frequency_hz cross_field"),
        ("axes: {x: {detection: {window: 0}}}", "/axes/x/detection/window range"),
        ("axes: {x: {detection: {threshold: 5 kg}}}", "/axes/x/detection/threshold type"),
        ("axes: {x: {detection: {threshold: -1}}}", "/axes/x/detection/threshold range"),
        ("axes: {w: {}}", "/axes/w unknown_key"),
        ("intensity: {scales: [worden12, worden12]}", "/intensity/scales/1 range"),
        ("intensity: {scales: [jma]}", "/intensity/scales/0 range"),
        ("mqtt: {uri: http://x}", "/mqtt/uri range"),
        ("mqtt: {protocol: 4}", "/mqtt/protocol range"),
        ("mqtt: {reconnect: {min_s: 10, max_s: 5}}", "/mqtt/reconnect/max_s cross_field"),
        ("mqtt: {tls: {cert_file: /c}}", "/mqtt/tls/key_file cross_field"),
        ("mqtt: {root: 'a/#'}", "/mqtt/root range"),
        ("log: {level: shout}", "/log/level range"),
    ]) func oneErrorIsNamedByItsPathAndCode(text: String, expected: String) {
        #expect(summary(text) == [expected])
    }

    @Test func allErrorsAreListedWithTheirLines() {
        let text = """
            trace:
              rate_hz: fast
              qos: 7
            station: {latitude: 100}
            mqtt:
              keepalive: 30
            """
        let found = errors(text).sorted { ($0.line ?? 0, $0.path) < ($1.line ?? 0, $1.path) }
        #expect(found.map(\.path) == ["/trace/rate_hz", "/trace/qos", "/station/latitude", "/mqtt/keepalive"])
        #expect(found.map(\.line) == [2, 3, 4, 6])
        #expect(found.map(\.code) == [.type, .range, .range, .unknownKey])
        #expect(found.last?.nearest == "keepalive_s")
        #expect(found.first?.got == "fast" && found.first?.allowed != nil)
    }

    @Test func aCornerAboveNyquistNamesTheRateAndWhatIsAllowed() throws {
        let text =
            "sensor: {rate_hz: 40}\naxes: {y: {filter: {butterworth: {type: highpass, corner_hz: 25, order: 2}}}}"
        let error = try #require(errors(text).first { $0.path.hasPrefix("/axes/y/filter") })
        #expect(error.code == .crossField)
        #expect(error.text().contains("20") && error.text().contains("40"))
    }

    @Test func theCommandLineGoesAboveTheFileAndIsCheckedTheSame() throws {
        let loaded = try load("trace: {rate_hz: 10}", overrides: ["trace.rate_hz=5", "axes.all.filter=none"])
        #expect(loaded.configuration.trace.rate == 5)
        #expect(loaded.configuration.axes.z.filter == .none)
        #expect(loaded.sources["trace.rate_hz"] == .commandLine)
        #expect(errors("log: {level: info}", overrides: ["trace.rate_hz=never"]).first?.source == .commandLine)
        #expect(!errors("log: {level: info}", overrides: ["nonsense"]).isEmpty)
    }

    @Test func presetFileOverlayAndCommandLineInThatOrder() throws {
        let loaded = try load(
            "trace: {rate_hz: 10, qos: 0}", preset: "trace: {rate_hz: 4, qos: 0, block_s: 4}",
            overlay: ["trace": ["qos": 1]])
        #expect(loaded.configuration.trace.rate == 10)
        #expect(loaded.configuration.trace.qos == 1)
        #expect(loaded.configuration.trace.block == 4)
        #expect(loaded.sources["trace.block_s"] == .preset && loaded.sources["trace.qos"] == .overlay)
    }

    @Test func unitsInText() throws {
        let loaded = try load(
            "axes: {x: {detection: {window: 200 ms, threshold: 5 mg}}, y: {detection: {threshold: 4.9 gal}}, "
                + "z: {detection: {threshold: 0.05 m/s^2, window: 0.5 min}}}\nsensor: {range: 4 g, rate_hz: 0.2 kHz}")
        let c = loaded.configuration
        #expect(c.axes.x.detection.window == .seconds(0.2) && c.axes.z.detection.window == .seconds(30))
        #expect(abs(c.axes.x.detection.threshold - 5e-3 * 9.80665) < 1e-15)
        #expect(abs(c.axes.y.detection.threshold - 0.049) < 1e-15 && c.axes.z.detection.threshold == 0.05)
        #expect(c.sensor.rate == 200 && abs(c.sensor.range - 4 * 9.80665) < 1e-12)
    }
}

/// The examples of RFC 7396, appendix A.
@Suite struct MergePatchTests {
    @Test(arguments: [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#), (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ]) func followsTheRFC(target: String, patch: String, expected: String) throws {
        let (target, patch) = (try JSONReader.read(Array(target.utf8)), try JSONReader.read(Array(patch.utf8)))
        #expect(String(decoding: MergePatch.apply(patch, to: target).json(), as: UTF8.self) == expected)
    }
}
