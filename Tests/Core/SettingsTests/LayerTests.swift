import Messages
import SignalProcessing
import Testing
import Values

@testable import Settings

@Suite struct LayerTests {
    @Test func aHigherLayerWinsAndTheSourceIsKnown() throws {
        let loaded = try load(
            "trace: {rate_hz: 10, qos: 0}\nhealth: {interval_s: 30}",
            preset: "trace: {rate_hz: 5, block_s: 2}\nlog: {level: debug}",
            overlay: ["trace": ["rate_hz": 12], "health": ["interval_s": .null]],
            overrides: ["trace.rate_hz=15", "log.level=", "mqtt.uri=[mqtt://a, mqtt://b]"])
        let c = loaded.configuration
        #expect(c.trace.rate == 15 && c.trace.qos == 0 && c.trace.block == 2)
        #expect(c.health.interval == 60, "null in the overlay goes back to the default")
        #expect(c.log.level == .info && c.mqtt.uris == ["mqtt://a", "mqtt://b"])
        let sources: [String: SettingSource] = [
            "trace.rate_hz": .commandLine, "trace.qos": .file, "trace.block_s": .preset, "mqtt.uri": .commandLine,
        ]
        #expect(loaded.sources == sources)
        #expect(loaded.origins["trace.qos"]?.line == 1)
    }

    @Test func allIsSpreadWithinItsLayerBeforeLayersAreMerged() throws {
        // In one layer the axis wins, wherever it stands; a higher layer's `all` wins over a lower layer's axis.
        let file = "axes: {x: {detection: {window: 7}}, all: {detection: {window: 5, hold: 3}}}"
        let alone = try load(file).configuration.axes
        #expect([alone.x, alone.y, alone.z].map(\.detection.window) == [.samples(7), .samples(5), .samples(5)])
        #expect(alone.x.detection.hold == .samples(3))
        let above = try load(file, overrides: ["axes.all.detection.window=9", "axes.z.detection.window=2 s"])
        let axes = above.configuration.axes
        #expect([axes.x, axes.y, axes.z].map(\.detection.window) == [.samples(9), .samples(9), .seconds(2)])
        #expect(above.sources["axes.x.detection.window"] == .commandLine)
        #expect(above.sources["axes.x.detection.hold"] == .file)
        #expect(above.origins["axes.y.detection.hold"]?.pointer == "/axes/all/detection/hold")
    }

    @Test func nullOnAGroupTakesAllOfItBack() throws {
        let file = "axes: {all: {filter: none, detection: {window: 5}}}\ntrace: {qos: 0}"
        let loaded = try load(file, overlay: ["axes": ["y": .null], "trace": .null])
        #expect(loaded.configuration.axes.y == AxisConfiguration() && loaded.configuration.trace.qos == 1)
        #expect(loaded.configuration.axes.x.filter == FilterSpecification.none)
        #expect(loaded.sources["axes.y.filter"] == nil)
    }

    /// Half of the old filter and half of the new one is no filter.
    @Test func aFilterIsReplacedAsAWhole() throws {
        let file = "axes: {all: {filter: {butterworth: {type: lowpass, corner_hz: 5}}}}"
        let loaded = try load(file, overlay: ["axes": ["x": ["filter": ["chain": ["none"]]]]])
        #expect(loaded.configuration.axes.x.filter == .chain([.none]))
        let offset = try load(
            "conditioning: {offset: {mode: mean_first, seconds: 2}}",
            overlay: ["conditioning": ["offset": ["mode": "ema", "alpha": 0.1]]])
        #expect(offset.configuration.conditioning.offset == .ema(.alpha(0.1)))
    }

    @Test func errorsOfAllLayersAreListed() {
        let found = errors(
            "trace: {qos: 3}", preset: "trace: {qos: 4}", overlay: ["trace": ["qos": 5], "locked": ["mqtt"]],
            overrides: ["trace.qos=6", "trace.qos", "=5", "nothing.here=1", "trace.rate_hz=[1", "trace..qos=1"])
        #expect(
            found.map(\.source) == [
                .preset, .file, .overlay, .overlay, .commandLine, .commandLine, .commandLine, .commandLine,
                .commandLine, .commandLine,
            ])
        #expect(found.count { $0.code == .range } == 4)
        #expect(found[3].path == "/locked" && found[3].code == .unknownKey, "only the file locks")
        #expect(found[7].path == "/nothing" && found[8].path == "/trace/rate_hz" && found[8].line == nil)
    }

    @Test func rulesHoldForTheResultOfAllLayers() throws {
        #expect(errors("trace: {rate_hz: 150}", overrides: ["sensor.rate_hz=200"]) == [])
        let found = errors("trace: {rate_hz: 50}", overrides: ["sensor.rate_hz=40"])
        #expect(found.map(\.path) == ["/trace/rate_hz"] && found.first?.source == .file && found.first?.line == 1)
    }

    @Test func explanationsSayValueAndSource() throws {
        let loaded = try load("locked: [axes.all.filter]\naxes: {all: {detection: {threshold: 1 g}}}")
        let one = try SettingExplanation.of("axes.y.detection.threshold", in: loaded)
        #expect(one.count == 1 && one[0].effective == .double(standardGravity) && one[0].origin?.line == 2)
        #expect(one[0].text(fileName: "s.yaml").contains("from:     s.yaml, line 2 (/axes/all/detection/threshold)"))
        let filters = try SettingExplanation.of("axes.all.filter", in: loaded)
        #expect(filters.map(\.key) == ["axes.x.filter", "axes.y.filter", "axes.z.filter"])
        #expect(filters.allSatisfy { $0.isLocked && $0.origin == nil })
        #expect(try SettingExplanation.of("mqtt", in: loaded).count == 28)
        do throws(CodedError) {
            _ = try SettingExplanation.of("trace.rate", in: loaded)
            Issue.record("accepted")
        } catch {
            #expect(error.code == .unknownKey && error.nearest == "trace.rate_hz")
        }
    }

    @Test func filesAreReadWithinBounds() throws {
        func failure(_ path: String, preset: String? = nil) -> [CodedError] {
            do throws(CodedErrors) {
                _ = try Settings.load(path: path, preset: preset)
                return []
            } catch {
                return error.errors
            }
        }
        #expect(failure("/dev/zero").map(\.code) == [.tooLarge])
        #expect(failure("/dev/null").map(\.message) == ["The document is empty."])
        #expect(failure("/nowhere/x.yaml").map(\.code) == [.unavailable])
        #expect(failure("/").map(\.code) == [.unavailable])
        let both = failure("/nowhere/x.yaml", preset: "shak")
        #expect(both.map(\.source) == [.preset, .file] && both.first?.nearest == "shake")
    }

    // MARK: RFC 7396

    /// Appendix A of the RFC.
    @Test func mergePatchDoesWhatTheStandardSays() throws {
        let cases: [(String, String, String)] = [
            (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
            (#"{"a":"b"}"#, #"{"a":null}"#, #"{}"#), (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
            (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#), (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
            (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
            (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#), (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
            (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#), (#"{"a":"foo"}"#, "null", "null"),
            (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
            (#"{"e":null}"#, #"{"a":1}"#, #"{"e":null,"a":1}"#), (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
            (#"{}"#, #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
        ]
        for (target, patch, result) in cases {
            let read: (String) throws -> Value = { try JSONReader.read(Array($0.utf8)) }
            let (got, wanted) = (MergePatch.apply(try read(patch), to: try read(target)), try read(result))
            #expect(got == wanted, "\(target) \(patch)")
        }
    }
}
