import Foundation
import TestSupport
import Testing

/// `seismote report`: from a recording through the pipeline to the page.
@Suite struct ReportTests {
    /// A minute of noise with 12 Hz at 9 mm/s vertical for some seconds, as the messages that `seismote replay` writes.
    private static let messages: String? = {
        guard let folder = try? TemporaryFolder() else { return nil }
        let csv = folder.url.appendingPathComponent("site.csv")
        var lines = "t,x,y,z\n"
        var state: UInt64 = 3
        for i in 0..<(200 * 65) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let (t, noise) = (Double(i) / 200, (Double(state >> 40) / Double(1 << 24) - 0.5) * 0.004)
            // (With a second to rise and to fall, so that no jump adds to it.)
            let size = 0.009 * 2 * Double.pi * 12 * max(0, min(1, t - 31, 36 - t))
            let shake = size * sin(2 * Double.pi * 12 * t)
            lines += "\(1_767_608_400 + t),\(noise),\(noise / 2),\(9.80665 + shake)\n"
        }
        try? lines.write(to: csv, atomically: true, encoding: .utf8)
        return try? Tool(
            "replay", csv.path, "--preset", "construction", "--set", "vibration.interval_s=10", "--quiet"
        ).output
    }()

    private func report(_ arguments: String..., lines: String) throws -> (tool: Tool, page: String, csv: [String]) {
        let folder = try TemporaryFolder()
        let (stored, page, csv) = (
            folder.url.appendingPathComponent("m.jsonl"), folder.url.appendingPathComponent("r.html"),
            folder.url.appendingPathComponent("r.csv")
        )
        try lines.write(to: stored, atomically: true, encoding: .utf8)
        let tool = try Tool(
            ["report"] + arguments + ["--messages", stored.path, "--output", page.path, "--csv", csv.path])
        let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
        let rows = ((try? String(contentsOf: csv, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
        return (tool, text, rows)
    }

    @Test func thePageSaysWhatTheMessagesSay() throws {
        let lines = try #require(Self.messages)
        let (tool, page, csv) = try report("replay", "--limit", "din4150-3:dwellings", lines: lines)
        #expect(tool.status == 0, "\(tool.errors)")
        // Six complete intervals and one of 5 s.
        #expect(csv.count == 8)
        let header = csv[0].split(separator: ",").map(String.init)
        let rows = csv.dropFirst().map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        let column = try #require(header.firstIndex(of: "z_ppv_mm_s"))
        let largest = rows.compactMap { Double($0[column]) }.max() ?? 0
        #expect(abs(largest - 9) < 0.3)
        // At 12 Hz the limit is 5.5 mm/s.
        let place = try #require(header.firstIndex(of: "share"))
        let worst = try #require(rows.max { (Double($0[place]) ?? 0) < (Double($1[place]) ?? 0) })
        #expect(abs((Double(worst[place]) ?? 0) - largest / 5.5) < 0.02)
        let told = Dictionary(uniqueKeysWithValues: zip(header, worst))
        #expect(told["share_axis"] == "z" && abs((told["share_frequency_hz"].flatMap(Double.init) ?? 0) - 12) < 0.1)
        #expect(told["share_t"]?.hasPrefix("2026-") == true && told["share_value"] == told["z_ppv_mm_s"])
        #expect(page.contains("reached in <b>1</b> of 7 intervals"))
        #expect(page.contains("DIN 4150-3") && page.contains("12.0 Hz"))
        #expect(page.contains("@page { size: A4") && page.contains("<circle") && page.contains("stroke=\"#000\""))
        #expect(!page.contains("http"), "it needs nothing else")
    }

    @Test func timesChooseAndForeignLinesAreLeftOut() throws {
        let lines = try #require(Self.messages)
        let vibration = lines.split(separator: "\n").filter { $0.contains("data/vibration") }
        // As mosquitto_sub -v prints them, with what else may come.
        let printed = vibration.compactMap { line -> String? in
            guard let start = line.range(of: "\"payload\":") else { return nil }
            return "seismote/replay/data/vibration " + line[start.upperBound...].dropLast()
        }
        let noise = [
            "", "not JSON {", "seismote/other/data/vibration {\"station\":\"other\"}", "{\"station\":\"replay\"}",
        ]
        let all = (noise + printed + printed).joined(separator: "\n") + "\n"
        #expect(try report("replay", lines: all).csv.count == 8)
        let part = try report("replay", "--from", "2026-01-05T10:20:10Z", "--to", "2026-01-05T10:20:40Z", lines: all)
        #expect(part.csv.count == 4)
        // The messages name the limit that the station compares with.
        #expect(part.page.contains("id=") == false && part.page.contains("Intervals from"))
        let nothing = try report("nobody", lines: all)
        #expect(nothing.tool.status == 65 && nothing.tool.errors.contains("nobody"))
        #expect(try report("replay", "--limit", "din4150-3:castle", lines: all).tool.status == 64)
    }

    /// An interval as a message, one minute long.
    private static func interval(
        _ minute: Int, seconds: Double = 60, interrupted: [String] = [], dose: Double = 0.1
    ) -> String {
        let time = { (second: Int) in
            "2026-01-05T\((second / 3600) % 24 < 10 ? "0" : "")\((second / 3600) % 24):"
                + "\(second / 60 % 60 < 10 ? "0" : "")\(second / 60 % 60):\(second % 60 < 10 ? "0" : "")\(second % 60)Z"
        }
        let axis = """
            {"ppv":4.0,"t":"\(time(60 * minute + 12))","frequency_hz":12.5,"rms":0.5,"displacement":0.051,"acceleration":0.31,\
            "kb_fmax":0.25,"kb_ftm":0.125,"weighting":"wb","aw_rms":0.01,"vdv":\(dose)}
            """
        let words = interrupted.map { "\"\($0)\"" }.joined(separator: ",")
        return """
            {"station":"house","start":"\(time(60 * minute))","interval_s":60,"seconds":\(seconds),"gaps":0,"interrupted":[\(words)],\
            "band":{"lower_hz":1,"upper_hz":80},"x":\(axis),"y":\(axis),"z":\(axis),"pvs":5.0,"pvs_t":"\(time(60 * minute + 13))"}
            """
    }

    /// A half cycle that is nearer to the limit than the largest peak decides, whichever limit is asked for.
    @Test func aHalfCycleDecides() throws {
        let cycle = "{\"axis\":\"y\",\"value\":3.5,\"t\":\"2026-01-05T10:00:44Z\",\"frequency_hz\":3.25}"
        let vector = "{\"axis\":\"vector\",\"value\":3.75,\"t\":\"2026-01-05T10:00:45Z\",\"frequency_hz\":9}"
        let line = Self.interval(600)
            .replacingOccurrences(of: "\"frequency_hz\":12.5", with: "\"frequency_hz\":45")
            .replacingOccurrences(of: "\"pvs\":5.0", with: "\"half_cycles\":[\(cycle),\(vector)],\"pvs\":5.0")
        for (limit, tail, moment) in [
            ("din4150-3:dwellings", ",0.7,y,3.5,5.0,3.25,2026-01-05T10:00:44.000000000Z", "10:00:44"),
            ("sn640312a:class3:permanent", ",1.25,vector,3.75,3.0,9.0,2026-01-05T10:00:45.000000000Z", "10:00:45"),
        ] {
            let (tool, page, csv) = try report("house", "--limit", limit, lines: line + "\n")
            #expect(tool.status == 0 && csv.count == 2 && csv[1].hasSuffix(tail), "\(tool.errors) \(csv)")
            #expect(page.contains("<td>\(moment)</td>") && page.contains("Hz</td>"), "\(limit)")
            #expect(!page.contains("earlier version"))
        }
        let old = try report("house", "--limit", "din4150-3:dwellings", lines: Self.interval(600) + "\n")
        #expect(old.page.contains("earlier version") && old.csv[1].contains(",4.0,"))
    }

    private static func modes(_ hour: Int, _ modes: [(id: Int, hz: Double, damping: Double)]) -> String {
        let all = modes.map {
            "{\"id\":\($0.id),\"frequency_hz\":\($0.hz),\"damping\":\($0.damping),\"x\":1,\"y\":0.5,\"z\":0,\"prominence_db\":20}"
        }
        return "{\"station\":\"house\",\"start\":\"2026-01-05T\(hour < 10 ? "0" : "")\(hour):00:00Z\",\"seconds\":3600,"
            + "\"segments\":89,\"temperature_c\":\(10 + hour),\"modes\":[\(all.joined(separator: ","))]}"
    }

    /// Each reason in the words of the report; displacement, acceleration and times in the table.
    @Test func whatIsMissingHasItsReason() throws {
        var lines = [Self.interval(600, seconds: 56, interrupted: ["start"]), Self.interval(601)]
        lines += [
            Self.interval(605, seconds: 56, interrupted: ["start"]),
            Self.interval(606, seconds: 20, interrupted: ["stop"]),
        ]
        lines += [
            Self.interval(610, seconds: 50, interrupted: ["start"]),
            Self.interval(611, seconds: 30, interrupted: ["gap"]),
        ]
        lines += [Self.interval(620, seconds: 40, interrupted: ["gap"]), Self.interval(625), Self.interval(630)]
        let (tool, page, csv) = try report(
            "house", "--limit", "din4150-3:dwellings", lines: lines.joined(separator: "\n"))
        #expect(tool.status == 0, "\(tool.errors)")
        for words in [
            "6 of 9 intervals are not complete", "3 with a start of measuring", "2 with missing or invalid samples",
            "1 with an orderly end", "ended without notice", "ended in order", "no samples came",
            "not known: not stored",
            "<td>10:00:12</td>", "<td>0.0510</td><td>0.310</td>", "there was no <code>state/info</code>",
        ] { #expect(page.contains(words), "\(words)") }
        #expect(
            csv[1].hasPrefix("2026-01-05T10:00:00.000000000Z,60,56.0,0,start,5.0,13.0,4.0,12.0,12.5,0.5,0.051,0.31,"))
    }

    /// Doses of a day and a night, each from its own hours, beside what the standard says of them.
    @Test func dosesAreJudged() throws {
        // 16 minutes at 0.3: 0.6 by day, which is possible; 0.3 at night is possible, too.
        let lines = (0..<16).map { Self.interval(600 + $0, dose: 0.3) } + [Self.interval(1390, dose: 0.3)]
        let page = try report("house", lines: lines.joined(separator: "\n")).page
        #expect(page.contains("<td>0.600</td><td>0.600</td><td>0.600</td><td>possible</td><td>0.3 h</td>"))
        #expect(page.contains("<td>0.300</td><td>0.300</td><td>0.300</td><td>possible</td><td>0.0 h</td>"))
        #expect(page.contains("this station with wb, wb, wb"))
    }

    /// Modes over hours, with a gap; what does not decay is none. The station, its sensor and calibration.
    @Test func modesAndTheSensorAreThere() throws {
        let found = (0..<24).filter { $0 != 9 && $0 != 15 }.map { hour -> String in
            let structure = (id: 3, hz: 2.4 - 0.01 * Double(hour) / 24, damping: 0.01)
            return Self.modes(hour, hour == 12 ? [(8, 6.25, 0.0002)] : [structure, (8, 6.25, 0.0002)])
        }
        let info = """
            {"agent":{"name":"seismote"},"station":{"id":"house","description":"No. 12 <b>"},"sensor":{"chip":"adxl355",\
            "rate_hz":200,"range":19.6,"calibration":{"t":"2026-01-02T10:00:00Z","method":"six positions"}}}
            """
        let settings = """
            {"station":"house","rev":3,"config":{"sensor":{"calibration":{"offset":[0.1,0,0]}}}}
            """
        let (tool, page, _) = try report("house", lines: (found + [info, settings]).joined(separator: "\n"))
        #expect(tool.status == 0, "\(tool.errors)")
        for words in [
            "No. 12 &lt;b&gt;", "Sensor: adxl355, 200 samples a second, full scale 19.6 m/s²",
            "Calibrated on 2026-01-02, method: six positions.", "22 periods", "<td>3</td><td>2.39", "<td>21 of 22</td>",
            "Left out, because they hardly decay (damping below 0.1 %): 6.25 Hz",
        ] { #expect(page.contains(words), "\(words)") }
        // −0.01 Hz a day of 24 K: −0.017 %/K. The line has three breaks, so four pieces.
        #expect(page.contains("−0.017 %/K"))
        #expect(page.components(separatedBy: "stroke=\"#b4332a\"").count - 1 == 4)
        #expect(!page.contains("Its correction is not"))
    }
}
