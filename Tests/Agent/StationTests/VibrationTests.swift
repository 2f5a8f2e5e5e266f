import Foundation
import Messages
import Settings
import SignalProcessing
import Testing
import Values
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

    /// The removal of the offset, which would take 5 % of an impact, has no part in it.
    @Test func theOffsetFilterTakesNothing() throws {
        var recording = Self.recording
        // An impact: a velocity of 10 mm/s that goes up in 20 ms and is gone after 200 ms.
        for i in 0..<20 { recording.x[4500 + i] += i < 2 ? 0.5 : -1.0 / 18 }
        let all = try [OffsetSpecification.highpass(corner: 0.1, order: 2), .highpass(corner: 2, order: 2), .none].map {
            mode in
            let sent = try play(recording.blocks(of: 50), Self.configuration { $0.conditioning.offset = mode }).sent
            return try Self.messages(sent).map { message in
                try ["x", "y", "z", "half_cycles"].map {
                    try JSONSerialization.data(withJSONObject: try #require(message[$0]), options: .sortedKeys)
                }
            }
        }
        #expect(all[0].count == 7 && all[0] == all[1] && all[0] == all[2])
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

    /// Doses and the floor go on after a kill with what has been stored; a recording that is played again counts once.
    @Test func aRestartGoesOnWithTheDay() throws {
        var recording = burst(seconds: 105, from: 12, to: 50, amplitude: 0.02 * 2 * .pi * 5)
        recording.start = Self.recording.start
        let blocks = recording.blocks(of: 50)
        func run(_ blocks: some Sequence<SampleBlock>, after past: VibrationPast?, late: Int = 0) throws -> [Value] {
            var pipeline = try StationPipeline(
                configuration: Self.configuration(), sensor: StationSensor(rate: 100), boot: "boot")
            var messages: [Value] = []
            for (i, block) in blocks.enumerated() {
                if i == late, let past { pipeline.goOn(from: past) }
                pipeline.process(block, quality: .replay) { header, bytes in
                    guard header.topic.hasSuffix("data/vibration") else { return }
                    if let message = try? JSONReader.read(Array(bytes)) { messages.append(message) }
                }
            }
            return messages
        }
        func past(_ messages: [Value]) throws -> VibrationPast {
            var past = VibrationPast(Self.configuration().vibration.measurement, offset: 0)
            for message in messages { past.add(try #require(VibrationRecord(message)).interval) }
            return past
        }
        func seconds(_ messages: some Sequence<Value>) -> Double {
            messages.reduce(0) { $0 + ($1["seconds"]?.number ?? 0) }
        }
        let first = try run(blocks[..<100], after: nil)
        #expect(first.count == 4)
        // The storage may come up a little later.
        for late in [0, 15] {
            let second = try run(blocks[100...], after: past(first), late: late)
            #expect(second.count == 5)
            for count in 1...second.count {
                let all = first + second.prefix(count)
                let fourths = all.reduce(0.0) { $0 + pow($1["x"]?["vdv"]?.number ?? 0, 4) }
                let last = second[count - 1]
                #expect(abs(pow(last["x"]?["vdv_period"]?.number ?? 0, 4) / fourths - 1) < 1e-6)
                #expect(abs((last["period_seconds"]?.number ?? 0) - seconds(all)) < 1e-6)
            }
            // Three complete intervals from before and two of this run make a floor.
            #expect(second.map { $0["x"]?["floor"] != nil } == [false, false, true, true, true])
        }
        // A clock that was an hour behind, and is set.
        var behind = burst(seconds: 6)
        behind.start = recording.start - 3_600_000_000_000
        let set = try run(behind.blocks(of: 50) + blocks[100...], after: past(first))
        #expect(set.count == 6)
        let told = try #require(set.last?["period_seconds"]?.number)
        #expect(abs(told - seconds(first + set)) < 1e-6)
        // The same once more, from its beginning.
        let again = try run(blocks[..<140], after: past(first))
        #expect(try #require(again.last)["period_seconds"]?.number == seconds(again))
    }

    /// Off and on again, the day goes on.
    @Test func aPauseGoesOnWithTheDay() throws {
        var pipeline = try StationPipeline(
            configuration: Self.configuration(), sensor: StationSensor(rate: 100), boot: "boot")
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        for (i, block) in Self.recording.blocks(of: 100).enumerated() {
            if i == 25 || i == 35 {
                let other = Self.configuration { $0.vibration.enabled = i == 35 }
                try pipeline.reconfigure(other, revision: i, to: sink)
            }
            pipeline.process(block, quality: .replay, to: sink)
        }
        pipeline.finish(to: sink)
        let messages = Self.messages(sent)
        let seconds = messages.reduce(0) { $0 + ($1["seconds"] as? Double ?? 0) }
        let last = try #require(messages.last)
        #expect(abs((last["period_seconds"] as? Double ?? 0) - seconds) < 1e-6 && seconds > 45)
    }

    @Test func whatTheRateDoesNotCarryIsRefusedAtItsSetting() throws {
        let configuration = Self.configuration { $0.vibration.band = .din }
        let problem = try #require(StationCheck.problem(configuration, sensor: StationSensor(rate: 100)))
        #expect(problem.path == "/vibration/band" && problem.message.contains("200 samples a second"))
        #expect(StationCheck.problem(configuration, sensor: StationSensor(rate: 200)) == nil)
    }
}
