import Foundation
import TestSupport
import Testing

/// `seismote ctl update` over stations that say what a real one's updater does.
@Suite(.timeLimit(.minutes(10))) struct CtlUpdateTests {
    private static let names = (1...8).map { "s\($0)" }
    private static let silence = "silence"

    /// Eight of a group and one that is in none; `ends` has what becomes of the update of a station, `updated` elsewhere; of
    /// `silence` nothing is told.
    private static func fleet(_ broker: Broker, _ ends: [String: String]) throws -> [FakeStation] {
        try (names + ["stranger"]).map { name in
            let end = ends[name] ?? "updated"
            return try FakeStation(broker, name, groups: name == "stranger" ? [] : ["school"]) { station, request in
                if request.verb == "update", end != silence {
                    let version = request.object["version"] as? String ?? ""
                    let reason = end == "updated" ? "" : #","reason":"it ends by itself""#
                    station.publish(
                        "state/update",
                        #"{"v":1,"id":"\#(request.id)","phase":"\#(end)","version":"\#(version)"\#(reason)}"#,
                        retained: true)
                }
                return [
                    station.reply(request, #""phase":"accepted""#),
                    station.reply(request, #""phase":"done","result":{}"#),
                ]
            }
        }
    }

    private static func update(_ broker: Broker, _ more: [String]) throws -> Tool {
        try Tool(
            ["ctl", "update", "--version", "0.2.0~deb13", "--broker", "mqtt://127.0.0.1:\(broker.port)"] + more)
    }

    private static func asked(_ fleet: [FakeStation]) -> [String] {
        fleet.filter { $0.requests.contains { $0.verb == "update" } }.map(\.id)
    }

    @Test func ringsGoOnWhileAllIsWell() throws {
        let broker = try Broker()
        let fleet = try Self.fleet(broker, [:])
        let tool = try Self.update(broker, ["--group", "school", "--rings", "1,5,all", "--auto"])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(
            tool.errors.contains("ring 1 of 3: s1\n") && tool.errors.contains("ring 2 of 3: s2, s3, s4, s5, s6\n")
                && tool.errors.contains("ring 3 of 3: s7, s8\n"), "\(tool.errors)")
        #expect(Self.asked(fleet) == Self.names)
        for name in Self.names { #expect(tool.output.contains("\(name): updated to 0.2.0~deb13\n"), "\(tool.output)") }
        let request = try #require(fleet[0].requests.first { $0.verb == "update" })
        #expect(request.object["auto"] as? Bool == true && request.object["allow_downgrade"] as? Bool == false)
    }

    @Test func nothingBeginsAfterTheFirstReturn() throws {
        let broker = try Broker()
        let fleet = try Self.fleet(broker, ["s4": "returned"])
        let tool = try Self.update(broker, ["--group", "school", "--rings", "1,5,all", "--auto"])
        #expect(tool.status == 1)
        #expect(tool.output.contains("s4: returned: it ends by itself\n"), "\(tool.output)")
        // The others of its ring have been asked already; those of the next are not.
        #expect(Self.asked(fleet) == Array(Self.names.prefix(6)))
        #expect(tool.errors.contains("not begun: s7, s8\n") && !tool.errors.contains("ring 3"), "\(tool.errors)")
    }

    @Test(arguments: ["refused", "failed"]) func theFirstStationStopsAll(end: String) throws {
        let broker = try Broker()
        let fleet = try Self.fleet(broker, ["s1": end])
        let tool = try Self.update(broker, ["--group", "school", "--auto"])
        #expect(tool.status == 1)
        #expect(tool.output.contains("s1: \(end): it ends by itself\n"), "\(tool.output)")
        #expect(Self.asked(fleet) == ["s1"])
        #expect(tool.errors.contains("not begun: s2, s3, s4, s5, s6, s7, s8\n"), "\(tool.errors)")
    }

    @Test func whoTellsNoEndStopsThemToo() throws {
        let broker = try Broker()
        let fleet = try Self.fleet(broker, ["s1": Self.silence])
        let tool = try Self.update(broker, ["--group", "school", "--wait", "1"])
        #expect(tool.status == 2)
        #expect(tool.errors.contains("s1: update still running; follow state/update"), "\(tool.errors)")
        #expect(Self.asked(fleet) == ["s1"])
    }
}
