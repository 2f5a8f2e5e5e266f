import MiniSEED
import Testing
import Values

@testable import Messages

@Suite struct WaveformTests {
    static let codes = ChannelCodes(network: "XX", station: "BASE", location: "00", id: "basement-north")
    static let header = PublicationHeader(
        topic: "seismote/a/data/waveform/e", qos: 1, retain: false, contentType: .mseed, priority: .essential)
    static let start: Int64 = 1_767_608_430_120_000_000

    /// A decaying sine on gravity, different on each axis; m/s², no multiples of a count.
    static func motion(_ i: Int) -> (Double, Double, Double) {
        var state = UInt64(i) &* 0x9e37_79b9_7f4a_7c15
        state ^= state >> 29
        let noise = Double(state % 10_007) * 1.3e-6
        let phase = Double(i % 37) - 18
        return (phase * 0.0213 + noise, -phase * 0.0111 - noise, 9.80665 + phase * 0.0071)
    }

    static func write(
        format: MiniSEEDFormat, scale: CountScale = CountScale(), samples: Int = 2500, chunk: Int = 1000,
        gapBefore: Int? = nil, motion: (Int) -> (Double, Double, Double) = Self.motion
    ) throws -> (messages: [[UInt8]], waveform: EventMessage.Waveform?) {
        var writer = try WaveformWriter(codes: codes, rate: 100, format: format, scale: scale, chunk: chunk)
        let collector = Collector()
        writer.begin(header)
        for i in 0..<samples {
            if i == gapBefore { writer.flush(to: collector.sink) }
            let late: Int64 = gapBefore.map { i >= $0 } == true ? 5_000_000_000 : 0
            let (x, y, z) = motion(i)
            writer.append(x, y, z, time: start + Int64(i) * 10_000_000 + late, to: collector.sink)
        }
        let waveform = writer.finish(to: collector.sink)
        return (collector.sent.map(\.bytes), waveform)
    }

    /// Samples in counts by channel, with the time of each record's first sample.
    static func read(_ bytes: [UInt8]) throws -> (counts: [String: [Double]], starts: [String: [Int64]], records: Int) {
        var counts: [String: [Double]] = [:]
        var starts: [String: [Int64]] = [:]
        var reader = MiniSEEDReader(bytes)
        var records = 0
        while let record = try reader.next() {
            let channel = record.header.source.channel
            counts[channel, default: []] += record.samples.values
            starts[channel, default: []].append(record.header.start)
            #expect(record.header.rate == 100)
            #expect(record.header.source.network == "XX")
            #expect(record.header.source.station == "BASE")
            #expect(record.header.source.location == "00")
            records += 1
        }
        return (counts, starts, records)
    }

    @Test(arguments: MiniSEEDFormat.allCases)
    func comesBackToHalfACount(_ format: MiniSEEDFormat) throws {
        let (messages, waveform) = try Self.write(format: format)
        #expect(messages.count == 3)
        let (counts, starts, records) = try Self.read(messages.flatMap { $0 })
        #expect(Set(counts.keys) == ["HNE", "HNN", "HNZ"])
        let end = try #require(waveform)
        var worst = 0.0
        for i in 0..<2500 {
            let (x, y, z) = Self.motion(i)
            for (channel, value) in [("HNE", x), ("HNN", y), ("HNZ", z)] {
                let count = try #require(counts[channel]?[i])
                worst = max(worst, abs(count * end.unitPerCount - value))
            }
        }
        #expect(worst <= 0.5 * end.unitPerCount * (1 + 1e-6))
        #expect(counts.values.allSatisfy { $0.count == 2500 })
        #expect(starts["HNE"]?.first == Self.start)
        #expect(end.bytes == messages.map(\.count).reduce(0, +))
        #expect(end.records == records)
        #expect(end.messages == 3)
        #expect(end.topic == Self.header.topic)
        #expect(end.sha256 == SHA256.hexDigest(of: messages.flatMap { $0 }))
    }

    @Test(arguments: MiniSEEDFormat.allCases)
    func comesBackExactlyWhatTheSensorHad(_ format: MiniSEEDFormat) throws {
        let scale = CountScale(resolution: 0.0039 * 9.80665, range: 16 * 9.80665)
        #expect(scale.unitPerCount == 0.0039 * 9.80665)
        let motion = { (i: Int) in
            (Double(i % 400 - 200) * scale.unitPerCount, Double(-i % 7) * scale.unitPerCount, 256 * scale.unitPerCount)
        }
        let (messages, _) = try Self.write(format: format, scale: scale, motion: motion)
        let (counts, _, _) = try Self.read(messages.flatMap { $0 })
        for (axis, channel) in ["HNE", "HNN", "HNZ"].enumerated() {
            let values = try #require(counts[channel]).map { $0 * scale.unitPerCount }
            let expected = (0..<2500).map { i in axis == 0 ? motion(i).0 : axis == 1 ? motion(i).1 : motion(i).2 }
            #expect(values == expected)
        }
    }

