import Messages
import SignalProcessing
import Testing
import Values

@testable import Settings

/// A document with one error, and what that error must be.
struct BadDocument: Sendable, CustomTestStringConvertible {
    var text: String
    var path: String
    var code: CodedError.Code
    var got: Value?
    var line: Int?

    init(_ text: String, _ path: String, _ code: CodedError.Code, got: Value? = nil, line: Int? = 1) {
        (self.text, self.path, self.code, self.got, self.line) = (text, path, code, got, line)
    }
    var testDescription: String { text }

    /// Wrong by themselves: the schema refuses them too.
    static let single: [BadDocument] = [
        .init("trace: {rate: 5}", "/trace/rate", .unknownKey),
        .init("tracee: {rate_hz: 5}", "/tracee", .unknownKey),
        .init("trace.rate_hz: 5", "/trace.rate_hz", .unknownKey),
        .init("a/b~c: 5", "/a~1b~0c", .unknownKey),
        .init("sensor: {driver: null}", "/sensor/driver", .type, got: .null),
        .init("sensor: 5", "/sensor", .type, got: 5),
        .init("sensor:", "/sensor", .type, got: .null),
        .init("[1, 2]", "", .type, got: [1, 2]),
        .init("just text", "", .type, got: "just text"),
        .init("trace: {enabled: yes}", "/trace/enabled", .type, got: "yes"),
        .init("trace: {enabled: 1}", "/trace/enabled", .type, got: 1),
        .init("trace: {qos: 2}", "/trace/qos", .range, got: 2),
        .init("trace: {qos: 0.5}", "/trace/qos", .type, got: 0.5),
        .init("trace: {qos: \"1\"}", "/trace/qos", .type, got: "1"),
        .init("trace: {encoding: xml}", "/trace/encoding", .range, got: "xml"),
        .init("trace: {encoding: 5}", "/trace/encoding", .type, got: 5),
        .init("trace: {signals: raw}", "/trace/signals", .type, got: "raw"),
        .init("trace: {signals: []}", "/trace/signals", .range, got: 0),
        .init("trace: {signals: [raw, rmss]}", "/trace/signals/1", .range, got: "rmss"),
        .init("trace: {signals: [raw, raw]}", "/trace/signals/1", .range, got: "raw"),
        .init("station: {id: group}", "/station/id", .range, got: "group"),
        .init("station: {id: a b}", "/station/id", .range, got: "a b"),
        .init("station: {id: 17}", "/station/id", .type, got: 17),
        .init("station: {location: 00}", "/station/location", .type, got: 0),
        .init("station: {latitude: 91}", "/station/latitude", .range, got: 91),
        .init("station: {latitude: north}", "/station/latitude", .type, got: "north"),
        .init("station: {description: \"a\\nb\"}", "/station/description", .range, got: "a\nb"),
        .init("station: {groups: [a, a]}", "/station/groups/1", .range, got: "a"),
        .init("station: {groups: [a, b c]}", "/station/groups/1", .range, got: "b c"),
        .init("sensor: {rate_hz: 0}", "/sensor/rate_hz", .range, got: 0),
        .init("sensor: {rate_hz: true}", "/sensor/rate_hz", .type, got: true),
        .init("sensor: {rate_hz: [100]}", "/sensor/rate_hz", .type, got: [100]),
        .init("sensor: {mounting: {x: up}}", "/sensor/mounting/x", .range, got: "up"),
        .init("sensor: {replay: {scale: [1, 2]}}", "/sensor/replay/scale", .range, got: 2),
        .init("sensor: {replay: {scale: 0}}", "/sensor/replay/scale", .range, got: 0),
        .init("sensor: {replay: {scale: [1, x, 1]}}", "/sensor/replay/scale/1", .type, got: "x"),
        .init("sensor: {simulate: {seed: -1}}", "/sensor/simulate/seed", .range, got: -1),
        .init("axes: {w: {filter: none}}", "/axes/w", .unknownKey),
        .init("axes: {x: {filter: bandpass}}", "/axes/x/filter", .range, got: "bandpass"),
        .init("axes: {x: {filter: {}}}", "/axes/x/filter", .type),
        .init("axes: {x: {filter: {fir: {}}}}", "/axes/x/filter/fir", .unknownKey),
        .init("axes: {x: {filter: {butterworth: none}}}", "/axes/x/filter/butterworth", .type, got: "none"),
        .init("axes: {x: {filter: {butterworth: {type: lowpass}}}}", "/axes/x/filter/butterworth", .type),
        .init("axes: {x: {filter: {butterworth: {corner_hz: 1}}}}", "/axes/x/filter/butterworth", .type),
        .init(
            "axes: {x: {filter: {butterworth: {type: lowpass, corner_hz: 1, order: 11}}}}",
            "/axes/x/filter/butterworth/order", .range, got: 11),
        .init(
            "axes: {x: {filter: {butterworth: {type: lowpass, corner_hz: 0}}}}",
            "/axes/x/filter/butterworth/corner_hz", .range, got: 0),
        .init(
            "axes: {x: {filter: {butterworth: {type: lowpass, corners_hz: [1, 2]}}}}",
            "/axes/x/filter/butterworth/corners_hz", .crossField),
        .init(
            "axes: {x: {filter: {butterworth: {type: bandpass, corner_hz: 1}}}}",
            "/axes/x/filter/butterworth/corner_hz", .crossField),
        .init(
            "axes: {x: {filter: {butterworth: {type: bandpass, corners_hz: [1, 2, 3]}}}}",
            "/axes/x/filter/butterworth/corners_hz", .range, got: 3),
        .init("axes: {x: {filter: shake:lp6}}", "/axes/x/filter", .range, got: "shake:lp6"),
        .init("axes: {x: {filter: {simple: {type: lowpass}}}}", "/axes/x/filter/simple", .type),
        .init(
            "axes: {x: {filter: {simple: {type: bandpass, corner_hz: 1}}}}",
            "/axes/x/filter/simple/type", .range, got: "bandpass"),
        .init(
            "axes: {x: {filter: {simple: {type: lowpass, corner_hz: 1, adaptive: 1}}}}",
            "/axes/x/filter/simple/adaptive", .type, got: 1),
        .init("axes: {x: {filter: {chain: []}}}", "/axes/x/filter/chain", .range, got: 0),
        .init("axes: {x: {filter: {chain: [{chain: [none]}]}}}", "/axes/x/filter/chain/0/chain", .unknownKey),
        .init("axes: {x: {signal: noise}}", "/axes/x/signal", .range, got: "noise"),
        .init("axes: {x: {signal: {sine: {}}}}", "/axes/x/signal/sine", .type),
        .init("axes: {x: {signal: {step: {frequency_hz: 1}}}}", "/axes/x/signal/step/frequency_hz", .unknownKey),
        .init("axes: {x: {signal: {step: {}, impulse: {}}}}", "/axes/x/signal", .type),
        .init("axes: {x: {detection: {window: 0}}}", "/axes/x/detection/window", .range, got: 0),
        .init("axes: {x: {detection: {window: 1.5}}}", "/axes/x/detection/window", .type, got: 1.5),
        .init("axes: {x: {detection: {hold: 1 m}}}", "/axes/x/detection/hold", .type, got: "1 m"),
        .init("axes: {x: {detection: {threshold: 5 mm}}}", "/axes/x/detection/threshold", .type, got: "5 mm"),
        .init("axes: {x: {detection: {threshold: \"5\"}}}", "/axes/x/detection/threshold", .type, got: "5"),
        .init("axes: {x: {detection: {threshold: g}}}", "/axes/x/detection/threshold", .type, got: "g"),
        .init("axes: {x: {detection: {threshold: -1}}}", "/axes/x/detection/threshold", .range, got: -1),
        .init("conditioning: {offset: highpass}", "/conditioning/offset", .type, got: "highpass"),
        .init("conditioning: {offset: {corner_hz: 1}}", "/conditioning/offset", .type),
        .init("conditioning: {offset: {mode: ema}}", "/conditioning/offset", .crossField),
        .init("conditioning: {offset: {mode: ema, alpha: 0.1, corner_hz: 1}}", "/conditioning/offset", .crossField),
        .init("conditioning: {offset: {mode: ema, alpha: 0}}", "/conditioning/offset/alpha", .range, got: 0),
        .init("conditioning: {offset: {mode: none, seconds: 1}}", "/conditioning/offset/seconds", .crossField),
        .init("conditioning: {offset: {mode: mean_first}}", "/conditioning/offset", .type),
        .init("conditioning: {settle_s: -1}", "/conditioning/settle_s", .range, got: -1),
        .init("intensity: {jma_window_s: 9}", "/intensity/jma_window_s", .range, got: 9),
        .init("spectrum: {window_s: 2}", "/spectrum/window_s", .range, got: 2),
        .init("spectrum: {min_hz: 0}", "/spectrum/min_hz", .range, got: 0),
        .init("intensity: {scales: [msk]}", "/intensity/scales/0", .range, got: "msk"),
        .init("mqtt: {protocol: 4}", "/mqtt/protocol", .range, got: 4),
        .init("mqtt: {protocol: 3.1}", "/mqtt/protocol", .range, got: 3.1),
        .init("mqtt: {uri: \"http://host\"}", "/mqtt/uri", .range, got: "http://host"),
        .init("mqtt: {uri: \"mqtt://\"}", "/mqtt/uri", .range, got: "mqtt://"),
        .init("mqtt: {uri: \"mqtt://host:1883/x\"}", "/mqtt/uri", .range, got: "mqtt://host:1883/x"),
        .init("mqtt: {uri: []}", "/mqtt/uri", .range, got: 0),
        .init("mqtt: {uri: [\"mqtt://a\", 5]}", "/mqtt/uri/1", .type, got: 5),
        .init("mqtt: {root: a//b}", "/mqtt/root", .range, got: "a//b"),
        .init("mqtt: {root: \"a/#\"}", "/mqtt/root", .range, got: "a/#"),
        .init("mqtt: {root: a.b}", "/mqtt/root", .range, got: "a.b"),
        .init("mqtt: {keepalive_s: 30.5}", "/mqtt/keepalive_s", .type, got: 30.5),
        .init("log: {level: loud}", "/log/level", .range, got: "loud"),
        .init("locked: mqtt", "/locked", .type, got: "mqtt"),
        .init("locked: [5]", "/locked/0", .type, got: 5),
    ]

