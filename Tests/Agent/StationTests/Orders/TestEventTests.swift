import Messages
import Settings
import SignalProcessing
import Testing
import Values

@testable import Station

/// Events without shaking, by command.
@Suite struct TestEventTests {
    private func configuration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
        testConfiguration {
            $0.spectrum.window = 2
            ($0.detection.event.preEvent, $0.detection.event.postEvent) = (3, 5)
            change(&$0)
        }
    }

    private static func begin(_ pipeline: inout StationPipeline, _ sink: PublicationSink) {
        let taken = pipeline.beginTestEvent()
        #expect(taken)
    }

    private func run(
        at sample: Int = 4000, size: Int = 50, from: Double = 20, to: Double = 25,
        _ change: (inout Configuration) -> Void = { _ in }
    ) throws -> OrderedRun {
        try OrderedRun(burst(from: from, to: to), configuration(change), size: size, at: [sample: Self.begin])
    }

    @Test func itGoesThroughAllThatAnEventHas() throws {
        // No threshold is passed, and the intensity asked for is out of reach.
        let run = try run(from: 100) { $0.detection.event.minimumIntensity = 9 }
        let messages = run.messages("event/trigger")
        #expect(messages.allSatisfy { $0["test"] as? Bool == true })
        #expect(Set(messages.compactMap { $0["event_id"] as? String }).count == 1)
        let kinds = messages.compactMap { $0["event_type"] as? String }
        #expect(kinds.first == "onset" && kinds.last == "end")
        let end = try #require(messages.last)
        let onset = try #require(Timestamp(end["onset"] as? String ?? ""))
        #expect(onset.nanoseconds == burst().start + 40_000_000_000)
        #expect(abs((end["duration_s"] as? Double ?? 0) - 5) < 0.02)
        #expect((end["pga"] as? Double ?? 1) < 0.01)
        let waveform = try #require(end["waveform"] as? [String: Any])
        #expect(run.sent.contains { "seismote/test/" + $0.name == waveform["topic"] as? String })
        #expect(run.messages("event/last").count == 1)
    }

    @Test func aRealEventKeepsItFromBeginning() throws {
        var taken: [Bool] = []
        let run = try OrderedRun(
            burst(), configuration(), at: [2200: { (pipeline, _) in taken.append(pipeline.beginTestEvent()) }])
        #expect(taken == [false])
        let plain = try OrderedRun(burst(), configuration())
        #expect(run.sent == plain.sent && !plain.messages("event/last").isEmpty)
    }

    @Test func aRealEventThatBeginsMeanwhileWins() throws {
        let plain = try OrderedRun(burst(), configuration())
        let run = try run(at: 1800)
        let messages = run.messages("event/trigger")
        let test = messages.filter { $0["test"] as? Bool == true }
        let real = messages.filter { $0["test"] == nil }
        #expect(test.last?["event_type"] as? String == "end")
        #expect((test.last?["duration_s"] as? Double ?? 9) < 3)
        let (one, other) = (try #require(plain.messages("event/last").last), try #require(real.last))
        for key in ["event_id", "onset", "end", "pga", "pgv", "cav", "arias", "duration_s"] {
            #expect("\(one[key] ?? "-")" == "\(other[key] ?? "-")", "\(key)")
        }
        #expect(real.count == plain.messages("event/trigger").count)
        let (a, b) = (one["waveform"] as? [String: Any], other["waveform"] as? [String: Any])
        #expect(a?["sha256"] as? String == b?["sha256"] as? String)
    }

    @Test func itUsesUpNoDeadTime() throws {
        let plain = try OrderedRun(burst(), configuration { $0.detection.event.deadTime = 30 })
        // It ends half a second before the shaking begins.
        let run = try run(at: 1450) { $0.detection.event.deadTime = 30 }
        let real = run.messages("event/last").filter { $0["test"] == nil }
        #expect(real.count == 1 && plain.messages("event/last").count == 1)
        #expect(real.first?["event_id"] as? String == plain.messages("event/last").first?["event_id"] as? String)
    }

    @Test func anyBlockSizeGivesTheSame() throws {
        for at in [1800, 4000] {
            let whole = try run(at: at, size: 6000)
            for size in [1, 7, 16, 128, 1000] {
                let cut = try run(at: at, size: size)
                #expect(cut.sent == whole.sent, "at \(at), blocks of \(size)")
            }
        }
    }

    @Test func nothingElseIsOtherwise() throws {
        let plain = try OrderedRun(burst(), configuration())
        let run = try run(at: 4000)
        let isSame = run.filtered == plain.filtered && run.rms == plain.rms
        #expect(isSame)
        #expect(run.others(than: "event/", "data/waveform/") == plain.others(than: "event/", "data/waveform/"))
    }

    @Test func otherSettingsTheEndAndASecondOrderLeaveNoneOpen() throws {
        var states: [TestEvent] = []
        let settings = configuration()
        let run = try OrderedRun(
            burst(seconds: 60, from: 100), settings,
            at: [
                3000: Self.begin,
                3100: { (pipeline, sink) in
                    let taken = pipeline.beginTestEvent()
                    #expect(!taken)
                    var other = settings
                    other.detection.event.postEvent = 20
                    try pipeline.reconfigure(other, revision: 3, to: sink)
                },
                3900: { (pipeline, _) in states.append(pipeline.testEvent()) },
                5800: Self.begin,
            ])
        let ends = run.messages("event/last")
        #expect(ends.count == 2 && ends.allSatisfy { $0["test"] as? Bool == true })
        let id = try #require(ends.first?["event_id"] as? String)
        #expect(states == [.over(id)])
        #expect(abs((ends.first?["duration_s"] as? Double ?? 0) - 5) < 0.02)
        #expect(abs((ends.last?["duration_s"] as? Double ?? 0) - 2) < 0.02)
    }
}