    @Test(arguments: MiniSEEDFormat.allCases)
    func samplesAfterAGapHaveTheirOwnTime(_ format: MiniSEEDFormat) throws {
        let (messages, waveform) = try Self.write(format: format, samples: 300, gapBefore: 120)
        #expect(messages.count == 2)
        #expect(waveform?.messages == 2)
        let (counts, starts, _) = try Self.read(messages.flatMap { $0 })
        #expect(starts["HNZ"] == [Self.start, Self.start + 1_200_000_000 + 5_000_000_000])
        #expect(counts["HNZ"]?.count == 300)
    }

    /// Also when nobody said that there is one.
    @Test func aJumpInTimeBeginsNewRecords() throws {
        var writer = try WaveformWriter(codes: Self.codes, rate: 100, format: .v3, scale: CountScale(), chunk: 100)
        let collector = Collector()
        writer.begin(Self.header)
        // A microsecond of jitter is none; half an interval and more is.
        for time: Int64 in [0, 10_001_000, 20_000_000, 36_000_000, 46_000_000] {
            writer.append(1, 2, 3, time: Self.start + time, to: collector.sink)
        }
        #expect(writer.finish(to: collector.sink)?.messages == 2)
        let (_, starts, _) = try Self.read(collector.sent.flatMap(\.bytes))
        #expect(starts["HNE"] == [Self.start, Self.start + 36_000_000])
    }

    @Test func nothingIsSentWithoutSamples() throws {
        let (messages, waveform) = try Self.write(format: .v3, samples: 0)
        #expect(messages.isEmpty)
        #expect(waveform == nil)
    }

    @Test func samplesOutsideAnEventAreIgnored() throws {
        var writer = try WaveformWriter(
            codes: Self.codes, rate: 100, format: .v3, scale: CountScale(), chunk: 1)
        let collector = Collector()
        writer.append(1, 2, 3, time: 0, to: collector.sink)
        #expect(collector.sent.isEmpty)
        #expect(writer.finish(to: collector.sink) == nil)
    }

    /// The next event begins with totals of its own.
    @Test func aWriterIsUsedAgain() throws {
        var writer = try WaveformWriter(
            codes: Self.codes, rate: 100, format: .v3, scale: CountScale(), chunk: 10)
        let collector = Collector()
        var ends: [EventMessage.Waveform?] = []
        for _ in 0..<2 {
            writer.begin(Self.header)
            for i in 0..<25 {
                let (x, y, z) = Self.motion(i)
                writer.append(x, y, z, time: Int64(i) * 10_000_000, to: collector.sink)
            }
            ends.append(writer.finish(to: collector.sink))
        }
        #expect(ends[0] != nil)
        #expect(ends[0] == ends[1])
        #expect(collector.sent.count == 6)
    }

    @Test func theScaleIsInTheExtraHeaders() throws {
        let (messages, _) = try Self.write(format: .v3, samples: 10)
        let text = String(decoding: messages[0], as: UTF8.self)
        #expect(text.contains(#"{"seismote":{"unit":"m/s^2","unit_per_count":1e-06}}"#))
    }

    @Test func codesThatDoNotFitAreAnErrorAtOnce() {
        let long = ChannelCodes(network: "TOOLONG", station: "BASE", location: "00", id: "a")
        #expect(throws: MiniSEEDError.self) {
            try WaveformWriter(codes: long, rate: 100, format: .v2, scale: CountScale(), chunk: 10)
        }
        #expect(throws: MiniSEEDError.self) { try TraceRecords(codes: long, format: .v2) }
        #expect(throws: MiniSEEDError.self) {
            try WaveformWriter(codes: Self.codes, rate: 0, format: .v3, scale: CountScale(), chunk: 10)
        }
    }

    @Test(arguments: [(MiniSEEDFormat.v2, "waveform-v2.mseed"), (.v3, "waveform-v3.mseed")])
    func equalsTheStoredFile(_ format: MiniSEEDFormat, _ file: String) throws {
        let (messages, _) = try Self.write(format: format, samples: 500)
        try GoldenTests.compare(messages.flatMap { $0 }, with: file)
    }
}

@Suite struct CountScaleTests {
    @Test func theUnitIsTheSensorsStep() {
        #expect(CountScale().unitPerCount == 1e-6)
        #expect(CountScale(resolution: 3.9e-3).unitPerCount == 3.9e-3)
        #expect(CountScale(resolution: 0).unitPerCount == 1e-6)
        #expect(CountScale(resolution: .nan, range: .infinity).unitPerCount == 1e-6)
    }

