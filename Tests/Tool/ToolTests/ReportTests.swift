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
        let share = rows.compactMap { Double($0[header.count - 1]) }.max() ?? 0
        #expect(abs(share - largest / 5.5) < 0.02)
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
        #expect(part.page.contains("id=") == false && !part.page.contains("Intervals from"))
        let nothing = try report("nobody", lines: all)
        #expect(nothing.tool.status == 65 && nothing.tool.errors.contains("nobody"))
        #expect(try report("replay", "--limit", "din4150-3:castle", lines: all).tool.status == 64)
    }
}
