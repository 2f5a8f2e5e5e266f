import Foundation
import TestSupport
import Testing

/// `seismote tune` on recordings with a known answer.
@Suite struct TuneTests {
    private static let ridgecrest = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("deploy/recordings/ridgecrest-2019-07-06-clc.mseed").path
    /// m/s² per count of that recording.
    private static let scale = "4.6742e-6,4.6771e-6,4.6786e-6"

    /// Five minutes at 50 Hz: noise, from 120 s on 20 s of shaking at 5 Hz, and a knock at 220 s.
    private static let synthetic: String = {
        var state: UInt64 = 7
        func noise() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 33) / Double(1 << 31) - 0.5
        }
        var text = "t,x,y,z\n"
        for n in 0..<15000 {
            let t = Double(n) / 50
            var shaking = 0.0
            if t >= 120, t < 140 { shaking = 0.05 * sin(2 * Double.pi * 5 * t) }
            if t >= 220, t < 220.3 { shaking = 0.02 * sin(2 * Double.pi * 5 * t) }
            text += "\(t),\(0.001 * noise() + shaking),\(0.001 * noise() + 0.5 * shaking),\(9.8 + 0.001 * noise())\n"
        }
        return text
    }()

    private struct Row {
        var settings: [String: Any]
        var numbers: [String: Any]
        var delays: [Double]
        var falseOnsets: [Double]
    }

    private func rows(_ report: [String: Any]) throws -> [Row] {
        try #require(report["settings"] as? [[String: Any]]).map { one in
            let recordings = try #require(one["recordings"] as? [[String: Any]])
            return Row(
                settings: try #require(one["settings"] as? [String: Any]), numbers: one,
                delays: recordings.flatMap { $0["delays_s"] as? [Any] ?? [] }.compactMap { $0 as? Double },
                falseOnsets: recordings.flatMap { $0["false_s"] as? [Double] ?? [] })
        }
    }

    @Test func findsTheEventAndBlamesTheKnock() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("shake.csv", Self.synthetic)
        let report = try Tool(
            "tune", file, "--on", "10", "--sta", "0.5", "--lta", "60", "--threshold", "2 mg,10 mg", "--json"
        ).object()
        let recording = try #require((report["recordings"] as? [[String: Any]])?.first)
        let events = try #require(recording["events"] as? [[String: Any]])
        #expect(events.count == 1)
        let onset = try #require(events.first?["onset_s"] as? Double)
        #expect(abs(onset - 120) < 0.3)
        let rows = try rows(report)
        // The best has caught the shaking and nothing else, at once.
        #expect(rows[0].numbers["caught"] as? Int == 1 && rows[0].falseOnsets.isEmpty)
        #expect(abs(rows[0].delays[0] + onset - 120) < 2)
        let sensitive = try #require(
            rows.first { $0.settings["on"] as? Double == 10 && $0.settings["method"] as? String == "frozen" })
        #expect(sensitive.falseOnsets.contains { abs($0 - 220) < 0.5 })
        // So has the level below the shaking and above the knock; the one above both is never on.
        let levels = rows.filter { $0.settings["threshold"] != nil }
        let low = try #require(levels.first { abs(($0.settings["threshold"] as? Double ?? 0) - 0.0196133) < 1e-9 })
        #expect(low.delays.count == 1 && low.falseOnsets.isEmpty)
        let high = try #require(levels.first { ($0.settings["threshold"] as? Double ?? 0) > 0.09 })
        #expect(high.delays.isEmpty && high.falseOnsets.isEmpty)
        let best = try #require(report["best"] as? String)
        let settings = try folder.write("best.yaml", best)
        let check = try Tool("config", "check", settings)
        #expect(check.status == 0)
    }

    /// The detector is the agent's: what the settings have now fires when a replay says so.
    @Test func firesWhenTheAgentWould() throws {
        let tuned = try Tool("tune", Self.ridgecrest, "--scale", Self.scale, "--pick", "30.7", "--json")
        #expect(tuned.status == 0)
        let present = try #require(try rows(tuned.object()).first { $0.numbers["present"] as? Bool == true })
        #expect(present.delays.count == 1)
        let replay = try Tool(
            "replay", Self.ridgecrest, "--scale", Self.scale, "--set", "detection.level.enabled=false")
        let line = try #require(replay.output.split(separator: "\n").first { $0.contains("\"onset\"") })
        let message = try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let payload = try #require(message["payload"] as? [String: Any])
        let text = try #require(payload["onset"] as? String)
        // The recording begins at 03:19:23.038300 UTC.
        let seconds = try #require(Double(text.dropLast().split(separator: ":").last ?? ""))
        let minute = try #require(Int(text.split(separator: ":")[1]))
        let onset = Double(minute - 19) * 60 + seconds - 23.0383
        #expect(abs(present.delays[0] + 30.7 - onset) < 1e-6, "\(text)")
    }

    /// A recording that a file of picks names without times has nothing to catch: its shaking is a false onset.
    @Test func picksDecideWhatThereIsToCatch() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("shake.csv", Self.synthetic)
        let values = ["--on", "5", "--sta", "1", "--lta", "20", "--detector", "sta_lta", "--json"]
        let with = try folder.write("with.csv", "file,p_s,s_s\nshake.csv,120.5,130\n")
        let row = try rows(try Tool(["tune", file, "--picks", with] + values).object())[0]
        #expect(row.delays.count == 1 && abs(row.delays[0]) < 1)
        let without = try folder.write("without.csv", "shake,,\n")
        let none = try Tool(["tune", file, "--picks", without] + values).object()
        #expect(none["events"] as? Int == 0)
        let first = try rows(none)[0]
        #expect(first.falseOnsets.contains { abs($0 - 120) < 2 })
        #expect(none["best"] is NSNull)
    }

    @Test func namesEverythingThatIsWrong() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("good.csv", Self.synthetic)
        func expect(_ status: Int, _ words: [String], _ arguments: String...) throws {
            let run = try Tool(["tune"] + arguments)
            #expect(run.status == status && run.output.isEmpty, "\(arguments)")
            for word in words { #expect(run.errors.contains(word), "\(arguments): \(run.errors)") }
        }
        try expect(65, ["/none.csv", "/other.mseed"], "/none.csv", "/other.mseed")
        let empty = try folder.write("empty.csv", "t,x,y,z\n")
        try expect(65, [empty], empty)
        try expect(
            78,
            ["--sta x:", "--on: the value is missing", "--band 8-1:", "--band foo:", "--lta 1000:", "--method frozn:"],
            file, "--sta", "1,x", "--on", "3,", "--band", "8-1,foo", "--lta", "1000", "--method", "frozn")
        try expect(78, ["no combination to try"], file, "--sta", "30", "--lta", "10", "--detector", "sta_lta")
        try expect(
            78, ["left out", "25.0 Hz"], file, "--band", "1-40", "--detector", "sta_lta", "--set",
            "detection.sta_lta.enabled=false")
        let picks = try folder.write("picks.csv", "a,x,2\nb,3,1\n,1\n")
        try expect(65, ["picks.csv:1:", "picks.csv:2: S comes before P", "picks.csv:3:"], file, "--picks", picks)
        try expect(64, ["--pick"], file, file, "--pick", "3")
    }
}