    /// Right by themselves, wrong together or beyond what a schema says.
    static let together: [BadDocument] = [
        .init("locked: [trace.rat]", "/locked/0", .unknownKey, got: "trace.rat"),
        .init("sensor: {rate_hz: 0.5 Hz}", "/sensor/rate_hz", .range, got: "0.5 Hz"),
        .init("axes: {x: {detection: {window: 2 h}}}", "/axes/x/detection/window", .range, got: "2 h"),
        .init("axes: {x: {detection: {threshold: 1e999 g}}}", "/axes/x/detection/threshold", .type, got: "1e999 g"),
        .init("mqtt: {keepalive_s: 30500 ms}", "/mqtt/keepalive_s", .type, got: "30500 ms"),
        .init("mqtt: {uri: \"mqtt://host:0\"}", "/mqtt/uri", .range, got: "mqtt://host:0"),
        .init("mqtt: {uri: \"mqtt://host:65536\"}", "/mqtt/uri", .range, got: "mqtt://host:65536"),
        .init("alarm: {network: {enabled: true}}", "/alarm/network/enabled", .crossField, got: .bool(true)),
        .init(
            "{station: {latitude: 1}, alarm: {network: {enabled: true}}}", "/alarm/network/enabled", .crossField,
            got: .bool(true)),
        .init(
            "axes: {x: {filter: {butterworth: {type: bandpass, corners_hz: [2, 1]}}}}",
            "/axes/x/filter/butterworth/corners_hz", .crossField, got: [2, 1]),
        .init(
            "axes: {x: {filter: {butterworth: {type: lowpass, corner_hz: 50}}}}",
            "/axes/x/filter/butterworth/corner_hz", .crossField, got: 50),
        .init(
            "axes: {x: {filter: {simple: {type: lowpass, corner_hz: 50}}}}",
            "/axes/x/filter/simple/corner_hz", .crossField, got: 50),
        .init(
            "{sensor: {rate_hz: 12}, trace: {rate_hz: 9}, detection: {sta_lta: {enabled: false}}, "
                + "axes: {all: {filter: {chain: [none, shake:bp4-8]}}}}",
            "/axes/all/filter/chain/1",
            .crossField, got: 8),
        .init(
            "axes: {all: {filter: {chain: [none, {butterworth: {type: bandstop, corners_hz: [1, 60]}}]}}}",
            "/axes/all/filter/chain/1/butterworth/corners_hz/1", .crossField, got: 60),
        .init(
            "conditioning: {offset: {mode: highpass, corner_hz: 70}}", "/conditioning/offset/corner_hz", .crossField,
            got: 70),
        .init(
            "axes: {y: {signal: {sine: {frequency_hz: 50}}}}", "/axes/y/signal/sine/frequency_hz", .crossField,
            got: 50),
        .init(
            "sensor: {driver: simulate, simulate: {scenario: sine, frequency_hz: 60}}",
            "/sensor/simulate/frequency_hz", .crossField, got: 60),
        .init(
            "axes: {x: {detection: {window: 1000 s}}}", "/axes/x/detection/window", .crossField, got: 100_000),
        .init("sensor: {mounting: {x: y}}", "/sensor/mounting", .crossField),
        .init("sensor: {mounting: {x: y, y: x}}", "/sensor/mounting", .crossField),
        .init("sensor: {mounting: {z: -z}}", "/sensor/mounting", .crossField),
        .init("sensor: {driver: replay}", "/sensor/replay/file", .crossField, got: "", line: nil),
        .init("vibration: {interval_s: 11}", "/vibration/interval_s", .crossField, got: 11),
        .init("vibration: {band: own, lower_hz: 30, upper_hz: 20}", "/vibration/upper_hz", .crossField, got: 20),
        .init("vibration: {enabled: true, band: own, upper_hz: 50}", "/vibration/upper_hz", .crossField, got: 50),
        .init("vibration: {enabled: true, band: din}", "/vibration/band", .crossField, got: "din"),
        .init("vibration: {modes_s: 1900}", "/vibration/modes_s", .crossField, got: 1900),
        .init("vibration: {modes: true, modes_top_hz: 50}", "/vibration/modes_top_hz", .crossField, got: 50),
        .init("vibration: {limit: din4150-3:castle}", "/vibration/limit", .range, got: "din4150-3:castle"),
        .init("spectrum: {min_hz: 40}", "/spectrum/min_hz", .crossField, got: 40),
        .init(
            "{sensor: {rate_hz: 2000}, intensity: {jma_window_s: 151}}", "/intensity/jma_window_s", .crossField,
            got: 151),
        .init("trace: {rate_hz: 101}", "/trace/rate_hz", .crossField, got: 101),
        .init("trace: {rate_hz: 1, block_s: 0.5}", "/trace/block_s", .crossField, got: 0.5),
        .init("detection: {event: {votes: 3}}", "/detection/event/votes", .crossField, got: 3),
        .init(
            "detection: {sta_lta: {enabled: false}, event: {votes: 2}}", "/detection/event/votes", .crossField, got: 2),
        .init("detection: {sta_lta: {lta_s: 1}}", "/detection/sta_lta/lta_s", .crossField, got: 1),
        .init("detection: {sta_lta: {on: 31}}", "/detection/sta_lta/on", .crossField, got: 31),
        .init("detection: {sta_lta: {off: 3.5}}", "/detection/sta_lta/off", .crossField, got: 3.5),
        .init(
            "detection: {sta_lta: {filter: {butterworth: {type: lowpass, corner_hz: 50}}}}",
            "/detection/sta_lta/filter/butterworth/corner_hz", .crossField, got: 50),
        .init("detection: {sta_lta: {filter: axis}}", "/detection/sta_lta/filter", .range, got: "axis"),
        .init("detection: {sta_lta: {signal: any}}", "/detection/sta_lta/signal", .range, got: "any"),
        .init("detection: {movement: {threshold: -1 g}}", "/detection/movement/threshold", .range, got: "-1 g"),
        .init(
            "{waveform: {encoding: mseed2}, station: {code: TOOLONG}}", "/station/code", .crossField,
            got: "TOOLONG"),
        .init("mqtt: {tls: {cert_file: /c}}", "/mqtt/tls/key_file", .crossField, got: "", line: nil),
        .init("mqtt: {reconnect: {min_s: 10, max_s: 5}}", "/mqtt/reconnect/max_s", .crossField, got: 5),
        .init("sensor: {rate_hz: .nan}", "/sensor/rate_hz", .type),
        .init("sensor: {rate_hz: -.inf}", "/sensor/rate_hz", .type),
        .init("trace: {qos: .inf}", "/trace/qos", .type),
        .init("axes: {x: {detection: {window: .nan}}}", "/axes/x/detection/window", .type),
    ]
}

