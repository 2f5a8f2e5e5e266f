import Foundation
import Testing
import Values

@testable import Feed

/// The parameters of fdsnws-station 1.1, -dataselect 1.1 and -event 1.2, each as the table of `deploy/docs/operate/feed.md`
/// has it. Swarm, GlobalQuake and SOD send defaults and got 400.
@Suite struct FDSNParameterTests {
    /// Service, name, the standard's default (empty: none), another value that is served, a value that is refused by name.
    private typealias Known = (String, String, [String], [String])
    private static let rows: [(service: String, name: String, standard: String, served: [String], refused: [String])] =
        {
            let area: [Known] = [
                ("minlatitude", "-90", ["10"], ["x", "91"]), ("maxlatitude", "90", ["80"], ["x"]),
                ("minlongitude", "-180", ["-170"], ["x"]), ("maxlongitude", "180", ["170"], ["x"]),
                ("latitude", "0", ["35"], ["x"]), ("longitude", "0", ["10"], ["x"]), ("minradius", "0", ["1"], ["-1"]),
                ("maxradius", "180", ["170"], ["x"]),
            ]
            let common: [Known] = [
                ("starttime", "", ["2000-01-01"], ["yesterday"]),
                ("endtime", "", ["2599-12-31", "2999-12-31T23:59:59"], ["x"]),
                ("nodata", "204", ["404"], ["500"]),
            ]
            let channel: [Known] = [
                ("network", "", ["XX", "*"], []), ("station", "", ["BASE", "B*"], []),
                ("location", "", ["00", "*"], []),
                ("channel", "", ["HN?"], []),
            ]
            let flags = { (name: String) -> Known in (name, "false", ["true"], ["maybe"]) }
            let station: [Known] = [
                ("format", "xml", ["text"], ["json"]),
                ("level", "station", ["network", "channel", "response"], ["all"]),
                ("startbefore", "", ["2599-01-01"], ["x"]), ("startafter", "", ["2000-01-01"], ["x"]),
                ("endbefore", "", ["2599-01-01"], ["x"]), ("endafter", "", ["2000-01-01"], ["x"]),
                ("includerestricted", "true", ["false"], ["maybe"]),
                ("includeavailability", "false", [], ["true", "maybe"]),
                ("matchtimeseries", "false", ["true"], ["maybe"]), ("updatedafter", "", [""], ["2020-01-01"]),
            ]
            let dataselect: [Known] = [
                ("format", "miniseed", [], ["sac"]), ("quality", "B", ["D", "M", "R", "Q"], ["Z"]),
                ("minimumlength", "0.0", ["1"], ["-1"]), flags("longestonly"), ("repository", "", [""], ["primary"]),
            ]
            let event: [Known] = [
                ("format", "xml", ["text", "quakeml"], ["json"]), ("limit", "", ["5"], ["x"]),
                ("offset", "1", ["2"], ["0"]),
                ("orderby", "time", ["time-asc", "magnitude", "magnitude-asc"], ["depth"]),
                ("eventid", "", ["base-1"], []),
                ("mindepth", "", ["1"], ["x"]), ("maxdepth", "", ["600"], ["x"]), ("minmagnitude", "", ["1"], ["x"]),
                ("maxmagnitude", "", ["9"], ["x"]), ("updatedafter", "", ["2000-01-01"], ["x"]),
                ("magnitudetype", "", ["", "M"], ["mw"]), ("eventtype", "", [""], ["quarry"]),
                flags("includeallorigins"), flags("includeallmagnitudes"), flags("includearrivals"),
                ("catalog", "", [""], ["PDE"]), ("contributor", "", [""], ["NEIC"]),
            ]
            func rows(_ service: String, _ list: [Known]) -> [(String, String, String, [String], [String])] {
                list.map { (service, $0.0, $0.1, $0.2, $0.3) }
            }
            return rows("station", common + channel + area + station)
                + rows("dataselect", common + channel + dataselect)
                + rows("event", common + area + event)
        }()

    private static func bench() throws -> Bench {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base"), Bench.event("base", "base-1", at: Bench.start)])
        for second in 0..<10 { try bench.take([Bench.trace("base", second)], after: 1) }
        return bench
    }

