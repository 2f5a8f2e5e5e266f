import Foundation
import TestSupport
import Testing

/// `edit` with an editor that is a script, `set` and `get`.
@Suite(.timeLimit(.minutes(10))) struct CtlEditTests {
    private static let config =
        ##"{"trace":{"enabled":true,"rate_hz":20,"signals":["raw","rms"]},"axes":{"x":{"filter":{"butterworth":{"type":"lowpass","corner_hz":5,"order":2}}}},"mqtt":{"username":"","password":"***"}}"##

    private static func station(_ broker: Broker) throws -> FakeStation {
        try FakeStation(broker, "basement") { station, request in
            if request.verb == "config-get" {
                let sources = #"{"file":["trace.rate_hz"],"overlay":["mqtt.username"],"command_line":[]}"#
                return [
                    station.reply(
                        request,
                        #""phase":"done","rev":7,"result":{"rev":7,"config":\#(config),"sources":\#(sources),"pending":null,"needs_restart":[],"revisions":[{"rev":7,"t":"2026-01-05T10:20:30Z","source":"me","changed":["trace.rate_hz"]}],"rejected":null}"#
                    )
                ]
            }
            return [
                station.reply(
                    request,
                    #""phase":"done","rev":8,"result":{"rev":8,"changed":["trace.rate_hz"],"live":["trace.rate_hz"],"restart_stream":[],"needs_restart":[],"pending":null}"#
                )
            ]
        }
    }

    private static func edit(_ broker: Broker, _ script: String, _ arguments: [String] = ["--yes"]) throws -> Tool {
        let folder = try TemporaryFolder()
        let editor = try folder.write("editor", script)
        let child = try ChildProcess(
            AgentProcess.builtProgram("seismote"),
            ["ctl", "edit", "basement", "--broker", "127.0.0.1:\(broker.port)"] + arguments,
            environment: ["VISUAL": "sh \(editor)", "TMPDIR": folder.url.path])
        var tool = try Tool("version")
        tool.status = child.wait(within: 60)
        (tool.output, tool.errors) = (child.output, child.errors)
        // Nothing of the settings stays behind.
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(left == ["editor"])
        return tool
    }

    @Test func editSendsWhatIsDifferentAndNothingElse() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let tool = try Self.edit(
            broker,
            """
            test "$(stat -c %a "$1")" = 600 || exit 1
            grep -q '^# Settings of basement, rev 7' "$1" || exit 1
            sed -i 's/rate_hz: 20/rate_hz: 10/; s/corner_hz: 5/corner_hz: 4 Hz/; /enabled: true/d' "$1"
            """)
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(
            tool.output.hasPrefix(
                """
                - trace.rate_hz: 20
                + trace.rate_hz: 10
                - trace.enabled: true
                + trace.enabled: (default)
                - axes.x.filter: {butterworth: {type: lowpass, corner_hz: 5, order: 2}}
                + axes.x.filter: {butterworth: {type: lowpass, corner_hz: 4 Hz, order: 2}}
                basement: rev 8, changed
                  trace.rate_hz
                """), "\(tool.output)")
        let request = try #require(station.requests.last)
        #expect(request.verb == "config" && request.object["if_rev"] as? Int == 7)
        let patch = try #require(request.object["set"] as? [String: Any])
        #expect(Set(patch.keys) == ["trace", "axes"])
        let trace = try #require(patch["trace"] as? [String: Any])
        #expect(trace.count == 2 && trace["rate_hz"] as? Int == 10 && trace["enabled"] is NSNull)
    }

    @Test func nothingIsSentWithoutAChangeOrWithABrokenOne() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let same = try Self.edit(broker, "exit 0")
        #expect(same.status == 0 && same.errors.contains("nothing changed"))
        let failed = try Self.edit(broker, "echo 'trace: {}' > $1; exit 3")
        #expect(failed.status == 74 && failed.errors.contains("the editor"))
        let broken = try Self.edit(broker, "echo 'trace: [' > $1")
        #expect(broken.status == 78 && broken.errors.contains(".yaml:2:1: "), "\(broken.errors)")
        let nobody = try Self.edit(broker, "echo 'trace: {}' > $1", [])
        #expect(nobody.status == 64)
        #expect(!station.requests.contains { $0.verb == "config" })
    }

    @Test func getShowsSettingsSourcesAndRevisions() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        func get(_ arguments: String...) throws -> String {
            try Tool(["ctl", "get", "basement", "--broker", "127.0.0.1:\(broker.port)"] + arguments).output
        }
        #expect(
            try get("--key", "trace")
                == "basement: rev 7\n  enabled: true\n  rate_hz: 20\n  signals: [raw, rms]\n")
        #expect(try get("--key", "trace.rate_hz") == "basement: rev 7\n  trace.rate_hz: 20\n")
        #expect(try get().contains("      filter: {butterworth: {type: lowpass, corner_hz: 5, order: 2}}\n"))
        #expect(try get("--sources").contains("mqtt.username  \"\"     set remotely"))
        #expect(try get("--revisions").contains("7  2026-01-05 10:20:30  me  trace.rate_hz"))
        _ = station
    }

    @Test func setTakesTextsAsYAML() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let tool = try Tool([
            "ctl", "set", "basement", "trace.signals=[raw]", "axes.all.detection.threshold=5 mg", "trace.rate_hz=",
            "--broker", "127.0.0.1:\(broker.port)", "--dry-run",
        ])
        #expect(tool.status == 0, "\(tool.errors)")
        let request = try #require(station.requests.last)
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: request.object["set"] ?? [], options: .sortedKeys),
            as: UTF8.self)
        #expect(
            text
                == #"{"axes":{"all":{"detection":{"threshold":"5 mg"}}},"trace":{"rate_hz":null,"signals":["raw"]}}"#)
        #expect(request.object["dry_run"] as? Bool == true)
        let bad = try Tool(["ctl", "set", "basement", "trace..rate=1", "--broker", "127.0.0.1:\(broker.port)"])
        #expect(bad.status == 78 && bad.errors.contains("Not the key of a setting"))
    }
}