@Suite struct BadDocumentTests {
    @Test(arguments: BadDocument.single + BadDocument.together)
    func oneErrorIsNamedExactly(_ document: BadDocument) throws {
        let found = errors(document.text)
        #expect(found.count == 1, "\(found)")
        let error = try #require(found.first)
        #expect(error.path == document.path && error.code == document.code)
        if let got = document.got { #expect(error.got == got) }
        #expect(error.line == document.line)
        #expect(error.source == (document.line == nil ? .default : .file))
        #expect(!error.message.isEmpty && error.message.hasSuffix("."))
    }

    @Test func allErrorsAreListedWithTheirPlaces() {
        let text = """
            trace: {rate_hz: 500, encodng: json}
            sensor:
              rate_hz: 17
            axes:
              x: {detection: {window: 0}}
              all:
                filter: {butterworth: {type: lowpass, corners_hz: [1, 2], order: 20}}
            mqtt: {uri: "http://x", tls: {cert_file: a}}
            """
        let found = errors(text)
        let paths: [String] = found.map(\.path)
        let expected: [String] = [
            "/trace/encodng", "/axes/x/detection/window", "/axes/all/filter/butterworth/order",
            "/axes/all/filter/butterworth/corners_hz", "/mqtt/uri", "/trace/rate_hz", "/mqtt/tls/key_file",
        ]
        #expect(paths == expected)
        #expect(found.map(\.line) == [1, 5, 7, 7, 8, 1, nil])
        #expect(found[0].nearest == "encoding")
        #expect(found[0].column == 23)
        #expect(found[1].allowed == "1…65536")
        #expect(
            found[1].text(fileName: "s.yaml")
                == "s.yaml:5:19: /axes/x/detection/window: This value is out of range. "
                + "[range; got 0; allowed: 1…65536]")
        #expect(
            String(decoding: found[1].value.json(), as: UTF8.self)
                == #"{"path":"/axes/x/detection/window","code":"range","message":"This value is out of range.","#
                + #""got":0,"allowed":"1…65536","source":"file","line":5,"column":19}"#)
    }