    @Test func eachParameterIsTakenOrRefusedByName() throws {
        let bench = try Self.bench()
        for row in Self.rows {
            let path = "/fdsnws/\(row.service)/1/query?\(row.name)="
            for value in [row.standard] + row.served {
                let answer = try bench.ask(path + value)
                #expect(
                    [200, 204].contains(answer.status),
                    "\(path)\(value): \(String(decoding: answer.body, as: UTF8.self))")
            }
            for value in row.refused {
                let answer = try bench.ask(path + value)
                let text = String(decoding: answer.body, as: UTF8.self)
                #expect(answer.status == 400, "\(path)\(value)")
                if !row.name.hasSuffix("time"),
                    !["updatedafter", "startbefore", "startafter", "endbefore", "endafter"].contains(row.name)
                        || row.service == "station" && row.name == "updatedafter"
                {
                    #expect(text.contains(row.name), "\(path)\(value): \(text)")
                }
            }
        }
        #expect(try bench.ask("/fdsnws/station/1/query?nonsense=1").status == 400)
    }

    /// Defaults change nothing of what is found.
    @Test func defaultsFindWhatNothingFinds() throws {
        let bench = try Self.bench()
        for service in ["station", "dataselect", "event"] {
            let rows = Self.rows.filter { $0.service == service && !$0.standard.isEmpty }
            let plain = try bench.ask("/fdsnws/\(service)/1/query")
            #expect(plain.status == 200)
            for row in rows where !["latitude", "longitude", "minradius", "maxradius"].contains(row.name) {
                // (An event of a station without a place would be in no box; this one has a place.)
                let answer = try bench.ask("/fdsnws/\(service)/1/query?\(row.name)=\(row.standard)")
                #expect(answer.body.count == plain.body.count && answer.status == 200, "\(service) \(row.name)")
            }
        }
    }

    @Test func openEpochsAndFarEnds() throws {
        let bench = try Self.bench()
        let after = "2026-01-05T10:30:00"
        // The epoch is open: programs ask for what is there from now on.
        #expect(try bench.ask("/fdsnws/station/1/query?starttime=\(after)&level=channel&format=text").status == 200)
        #expect(try bench.ask("/fdsnws/station/1/query?starttime=\(after)&matchtimeseries=true").status == 204)
        let whole = try bench.ask("/fdsnws/dataselect/1/query").body.count
        for end in ["2599-12-31T23:59:59", "2999-12-31", "9999-12-31T23:59:59.999999", "2400-02-29"] {
            #expect(try bench.ask("/fdsnws/dataselect/1/query?endtime=\(end)").body.count == whole, "\(end)")
            #expect(try bench.ask("/fdsnws/dataselect/1/query?starttime=\(end)").status == 204, "\(end)")
        }
        #expect(try bench.ask("/fdsnws/dataselect/1/query?starttime=1600-01-01&endtime=2500-01-01").body.count == whole)
        // The first time that is taken stands for all before it: a difference of two times has to fit.
        for begin in ["1677-09-21", "1900-01-01T00:00:00", "1919-12-31T23:59:59"] {
            #expect(try FDSNQuery.time(begin) == Timestamp.sensible.lowerBound)
        }
        for bad in ["2599-13-01", "2599-02-29", "2599-12-31T25:00:00", "25991231"] {
            #expect(try bench.ask("/fdsnws/dataselect/1/query?endtime=\(bad)").status == 400, "\(bad)")
        }
        #expect(SeedLinkTime.read("2599,12,31,23,59,59") == SeedLinkTime.read("2999-12-31T23:59:59Z"))
        #expect(SeedLinkTime.read("2599,13,1") == nil && SeedLinkTime.read("2023,11,14") != nil)
    }

    /// The table of the document is the declaration's.
    @Test func theDocumentHasEachRow() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("deploy/docs/operate/feed.md"), encoding: .utf8)
        for row in Self.rows { #expect(text.contains("`\(row.name)"), "\(row.name)") }
        for service in [Service.station, .event, .dataselect] {
            let tested = Set(Self.rows.filter { $0.service == service.rawValue }.map(\.name))
            #expect(service.parameters.isSubset(of: tested), "\(service.parameters.subtracting(tested))")
        }
    }
}
