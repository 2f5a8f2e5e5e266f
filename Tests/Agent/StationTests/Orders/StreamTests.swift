import Messages
import Settings
import SignalProcessing
import Testing
import Values

@testable import Station

/// Traces for a while, by command.
@Suite struct StreamTests {
    private func traces(_ change: (inout TraceConfiguration) -> Void = { _ in }) -> TraceConfiguration {
        var traces = Configuration().trace
        (traces.rate, traces.signals) = (100, [.raw])
        change(&traces)
        return traces
    }

    private func run(
        _ traces: TraceConfiguration, from: Int = 1510, to: Int = 3777, size: Int = 50, gaps: [Int: Int] = [:],
        seconds: Double = 60
    ) throws -> OrderedRun {
        try OrderedRun(
            burst(seconds: seconds), testConfiguration { $0.spectrum.window = 2 }, size: size, gaps: gaps,
            at: [
                from: { (pipeline, sink) in try pipeline.beginStream(traces, to: sink) },
                to: { (pipeline, sink) in pipeline.endStream(to: sink) },
            ])
    }

    private func values(_ run: OrderedRun, _ axis: String = "x", _ signal: String = "raw") -> [Double] {
        run.messages("data/stream").flatMap { ($0[axis] as? [String: Any])?[signal] as? [Double] ?? [] }
    }

    @Test func allSamplesOfTheTimeComeAsTheyAre() throws {
        let run = try run(traces())
        #expect(values(run).map { Float($0) } == run.raw[0][1510..<3777].map { Float($0) })
        let blocks = run.messages("data/stream")
        #expect(blocks.compactMap { $0["seq"] as? Int } == Array(0..<blocks.count))
        #expect(blocks.compactMap { $0["n"] as? Int }.dropLast().allSatisfy { $0 == 100 })
        #expect(blocks.first?["gap"] as? Bool == true)
        let first = try #require(Timestamp(blocks.first?["t"] as? String ?? ""))
        #expect(first.nanoseconds == burst().start + 15_100_000_000)
    }

    @Test func everythingElseIsAsWithout() throws {
        let plain = try OrderedRun(burst(), testConfiguration { $0.spectrum.window = 2 })
        let run = try run(traces { $0.signals = [.raw, .filtered, .rms, .triggered] })
        #expect(run.others(than: "data/stream") == plain.sent)
    }

    @Test func anyBlockSizeGivesTheSame() throws {
        let settings = traces {
            $0.rate = 25
            $0.signals = [.filtered, .triggered]
        }
        let whole = try run(settings, size: 6000)
        for size in [1, 7, 16, 128, 1000] {
            let cut = try run(settings, size: size)
            #expect(cut.sent == whole.sent, "blocks of \(size)")
        }
    }

    @Test func aDecimatedStreamIsTheTraceOfTheSettings() throws {
        let run = try run(
            traces {
                $0.rate = 20
                $0.signals = [.raw, .filtered, .rms, .triggered]
            }, from: 0, to: 5990)
        let traces = run.messages("data/trace")
        let stream = run.messages("data/stream")
        #expect(stream.count == 60)
        // (Before what the filter makes of the end.)
        for (one, other) in zip(traces, stream).prefix(50) {
            for signal in ["raw", "filtered", "rms"] {
                let values = (one["x"] as? [String: Any])?[signal] as? [Double]
                #expect(values == (other["x"] as? [String: Any])?[signal] as? [Double] && values?.count == 20)
            }
            #expect(one["t"] as? String == other["t"] as? String)
        }
    }

    @Test func itGoesOnOverAGapOtherSettingsAndAnotherRate() throws {
        let gap = try run(traces(), gaps: [2000: 37])
        #expect(values(gap).count == 3777 - 1510)
        #expect(gap.messages("data/stream").filter { $0["gap"] as? Bool == true }.count == 2)
        let settings = testConfiguration { $0.spectrum.window = 2 }
        let traces = traces()
        let changed = try OrderedRun(
            burst(), settings,
            at: [
                1000: { (pipeline, sink) in try pipeline.beginStream(traces, to: sink) },
                2000: { (pipeline, sink) in
                    var other = settings
                    other.axes.x.filter = .none
                    other.mqtt.root = "other"
                    try pipeline.reconfigure(other, revision: 1, to: sink)
                },
                3000: { (pipeline, sink) in try pipeline.change(sensor: StationSensor(rate: 98), to: sink) },
                4000: { (pipeline, sink) in pipeline.endStream(to: sink) },
            ])
        let blocks = changed.sent.filter { $0.topic.hasSuffix("data/stream") }
        #expect(blocks.map(\.json).compactMap { $0["n"] as? Int }.reduce(0, +) == 3000)
        #expect(Set(blocks.map(\.topic)) == ["seismote/test/data/stream", "other/test/data/stream"])
        #expect(blocks.map(\.json).compactMap { $0["seq"] as? Int } == Array(0..<blocks.count))
        #expect(blocks.last?.json["rate_hz"] as? Double == 98)
    }

    @Test func itMayBeMiniSEEDOrCBOROrOnlyInEvents() throws {
        let records = try run(traces { $0.encoding = .mseed3 })
        let first = try #require(records.sent.first { $0.name == "data/stream" })
        #expect(first.bytes.prefix(2).elementsEqual("MS".utf8))
        #expect(records.messages("data/trace").first?["rate_hz"] as? Double == 20)
        let binary = try run(traces { $0.encoding = .cbor })
        let block = try #require(binary.sent.first { $0.name == "data/stream" })
        #expect(CBORReader.read(block.bytes)?["seq"] == .int(0))
        let quiet = try run(traces { $0.onlyInEvents = true }, from: 4500, to: 5500)
        #expect(quiet.messages("data/stream").isEmpty)
    }

    @Test func blocksAreCounted() throws {
        var counted = 0
        let traces = traces()
        let run = try OrderedRun(
            burst(), testConfiguration(),
            at: [
                0: { (pipeline, sink) in try pipeline.beginStream(traces, to: sink) },
                250: { (pipeline, sink) in
                    pipeline.endStream(to: sink)
                    counted = pipeline.streamBlocks
                },
            ])
        #expect(counted == 3 && run.messages("data/stream").count == 3)
    }
}
