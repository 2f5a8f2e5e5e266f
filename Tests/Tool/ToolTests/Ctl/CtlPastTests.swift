import Foundation
import TestSupport
import Testing

/// What stations remember, from a terminal.
@Suite(.timeLimit(.minutes(10))) struct CtlPastTests {
    private static func event(_ index: Int) -> String {
        #"{"v":1,"event_type":"end","event_id":"basement-20260105T1020301\#(index)0Z","onset":"2026-01-05T10:20:30.1\#(index)0000000Z","#
            + #""end":"2026-01-05T10:21:00.000000000Z","duration_s":29.9,"pga":0.25,"pgv":0.01,"mmi":4.5,"class":{"likely":"earthquake"},"#
            + #""intensity":[{"scale":"mmi","value":4.5,"roman":"V"}],"clipped":false}"#
    }

    /// Five events, two to a page.
    private static func station(_ broker: Broker) throws -> FakeStation {
        try FakeStation(broker, "basement") { station, request in
            switch request.verb {
            case "events":
                let after = request.object["after"] as? Int ?? 6
                let page = (1..<after).reversed().prefix(2)
                let next = (page.last ?? 1) > 1 ? "\(page.last ?? 1)" : "null"
                let list = page.map { event($0) }.joined(separator: ",")
                return [
                    station.reply(
                        request, #""phase":"done","result":{"matches":5,"next":\#(next),"events":[\#(list)]}"#)
                ]
            case "history":
                return [
                    station.reply(
                        request,
                        #""phase":"done","result":{"from":"2026-01-05T10:20:00Z","step_s":60,"n":2,"#
                            + ["x", "y", "z"].map { #""\#($0)":{"min":[-1.5,null],"max":[2.0,null],"rms":[0.5,null]}"# }
                            .joined(separator: ",") + "}")
                ]
            case "config-get":
                return [
                    station.reply(request, #""phase":"done","result":{"rev":3,"config":{"trace":{"rate_hz":20}}}"#)
                ]
            default: return [station.reply(request, #""phase":"done","result":{"rev":8,"changed":["trace.rate_hz"]}"#)]
            }
        }
    }

    private static func ctl(_ broker: Broker, _ words: String...) throws -> Tool {
        try Tool(["ctl"] + words + ["--broker", "127.0.0.1:\(broker.port)"])
    }

    @Test func eventsComePageByPageInEachForm() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let csv = try Self.ctl(broker, "events", "basement", "--since", "7d", "--min-mmi", "3", "--csv")
        let lines = csv.output.split(separator: "\n")
        #expect(csv.status == 0 && lines.count == 6, "\(csv.output) \(csv.errors)")
        #expect(lines[0].hasPrefix("station,event_id,onset_utc,end_utc,duration_s,pga_m_s2,"))
        #expect(
            lines[1]
                == "basement,basement-20260105T102030150Z,2026-01-05T10:20:30.150000000Z,2026-01-05T10:21:00.000000000Z,"
                + "29.9,0.25,0.01,4.5,,earthquake,,0,0,1,1")
        let asked = station.requests.filter { $0.verb == "events" }
        #expect(asked.map { $0.object["after"] as? Int } == [nil, 4, 2])
        #expect(asked.allSatisfy { $0.object["min_mmi"] as? Double == 3 && $0.object["from"] is String })
        // Without a name: all that are online.
        let json = try Self.ctl(broker, "events", "--since", "2026-01-01", "--limit", "3", "--json")
        #expect(json.output.split(separator: "\n").count == 3, "\(json.errors)")
        let xml = try Self.ctl(broker, "events", "basement", "--since", "1w", "--quakeml").output
        #expect(
            xml.components(separatedBy: "<pick ").count == 6
                && xml.contains("<value>2026-01-05T10:20:30.110000Z</value>"))
        #expect(xml.contains("<typeCertainty>suspected</typeCertainty>") && xml.hasSuffix("</q:quakeml>\n"))
        for words in [
            ["--since", "yesterday"], ["--class", "blast"], ["--since", "1d", "--count", "3"], ["--csv", "--json"],
        ] {
            #expect(try Tool(["ctl", "events"] + words).status == 64, "\(words)")
        }
    }

    /// An account that may write for one station makes up no event of another.
    @Test func eventsOfOthersAreNotShown() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "garden") { station, request in
            let own = Self.event(1).replacing("basement-", with: "garden-")
            let list = [Self.event(2), own, Self.event(3).replacing("basement-", with: "net-")].joined(separator: ",")
            return [
                station.reply(request, #""phase":"done","result":{"matches":3,"next":null,"events":[\#(list)]}"#)
            ]
        }
        let csv = try Self.ctl(broker, "events", "garden", "--since", "7d", "--csv")
        #expect(csv.status == 0 && csv.output.split(separator: "\n").count == 2, "\(csv.output)")
        #expect(csv.output.contains("garden,garden-20260105T102030110Z"))
        #expect(csv.errors.contains("garden: 2 events whose id is not this station's were left out"), "\(csv.errors)")
        station.publish("event/last", Self.event(4), retained: true)
        let last = try Self.ctl(broker, "events", "garden", "--last")
        #expect(!last.output.contains("0.25"), "\(last.output)")
    }

    @Test func historyIsATableOrCSV() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let csv = try Self.ctl(broker, "history", "basement", "--since", "2m", "--step", "60", "--csv")
        let lines = csv.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines[0]
                == "station,time_utc,x_min_m_s2,x_max_m_s2,x_rms_m_s2,y_min_m_s2,y_max_m_s2,y_rms_m_s2,z_min_m_s2,z_max_m_s2,z_rms_m_s2"
        )
        #expect(lines[1] == "basement,2026-01-05T10:20:00.000000000Z,-1.5,2.0,0.5,-1.5,2.0,0.5,-1.5,2.0,0.5")
        #expect(lines[2] == "basement,2026-01-05T10:21:00.000000000Z,,,,,,,,,")
        let table = try Self.ctl(broker, "history", "basement", "--since", "1d")
        #expect(table.output.contains("2026-01-05 10:20:00") && table.output.contains("3.5"), "\(table.output)")
        #expect(station.requests.last?.object["step_s"] as? Int == 600)
        #expect(try Self.ctl(broker, "history", "basement", "--since", "7d", "--step", "1").status == 64)
    }

    /// Defect: a list of which part could not be read looked like a whole one. And what the broker's largest packet does not
    /// hold comes in pages.
    @Test func whatIsNotWholeSaysSoAndPagesBecomeOne() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            let isFirst = (request.object["from"] as? String)?.hasPrefix("2026-01-05T10:22") != true
            let start = isFirst ? "20" : "22"
            let next = isFirst ? #""next":"2026-01-05T10:22:00.000000000Z","# : ""
            let result =
                request.verb == "events"
                ? #"{"matches":1,"next":null,"events":[\#(Self.event(1))]}"#
                : #"{"from":"2026-01-05T10:\#(start):00Z","step_s":60,"n":2,\#(next)"#
                    + ["x", "y", "z"].map { #""\#($0)":{"min":[1,2],"max":[3,4],"rms":[5,6]}"# }.joined(separator: ",")
                    + "}"
            return [station.reply(request, #""phase":"done","errors":[],"incomplete":true,"result":\#(result)"#)]
        }
        let words = "basement: this is not complete"
        let events = try Self.ctl(broker, "events", "basement", "--since", "7d", "--csv")
        #expect(events.status == 0 && events.errors.contains(words), "\(events.errors)")
        #expect(events.output.split(separator: "\n").count == 2)
        let csv = try Self.ctl(broker, "history", "basement", "--since", "4m", "--step", "60", "--csv")
        #expect(csv.status == 0 && csv.errors.components(separatedBy: words).count == 2, "\(csv.errors)")
        let rows = csv.output.split(separator: "\n").dropFirst().map { $0.split(separator: ",") }
        let times = rows.map { $0[1].dropFirst(11).prefix(5) }
        #expect(times == ["10:20", "10:21", "10:22", "10:23"])
        let json = try Self.ctl(broker, "history", "basement", "--since", "4m", "--step", "60", "--json")
        #expect(json.output.components(separatedBy: #""incomplete":true"#).count == 3, "\(json.output)")
        _ = station
    }

    @Test func aKeyThatIsNotThereNamesTheNearest() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let tool = try Self.ctl(broker, "get", "basement", "--key", "trac")
        #expect(tool.output.contains("has no setting trac; did you mean trace?"), "\(tool.output)")
        _ = station
    }

    @Test func autoRevertIsTheNameOfWhatConfirmsItself() throws {
        let broker = try Broker()
        let station = try Self.station(broker)
        let tool = try Self.ctl(broker, "reset", "basement", "--auto-revert", "20", "--leave-pending")
        #expect(tool.status == 0 && station.requests.last?.object["confirm_s"] as? Double == 20, "\(tool.errors)")
        #expect(try Tool("ctl", "set", "--help").output.contains("--auto-revert"))
        #expect(try !Tool("ctl", "set", "--help").output.contains("--confirm"))
    }

    /// Each subcommand's help has --broker and --config; what else there is of the broker stands on one page.
    @Test func theBrokersOptionsStandOnOnePage() throws {
        let page = try Tool("ctl", "--help").output
        let one = try Tool("ctl", "ping", "--help").output
        for option in [
            "--user", "--password-file", "--ca", "--client-cert", "--client-key", "--client-id", "--mqtt", "--root",
        ] {
            #expect(page.contains(option) && !one.contains(option + " "), "\(option)")
        }
        #expect(one.contains("--broker") && one.contains("--config") && page.contains("--config"))
    }
}
