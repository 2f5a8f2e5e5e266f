import Foundation
import Messages
import Settings
import Testing
import Vibration

@testable import Station

/// Vibration as standards measure it, through the pipeline.
@Suite struct VibrationTests {
    private static func configuration(
        limit: String? = "din4150-3:dwellings:foundation", _ change: (inout Configuration) -> Void = { _ in }
    ) -> Configuration {
        testConfiguration {
            $0.vibration.enabled = true
            ($0.vibration.band, $0.vibration.lower, $0.vibration.upper) = (.own, 1, 40)
            $0.vibration.interval = 10
            $0.vibration.limit = limit.flatMap { VibrationLimit($0) }
            change(&$0)
        }
    }

    /// 5 Hz on x for 20 s of a minute, 20 mm/s; gravity on z.
    private static let recording: Recording = {
        var recording = burst(seconds: 65, from: 12, to: 32, amplitude: 0.02 * 2 * .pi * 5)
        recording.start = 1_767_608_430_000_000_000
        return recording
    }()

    private static func messages(_ sent: [Sent]) -> [[String: Any]] {
        sent.filter { $0.name == "data/vibration" }.map(\.json)
    }

    @Test func eachIntervalHasItsMessage() throws {
        let sent = try play(Self.recording.blocks(of: 50), Self.configuration()).sent
        let header = try #require(sent.first { $0.name == "data/vibration" })
        #expect(header.qos == 1 && !header.retain)
        let messages = Self.messages(sent)
        #expect(messages.count == 7)
        #expect(messages.map { $0["start"] as? String }.first == "2026-01-05T10:20:30.000000000Z")
        #expect(messages[1]["t"] as? String == messages[2]["start"] as? String)
        let (quiet, loud) = (messages[4], messages[2])
        func axis(_ message: [String: Any], _ name: String) throws -> [String: Any] {
            try #require(message[name] as? [String: Any])
        }
        let x = try axis(loud, "x")
        #expect(abs((x["ppv"] as? Double ?? 0) - 20) < 1)
        #expect(abs((x["frequency_hz"] as? Double ?? 0) - 5) < 0.1)
        #expect(x["weighting"] as? String == "wd")
        #expect(try axis(loud, "z")["weighting"] as? String == "wk")
        let limit = try axis(loud, "limit")
        #expect(limit["axis"] as? String == "x" && limit["limit"] as? Double == 5)
        #expect(abs((limit["share"] as? Double ?? 0) - 4) < 0.2)
        #expect(loud["state"] as? String == "exceeded" && quiet["state"] as? String == "ok")
        #expect(quiet["period"] as? String == "day")
        // A floor needs five complete intervals; quiet is then below three times it, the burst far above.
        #expect(try axis(messages[3], "x")["floor"] == nil)
        let last = try axis(messages[6], "x")
        #expect(last["below_floor"] as? Bool == true)
        #expect(((last["floor"] as? [String: Any])?["ppv"] as? Double ?? 9) < 0.1)
        // What is not complete says so.
        #expect(messages[6]["seconds"] as? Double == 5 && messages[1]["seconds"] as? Double == 10)
    }

    @Test func theSameBytesForAnySizeOfBlock() throws {
        let gaps = [1234: 777, 4000: 5]
        let whole = try play(Self.recording.blocks(of: 6500, gaps: gaps), Self.configuration()).sent
        for size in [1, 37, 128, 300] {
            let cut = try play(Self.recording.blocks(of: size, gaps: gaps), Self.configuration()).sent
            #expect(cut == whole)
        }
    }

    /// Nothing of it changes another message, and off there is none.
    @Test func theRestOfTheMessagesIsAsWithoutIt() throws {
        let blocks = Self.recording.blocks(of: 100)
        let with = try play(blocks, Self.configuration()).sent
        let without = try play(blocks, Self.configuration { $0.vibration.enabled = false }).sent
        #expect(Self.messages(without).isEmpty)
        #expect(with.filter { $0.name != "data/vibration" } == without)
    }

    @Test func aChangeKeepsWhatItDoesNotConcern() throws {
        var pipeline = try StationPipeline(
            configuration: Self.configuration(limit: nil), sensor: StationSensor(rate: 100), boot: "boot")
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        for (i, block) in Self.recording.blocks(of: 100).enumerated() {
            // Another setting: the interval goes on.
            if i == 15 {
                let other = Self.configuration(limit: nil) { $0.trace.rate = 10 }
                try pipeline.reconfigure(other, revision: 1, to: sink)
            }
            // A limit: what there is of the interval is sent, and the next begins.
            if i == 25 { try pipeline.reconfigure(Self.configuration(), revision: 2, to: sink) }
            if i == 45 {
                let off = Self.configuration { $0.vibration.enabled = false }
                try pipeline.reconfigure(off, revision: 3, to: sink)
            }
            pipeline.process(block, quality: .replay, to: sink)
        }
        let messages = Self.messages(sent)
        #expect(messages.count == 6)
        #expect(messages[1]["seconds"] as? Double == 10)
        #expect(messages[2]["seconds"] as? Double == 5 && messages[2]["limit"] == nil)
        #expect(messages[3]["limit"] != nil && messages[5]["seconds"] as? Double == 5)
    }

    /// How the last interval stands is known until the next one, or until there is another limit.
    @Test func theStandingOfTheLastInterval() throws {
        var pipeline = try StationPipeline(
            configuration: Self.configuration(), sensor: StationSensor(rate: 100), boot: "boot")
        var states: [String] = []
        for (i, block) in Self.recording.blocks(of: 100).enumerated() {
            // Another setting of the same chapter; another share; no limit.
            let others = [
                36: Self.configuration { $0.vibration.weighting = .bs6472 },
                44: Self.configuration { $0.vibration.warnShare = 0.5 }, 56: Self.configuration(limit: nil),
            ]
            let before = pipeline.vibrationIntervals
            if let other = others[i] { try pipeline.reconfigure(other, revision: i, to: { _, _ in }) }
            pipeline.process(block, quality: .replay, to: { _, _ in })
            guard pipeline.vibrationIntervals != before || others[i] != nil else { continue }
            let standing = pipeline.vibrationStanding
            states.append("\(i) \(standing.map { "\($0.state) \($0.unit) \($0.limit.axis)" } ?? "none")")
        }
        #expect(
            states == [
                "11 ok mm/s x", "21 exceeded mm/s x", "31 exceeded mm/s x", "36 exceeded mm/s x", "41 ok mm/s x",
                "44 none", "51 ok mm/s x", "56 none", "61 none",
            ])
    }

    @Test func whatTheRateDoesNotCarryIsRefusedAtItsSetting() throws {
        let configuration = Self.configuration { $0.vibration.band = .din }
        let problem = try #require(StationCheck.problem(configuration, sensor: StationSensor(rate: 100)))
        #expect(problem.path == "/vibration/band" && problem.message.contains("200 samples a second"))
        #expect(StationCheck.problem(configuration, sensor: StationSensor(rate: 200)) == nil)
    }
}
