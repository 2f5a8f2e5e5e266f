import Messages
import MiniSEED
import Settings
import SignalProcessing
import Testing
import Values

@testable import Station

/// The waveform messages of an event hold the very samples that went in.
@Suite struct WaveformTests {
    static let rate = 100.0
    static let start: Int64 = 1_767_608_430_000_000_000
    static let step = 1e-5

    /// 20 s of quiet, 5 s of a strong 4 Hz shake, 40 s of quiet; integers times `step`.
    static func sample(_ i: Int) -> (x: Double, y: Double, z: Double) {
        var state = (UInt64(i) &+ 1) &* 0x9e37_79b9_7f4a_7c15
        state = (state ^ (state >> 31)) &* 0x94d0_49bb_1331_11eb
        let noise = Double(Int(state >> 56) - 128)
        let shake = (2000..<2500).contains(i) ? Double(((i % 25) < 12 ? 1 : -1) * 40_000) : 0
        return ((noise + shake) * step, (-noise + shake) * step, (980_665 + noise) * step)
    }

    /// Runs the samples; before sample `gap` ten seconds are missing.
    static func run(
        _ configuration: Configuration, blockSize: Int, gap: Int? = nil
    ) throws -> [(PublicationHeader, [UInt8])] {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: rate, range: 20, resolution: step), boot: "b")
        var sent: [(PublicationHeader, [UInt8])] = []
        let sink: PublicationSink = { sent.append(($0, Array($1))) }
        var block = SampleBlock(capacity: blockSize)
        func time(_ i: Int) -> Int64 {
            start + Int64(i) * 10_000_000 + (gap.map { i >= $0 } == true ? 10_000_000_000 : 0)
        }
        block.gapBefore = true
        block.time = time(0)
        for i in 0..<6500 {
            if i == gap || block.count == blockSize {
                pipeline.process(block, quality: .replay, to: sink)
                block.removeAll()
                block.gapBefore = i == gap
                block.lostBefore = i == gap ? 1000 : 0
                block.time = time(i)
            }
            let (x, y, z) = sample(i)
            block.append(x, y, z)
        }
        pipeline.process(block, quality: .replay, to: sink)
        pipeline.finish(to: sink)
        return sent
    }

    static func configuration(_ encoding: WaveformConfiguration.Encoding) -> Configuration {
        var configuration = Configuration()
        configuration.station.id = "a"
        configuration.waveform.encoding = encoding
        configuration.trace.enabled = false
        return configuration
    }

    /// Checks every sample against the input by its time.
    static func samples(_ sent: [(PublicationHeader, [UInt8])], gap: Int? = nil) throws -> [String: [Int]] {
        var found: [String: [Int]] = [:]
        for (header, bytes) in sent where header.contentType == .mseed {
            var reader = MiniSEEDReader(bytes)
            while let record = try reader.next() {
                let source = record.header.source
                var first = Int((record.header.start - start) / 10_000_000)
                if let gap, first >= gap { first -= 1000 }
                let expected = (first..<first + record.samples.count).map { i in
                    let (x, y, z) = sample(i)
                    return source.subsource == "E" ? x : source.subsource == "N" ? y : z
                }
                #expect(record.samples.values.map { $0 * step } == expected)
                found[source.channel, default: []] += (first..<first + record.samples.count)
            }
        }
        return found
    }

    @Test(arguments: WaveformConfiguration.Encoding.allCases)
    func equalsTheSamples(_ encoding: WaveformConfiguration.Encoding) throws {
        let sent = try Self.run(Self.configuration(encoding), blockSize: 16)
        let found = try Self.samples(sent)
        #expect(Set(found.keys) == ["HNE", "HNN", "HNZ"])
        let numbers = try #require(found["HNE"])
        #expect(found["HNN"] == numbers && found["HNZ"] == numbers)
        // Ten seconds before the onset, in one unbroken run, to 15 s after the shaking.
        let first = try #require(numbers.first)
        let last = try #require(numbers.last)
        #expect(numbers == Array(first...last))
        #expect((1000...1030).contains(first))
        #expect((4000...4150).contains(last))
        let end = try #require(sent.last { $0.0.topic == "seismote/a/event/last" })
        let waveforms = sent.filter { $0.0.contentType == .mseed }
        let text = String(decoding: end.1, as: UTF8.self)
        let bytes = waveforms.flatMap(\.1)
        #expect(waveforms.count == 4)
        #expect(
            text.contains(
                "\"bytes\":\(bytes.count),\"records\":")
                && text.contains("\"sha256\":\"\(SHA256.hexDigest(of: bytes))\""))
    }

    @Test(arguments: [1, 7, 100, 1000])
    func isTheSameForAnySizeOfBlock(_ size: Int) throws {
        let configuration = Self.configuration(.mseed3)
        let reference = try Self.run(configuration, blockSize: 16).map { "\($0.0)\($0.1)" }
        #expect(try Self.run(configuration, blockSize: size).map { "\($0.0)\($0.1)" } == reference)
    }

    @Test func aGapInTheEventIsAGapInTheRecords() throws {
        let sent = try Self.run(Self.configuration(.mseed3), blockSize: 16, gap: 2300)
        let found = try Self.samples(sent, gap: 2300)
        let numbers = try #require(found["HNZ"])
        #expect(numbers.contains(2299) && numbers.contains(2300))
        let (first, last) = (try #require(numbers.first), try #require(numbers.last))
        #expect(numbers == Array(first...last))
    }

    @Test func noneIsSentWhenNotWanted() throws {
        var configuration = Self.configuration(.mseed3)
        configuration.waveform.enabled = false
        let sent = try Self.run(configuration, blockSize: 16)
        #expect(sent.contains { $0.0.topic == "seismote/a/event/last" })
        #expect(!sent.contains { $0.0.contentType == .mseed })
    }

    @Test func codesThatDoNotFitNameTheSetting() {
        var configuration = Self.configuration(.mseed2)
        configuration.station.network = "TOOLONG"
        #expect(throws: StationError.self) { try Self.run(configuration, blockSize: 16) }
    }
}
