import Messages
import MiniSEED

/// Packs the samples of one channel into records of 512 bytes, miniSEED 2 with Steim2.
public struct Packetiser: Sendable {
    /// A record, and the time of its first and last sample.
    public struct Made: Sendable, Equatable {
        public var bytes: [UInt8]
        public var start: Int64
        public var end: Int64
    }

    public let source: SourceIdentifier
    public let rate: Double
    private var samples: [Int32] = []
    /// From which sample on times are counted from where: each block brings its own time.
    private var anchors: [(sample: Int, time: Int64)] = []
    /// Samples that the last full record had.
    private var usual = 0
    private var writer: MiniSEEDWriter

    /// - Throws: when the codes or the rate do not fit the format.
    public init(source: SourceIdentifier, rate: Double) throws(MiniSEEDError) {
        (self.source, self.rate) = (source, rate)
        writer = try MiniSEEDWriter(format: .v2, recordLength: 512)
        var trial = writer
        _ = try trial.encode([0], start: 0, rate: rate, source: source)
    }

    /// Samples that are in no record yet, and their time.
    public var waiting: ChannelBlock? {
        guard !samples.isEmpty else { return nil }
        return ChannelBlock(source: source, start: time(of: 0), rate: rate, samples: samples)
    }

    /// Goes on with what a former run had waiting.
    public mutating func restore(_ block: ChannelBlock) {
        anchors.append((samples.count, block.start))
        samples += block.samples
    }

    /// Adds samples that follow those before.
    /// - Parameter seconds: a record is made of what there is when it lasts longer than this.
    /// - Returns: the records that are full.
    public mutating func take(_ block: ChannelBlock, seconds: Double) -> [Made] {
        anchors.append((samples.count, block.start))
        samples += block.samples
        var made: [Made] = []
        while samples.count > max(63, usual * 7 / 8), let one = encode(onlyFull: true) { made.append(one) }
        if Double(samples.count) >= seconds * rate { made += flush() }
        return made
    }

    /// Makes records of all that waits.
    public mutating func flush() -> [Made] {
        var made: [Made] = []
        while !samples.isEmpty, let one = encode(onlyFull: false) { made.append(one) }
        (samples, anchors) = ([], [])
        return made
    }

    private func time(of sample: Int) -> Int64 {
        guard let anchor = anchors.last(where: { $0.sample <= sample }) else { return 0 }
        return SampleTimeline(start: anchor.time, rate: rate).time(of: sample - anchor.sample)
    }

    /// The first record of what waits.
    private mutating func encode(onlyFull: Bool) -> Made? {
        guard let bytes = try? writer.encode(samples, start: time(of: 0), rate: rate, source: source),
            bytes.count >= 512, !onlyFull || bytes.count > 512
        else { return nil }
        let count = Int(bytes[30]) << 8 | Int(bytes[31])
        guard count > 0, count <= samples.count else { return nil }
        let made = Made(bytes: Array(bytes[..<512]), start: time(of: 0), end: time(of: count - 1))
        if onlyFull { usual = count }
        samples.removeFirst(count)
        // The anchor of the sample that is first now comes along.
        let first = anchors.lastIndex { $0.sample <= count } ?? 0
        anchors.removeFirst(first)
        for index in anchors.indices { anchors[index].sample -= count }
        return made
    }
}