    @Test func theFullScaleAlwaysFits() {
        for (resolution, range) in [(1e-12, 20.0), (1e-9, 1e4), (4e-7, 19.6), (1e-6, 1e5)] {
            let scale = CountScale(resolution: resolution, range: range)
            #expect(range / scale.unitPerCount <= Double(1 << 29))
            #expect(200 / scale.unitPerCount <= Double(1 << 29))
            let doublings = (scale.unitPerCount / resolution)
            #expect(doublings.significand == 1 && doublings >= 1)
        }
    }

    @Test func hostileNumbersSaturate() {
        let scale = CountScale()
        #expect(scale.count(.nan) == 0)
        #expect(scale.count(.infinity) == .max)
        #expect(scale.count(-.infinity) == .min)
        #expect(scale.count(1e300) == .max)
        #expect(scale.count(1.5e-6) == 2)
        #expect(scale.count(-1.4e-6) == -1)
    }
}

@Suite struct ChannelCodesTests {
    @Test(
        arguments: [
            (10_000, "J"), (5000, "J"), (1000, "F"), (500, "C"), (250, "C"), (200, "H"), (100, "H"), (80, "H"),
            (50, "B"),
            (31.25, "B"), (10, "B"), (5, "M"), (1, "L"), (0.1, "V"),
        ] as [(Double, String)])
    func bandsFollowTheRate(_ rate: Double, _ band: String) {
        #expect(ChannelCodes.band(rate: rate) == band)
    }

    @Test(
        arguments: [
            (0, "HNE HNN HNZ"), (4.9, "HNE HNN HNZ"), (-5, "HNE HNN HNZ"), (358, "HNE HNN HNZ"), (6, "HN1 HN2 HNZ"),
            (90, "HN1 HN2 HNZ"), (180, "HN1 HN2 HNZ"),
        ] as [(Double, String)])
    func orientationFollowsTheMounting(_ north: Double, _ expected: String) {
        let codes = ChannelCodes(network: "XX", station: "A", location: "", id: "a", north: north)
        let channels = (0..<3).map { codes.source(.acceleration, axis: $0, rate: 100).channel }
        #expect(channels.joined(separator: " ") == expected)
    }

    @Test(arguments: [("basement-north", "BASEM"), ("pi_3", "PI3"), ("-_", "STA")])
    func aMissingStationCodeComesFromTheID(_ id: String, _ code: String) {
        #expect(ChannelCodes(network: "XX", station: "", location: "00", id: id).station == code)
    }
}

@Suite struct TraceRecordsTests {
    @Test(arguments: MiniSEEDFormat.allCases)
    func oneRecordForEachSignalAndAxis(_ format: MiniSEEDFormat) throws {
        let records = try TraceRecords(codes: WaveformTests.codes, format: format)
        var messenger = Messenger(topics: try Topics(id: "a"), boot: Samples.boot, traces: .records(records))
        let collector = Collector()
        let block = Samples.trace()
        messenger.send(block, time: WaveformTests.start, quality: .replay, to: collector.sink)
        #expect(collector.sent.count == 1)
        let sent = try #require(collector.sent.first)
        #expect(sent.header.contentType == .mseed)
        var reader = MiniSEEDReader(sent.bytes)
        var found: [String: [Double]] = [:]
        while let record = try reader.next() {
            #expect(record.header.rate == 20)
            #expect(record.header.start == WaveformTests.start)
            #expect(found[record.header.source.channel] == nil)
            found[record.header.source.channel] = record.samples.values
        }
        #expect(Set(found.keys) == ["BNE", "BXE", "BYE", "BNN", "BXN", "BYN", "BNZ", "BXZ", "BYZ"])
        #expect(found["BNE"] == [1000, 2000, 3000, 4000])
        #expect(found["BNZ"] == [9_809_650, 9_812_650, 9_815_650, 9_818_650])
        #expect(found["BXN"] == [-2000, -4000, -6000, -8000])
        #expect(found["BYE"] == [125, 250, 375, 500])
    }

    @Test func anEmptyBlockIsNotSent() throws {
        let records = try TraceRecords(codes: WaveformTests.codes, format: .v3)
        var messenger = Messenger(topics: try Topics(id: "a"), boot: Samples.boot, traces: .records(records))
        let collector = Collector()
        messenger.send(
            TraceBlock(capacity: 4, rate: 20), time: 0, quality: .replay, to: collector.sink)
        #expect(collector.sent.isEmpty)
    }

    @Test func equalsTheStoredFile() throws {
        let records = try TraceRecords(codes: WaveformTests.codes, format: .v3)
        var messenger = Messenger(topics: try Topics(id: "a"), boot: Samples.boot, traces: .records(records))
        let collector = Collector()
        messenger.send(Samples.trace(), time: WaveformTests.start, quality: .replay, to: collector.sink)
        try GoldenTests.compare(try #require(collector.sent.first).bytes, with: "trace.mseed")
    }
}
