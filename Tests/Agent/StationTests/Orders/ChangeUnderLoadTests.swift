import Messages
import Settings
import SignalProcessing
import Testing

@testable import Station

/// Other settings in the middle of an event, with a stream on and in blocks as a sensor gives them.
@Suite struct ChangeUnderLoadTests {
    private static let at = 2304

    private func run(_ change: ((inout Configuration) -> Void)?) throws -> OrderedRun {
        let settings = testConfiguration { $0.spectrum.window = 2 }
        var traces = Configuration().trace
        traces.rate = 100
        return try OrderedRun(
            burst(), settings, size: 16,
            at: [
                2000: { (pipeline, sink) in try pipeline.beginStream(traces, to: sink) },
                Self.at: { (pipeline, sink) in
                    guard let change else { return }
                    var other = settings
                    change(&other)
                    try pipeline.reconfigure(other, revision: 1, to: sink)
                },
            ])
    }

    private func expectSame(_ one: OrderedRun, _ other: OrderedRun, axes: [Int], _ what: String) {
        for axis in axes {
            let isSame = one.raw[axis] == other.raw[axis] && one.filtered[axis] == other.filtered[axis]
            #expect(isSame, "\(what): filter of axis \(axis)")
            #expect(one.rms[axis] == other.rms[axis], "\(what): RMS of axis \(axis)")
        }
        #expect(one.status == other.status, "\(what): counters")
    }

    @Test func whatDidNotChangeIsBitIdentical() throws {
        let plain = try run(nil)
        expectSame(try run { $0.axes.z.detection.threshold = 1 }, plain, axes: [0, 1, 2], "threshold")
        expectSame(try run { $0.axes.y.filter = .none }, plain, axes: [0, 2], "filter")
        expectSame(try run { $0.axes.x.detection.window = .samples(7) }, plain, axes: [1, 2], "window")
        let rate = try run { $0.trace.rate = 50 }
        expectSame(rate, plain, axes: [0, 1, 2], "rate of the trace")
        #expect(rate.messages("data/trace").last?["rate_hz"] as? Double == 50)
        #expect(rate.messages("data/stream").count == plain.messages("data/stream").count)
        let scale = try run { $0.intensity.scales = [.wald99, .gutenbergRichter] }
        expectSame(scale, plain, axes: [0, 1, 2], "scale")
        #expect(scale.messages("data/trace").count == plain.messages("data/trace").count)
    }
}

@Suite struct StationCheckTests {
    @Test func allThatCannotWorkIsSaid() {
        var configuration = testConfiguration()
        let sensor = StationSensor(rate: 100)
        #expect(StationCheck.problems(configuration, sensor: sensor).isEmpty)
        #expect(StationCheck.problem(configuration, sensor: sensor) == nil)
        let slow = StationCheck.problems(configuration, sensor: StationSensor(rate: 15))
        let filters = ["/axes/x/filter", "/axes/y/filter", "/axes/z/filter", "/detection/sta_lta/filter"]
        #expect(slow.map(\.path) == filters)
        configuration.axes.y.filter = .butterworth(.init(band: .lowpass, corners: [70], order: 2))
        configuration.conditioning.offset = .highpass(corner: 60, order: 2)
        configuration.station.network = "TOO LONG"
        let wrong = StationCheck.problems(configuration, sensor: sensor).map(\.path)
        #expect(wrong == ["/conditioning/offset", "/axes/y/filter", "/station"])
    }

    /// What the check lets pass, the pipeline takes; what it does not, the pipeline refuses.
    @Test func itSaysWhatThePipelineSays() {
        var noise = Noise(state: 7)
        var (refused, tried) = (0, 0)
        for _ in 0..<60 {
            var choices = Choices(seed: noise.next())
            let rate = choices.rate()
            guard let configuration = Choices.valid(choices.configuration(rate: rate)) else { continue }
            tried += 1
            let sensor = StationSensor(rate: choices.one(of: [rate, 15, 40, 100]))
            let pipeline = Result {
                _ = try StationPipeline(configuration: configuration, sensor: sensor, boot: "b").status
            }
            let isTaken = (try? pipeline.get()) != nil
            if !isTaken { refused += 1 }
            #expect((StationCheck.problem(configuration, sensor: sensor) == nil) == isTaken)
        }
        #expect(refused > 0 && refused < tried)
    }
}