    @Test func aCornerAboveNyquistNamesTheRateAndTheInterval() throws {
        let error = try #require(
            errors(
                "sensor: {rate_hz: 31.25}\naxes: {all: {filter: {butterworth: {type: highpass, corner_hz: 15.625}}}}"
            )
            .first)
        #expect(error.message.contains("31.25"))
        #expect(error.allowed == "above 0, below 15.625 Hz")
        #expect(errors("sensor: {rate_hz: 31.25}\ntrace: {rate_hz: 5}") == [], "the default corner of 10 Hz fits")
        let fromDefault = try #require(errors("sensor: {rate_hz: 20}").first)
        #expect(fromDefault.path == "/axes/all/filter/butterworth/corners_hz/1" && fromDefault.source == .default)
    }

    @Test func aRecordingHasItsOwnRate() {
        let text = "sensor: {driver: replay, replay: {file: r.csv}}\ntrace: {rate_hz: 200}"
        #expect(errors(text + "\naxes: {all: {filter: {butterworth: {type: lowpass, corner_hz: 80}}}}") == [])
    }

    @Test func aPasswordInTheAddressIsRefusedAndNotRepeated() throws {
        let error = try #require(errors("mqtt: {uri: \"mqtt://user:secret@host\"}").first)
        #expect(error.got == nil && !error.text().contains("secret") && error.message.contains("password_file"))
    }

    @Test func errorsAreBounded() {
        let text = (0..<5000).map { "k\($0): 1" }.joined(separator: "\n")
        let found = errors(text)
        #expect(found.count == 201)
        #expect(found.last?.message.contains("more errors") == true)
    }
}
