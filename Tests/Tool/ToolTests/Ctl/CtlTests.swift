import Foundation
import Messages
import Platform
import TestSupport
import Testing
import Values

@Suite(.timeLimit(.minutes(10))) struct CtlTests {
    private static func ctl(_ broker: Broker, _ arguments: [String]) throws -> Tool {
        try Tool(["ctl"] + arguments + ["--broker", "mqtt://127.0.0.1:\(broker.port)"])
    }

    private static func lines(_ tool: Tool) throws -> [[String: Any]] {
        try tool.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func listShowsWhatIsKept() throws {
        let broker = try Broker()
        let a = try FakeStation(broker, "basement", groups: ["school"])
        let b = try FakeStation(broker, "roof", online: "offline")
        a.publish("state/config", #"{"rev":7,"config":{},"pending":null}"#, retained: true)
        a.publish(
            "state/health", #"{"sensor":"ok","time":{"synced":true,"source":"ntp","error_ms":2.1}}"#, retained: true)
        a.publish(
            "event/last",
            #"{"event_id":"basement-20260105T102030120Z","onset":"2026-01-05T10:20:30.120000000Z","pga":0.41,"intensity":[]}"#,
            retained: true)
        // The broker has them when the subscriber has.
        let seen = try Subscriber(port: broker.port, ["seismote/+/event/last"])
        #expect(seen.first { $0.topic.hasSuffix("last") } != nil)
        let tool = try Self.ctl(broker, ["list"])
        #expect(tool.status == 0, "\(tool.errors)")
        let rows = tool.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(
            rows[1] == "basement online 9.8.7 7 adxl345 100 Hz ntp ±2.1 ms 2026-01-05 10:20:30 0.41 m/s²",
            "\(tool.output)")
        #expect(rows[2].hasPrefix("roof offline"))
        let json = try Self.lines(try Self.ctl(broker, ["list", "--json", "--group", "school"]))
        #expect(json.count == 1 && json[0]["station"] as? String == "basement" && json[0]["rev"] as? Int == 7)
        let missing = try Self.ctl(broker, ["list", "nobody"])
        #expect(missing.status == 2 && missing.errors.contains("nobody: never seen"))
        _ = b
    }

    @Test(arguments: ["5", "3.1.1"]) func aRequestAndItsReply(version: String) throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            [
                station.reply(request, #""phase":"accepted""#),
                station.reply(request, #""phase":"done","result":{"version":"1.2.3","uptime_s":90061}"#),
            ]
        }
        let tool = try Self.ctl(broker, ["ping", "basement", "--mqtt", version])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(
            tool.output.contains("basement: answered after") && tool.output.contains("version 1.2.3, up for 1 d 1 h"))
        let request = try #require(station.requests.first)
        #expect(request.id.hasPrefix("ctl-") && request.object["source"] as? String == "seismote ctl")
        // The reply comes on the documented topic: a response topic is not mapped by a bridge.
        #expect(request.responseTopic == nil && request.correlation == nil)
        if version != "5" { #expect(request.object["expires"] is String) }
    }

    @Test func statusesSayHowItEnded() throws {
        let broker = try Broker()
        let refusing = try FakeStation(broker, "refusing") { station, request in
            [
                station.reply(
                    request,
                    #""phase":"failed","errors":[{"path":"/trace/rate_hz","code":"range","message":"Not \u001b[31mallowed.","got":0,"allowed":"1…100"},{"path":"","code":"busy","message":"Later."}]"#
                )
            ]
        }
        let silent = try FakeStation(broker, "silent")
        let gone = try FakeStation(broker, "gone", online: "offline")
        let refused = try Self.ctl(broker, ["set", "refusing", "trace.rate_hz=0"])
        #expect(refused.status == 1)
        // All errors, and nothing that a terminal would obey.
        #expect(
            refused.errors
                == "refusing: refused\n  /trace/rate_hz: Not \u{fffd}[31mallowed. [range; got 0; allowed: 1…100]\n"
                + "  Later. [busy]\n")
        let late = try Self.ctl(broker, ["ping", "silent", "--timeout", "0.6"])
        #expect(late.status == 2 && late.errors.hasPrefix("silent: no answer after "), "\(late.errors)")
        let offline = try Self.ctl(broker, ["set", "gone", "trace.rate_hz=10"])
        #expect(offline.status == 2 && offline.errors == "gone: offline\n")
        #expect(gone.requests.map(\.verb) == ["ping"])
        let json = try Self.ctl(broker, ["ping", "refusing", "gone", "--json"])
        #expect(json.status == 1)
        #expect(Set(try Self.lines(json).compactMap { $0["outcome"] as? String }) == ["failed", "offline"])
        broker.kill()
        let alone = try Self.ctl(broker, ["ping", "refusing"])
        #expect(alone.status == 69 && alone.errors.contains("127.0.0.1:\(broker.port): Connection refused"))
        #expect(try Self.ctl(broker, ["ping"]).status == 64)
        #expect(try Self.ctl(broker, ["ping", "a/b"]).status == 64)
        _ = (refusing, silent)
    }

    /// `--json` printed the C1 and bidirectional control characters of a station as they came.
    @Test func neitherJSONNorTablesHaveWhatATerminalObeys() throws {
        let broker = try Broker()
        let hostile = "1\u{9b}31m\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{7f}x"
        let station = try FakeStation(broker, "basement") { station, request in
            [station.reply(request, #""phase":"done","result":{"version":"\#(hostile)","\#(hostile)":1}"#)]
        }
        let json = try Self.ctl(broker, ["ping", "basement", "--json"])
        let plain = try Self.ctl(broker, ["ping", "basement"])
        for output in [json.output, json.errors, plain.output, plain.errors] {
            let left = output.unicodeScalars.filter { $0 != "\n" && $0.isUnprintable }
            #expect(left.isEmpty, "\(left.map(\.value))")
        }
        // The value is the one that was sent.
        let reply = try #require(try Self.lines(json).first)
        let result = ((reply["reply"] as? [String: Any]) ?? reply)["result"] as? [String: Any]
        #expect(result?["version"] as? String == hostile, "\(json.output)")
        _ = station
    }

    @Test func aGroupAnswersOneByOne() throws {
        let broker = try Broker()
        let answer: @Sendable (FakeStation, FakeStation.Request) -> [FakeStation.Outgoing] = { station, request in
            [station.reply(request, #""phase":"done","result":{"topics":9}"#)]
        }
        let stations = try ["a", "b", "c"].map { try FakeStation(broker, $0, groups: ["school"], answer: answer) }
        let other = try FakeStation(broker, "other", groups: ["office"], answer: answer)
        let tool = try Self.ctl(broker, ["rebirth", "--group", "school"])
        #expect(tool.status == 0 && tool.errors == "3 done, 0 refused, 0 without an answer\n", "\(tool.errors)")
        #expect(Set(tool.output.split(separator: "\n").map { $0.prefix(1) }) == ["a", "b", "c"])
        #expect(stations.allSatisfy { $0.requests.first?.responseTopic == nil && $0.requests.count == 1 })
        #expect(other.requests.isEmpty)
    }

    @Test func aChangeIsConfirmedOnceTheStationIsBack() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            switch request.verb {
            case "config":
                // It is away until the tool has looked for it once.
                station.publish("state/online", "offline", retained: true)
                return [
                    station.reply(
                        request,
                        #""phase":"done","rev":8,"result":{"rev":8,"changed":["mqtt.username"],"live":["mqtt.username"],"restart_stream":[],"needs_restart":[],"pending":{"rev":8,"deadline":"2026-01-05T10:20:30Z"}}"#
                    )
                ]
            case "ping": return []
            default:
                if station.requests.count(where: { $0.verb == "config-confirm" }) == 1 {
                    return [
                        station.reply(
                            request, #""phase":"failed","errors":[{"path":"","code":"conflict","message":"Too soon."}]"#
                        )
                    ]
                }
                return [station.reply(request, #""phase":"done","rev":8,"result":{"rev":8}"#)]
            }
        }
        // The broker's log tells of the tool: a connection for the change, and one for each look.
        let back = Thread {
            _ = eventually(within: 20) { broker.log.components(separatedBy: " disconnected").count > 2 }
            station.publish("state/online", "online", retained: true)
        }
        back.start()
        let tool = try Self.ctl(broker, ["set", "basement", "mqtt.username=me", "--confirm", "20", "--if-rev", "7"])
        #expect(tool.status == 0, "\(tool.output) \(tool.errors)")
        #expect(tool.output.contains("rev 8, changed") && tool.output.hasSuffix("basement: rev 8 confirmed\n"))
        let first = try #require(station.requests.first)
        #expect(first.object["confirm_s"] as? Double == 20 && first.object["if_rev"] as? Int == 7)
        #expect((first.object["set"] as? [String: [String: String]])?["mqtt"] == ["username": "me"])
        let confirms = station.requests.filter { $0.verb == "config-confirm" }
        #expect(confirms.count == 2 && confirms.allSatisfy { $0.object["rev"] as? Int == 8 })
        // A refusal is kept under its id: it is asked anew.
        #expect(Set(confirms.map(\.id)).count == 2)
    }

    /// RabbitMQ keeps the `offline` of a lost connection on the node that had it, though the station is on another node.
    @Test(arguments: ["5", "3.1.1"]) func aStationThatSpeaksIsOnlineWhateverTheBrokerKeeps(version: String) throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement", online: "offline") { station, request in
            [station.reply(request, #""phase":"done","result":{"version":"1.2.3","uptime_s":61,"topics":9}"#)]
        }
        let tool = try Self.ctl(broker, ["rebirth", "basement", "--mqtt", version])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(station.requests.map(\.verb) == ["ping", "rebirth"])
        #expect(Set(station.requests.map(\.id)).count == 2)
        #expect(try Self.ctl(broker, ["list", "basement"]).output.contains("basement  offline"))
        let ended = Atomic<Bool>(false)
        let speaking = Thread {
            while !ended.load(ordering: .relaxed) {
                station.publish("state/level", #"{"v":1,"station":"basement","pga":0.001}"#, retained: true)
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
        speaking.start()
        let list = try Self.ctl(broker, ["list", "basement"])
        ended.store(true, ordering: .relaxed)
        #expect(list.output.contains("basement  online"), "\(list.output)")
    }

    /// The station may have confirmed it and the reply have been lost: it says the same again only under the same id.
    @Test func aConfirmationWithoutAnAnswerIsRepeatedUnderItsID() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            if request.verb == "config" {
                return [
                    station.reply(
                        request, #""phase":"done","result":{"changed":["mqtt.username"],"pending":{"rev":8}}"#)
                ]
            }
            let confirms = station.requests.filter { $0.verb == "config-confirm" }
            return confirms.count < 2 ? [] : [station.reply(request, #""phase":"done","result":{"rev":8}"#)]
        }
        let tool = try Self.ctl(broker, ["set", "basement", "mqtt.username=me", "--confirm", "20"])
        #expect(tool.status == 0, "\(tool.output) \(tool.errors)")
        let confirms = station.requests.filter { $0.verb == "config-confirm" }
        #expect(confirms.count == 2 && Set(confirms.map(\.id)).count == 1)
    }

    /// A reset may lead to another root, which only the station knows.
    @Test func aResetIsConfirmedWhereTheStationIsThen() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            let isDry = request.object["dry_run"] as? Bool == true
            let rest =
                isDry
                ? #""dry_run":true,"config":{"mqtt":{"uri":"mqtt://nowhere","root":"other/root"}}"#
                : #""pending":{"rev":8}"#
            return [
                station.reply(
                    request, #""phase":"done","result":{"changed":["mqtt.root"],\#(rest)}"#)
            ]
        }
        let there = try Subscriber(port: broker.port, ["other/root/basement/cmd/config-confirm"])
        let tool = try Self.ctl(broker, ["reset", "basement", "--confirm", "3"])
        #expect(there.first { $0.topic.hasSuffix("config-confirm") } != nil)
        #expect(tool.status == 2, "\(tool.output)")
        #expect(tool.errors == "basement: NOT confirmed, the change will be reverted: it does not answer\n")
        #expect(station.requests.map { $0.object["confirm_s"] as? Double } == [3, 3])
    }

    @Test func anUnconfirmedChangeIsSaid() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            guard request.verb == "config" else { return [] }
            return [
                station.reply(
                    request,
                    #""phase":"done","result":{"rev":8,"changed":["mqtt.uri"],"pending":{"rev":8,"deadline":"2026-01-05T10:20:30Z"}}"#
                )
            ]
        }
        // The station is told to go where nobody is; there it is looked for.
        let nowhere = try FreePort.find()
        let tool = try Self.ctl(
            broker, ["set", "basement", "mqtt.uri=mqtt://127.0.0.1:\(nowhere)", "--confirm", "2"])
        #expect(tool.status == 2 && tool.errors.contains("basement: NOT confirmed"), "\(tool.errors)")
        #expect(tool.errors.contains(":\(nowhere): Connection refused"))
        #expect(!station.requests.contains { $0.verb == "config-confirm" })
    }
}
