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

/// Puts the samples of a station into the datagrams of a Raspberry Shake, which rsudp and programs like it listen to:
/// `{'ENZ', 1582315130.292, 14168, 14927, …}`, the channel, the time of the first sample and a quarter of a second of
/// counts. Reference: the manual of Raspberry Shake, "UDP data cast".
public struct ShakePackets: Sendable {
    /// One channel: what is in no datagram yet.
    private struct Part: Sendable {
        var start: Int64
        var rate: Double
        var samples: [Int32]
    }

    /// Older samples are not for programs that show what happens now, in nanoseconds.
    private static let oldest: Int64 = 60_000_000_000

    private var parts: [String: Part] = [:]

    public init() {}

    /// The channel's name there: `EN` for an accelerometer, and where it points. Nil: a Shake has no such channel.
    static func name(of channel: String) -> String? {
        let letters = Array(channel)
        guard letters.count == 3, letters[1] == "N" else { return nil }
        // A Shake knows no axes whose direction is unknown.
        let direction: [Character: Character] = ["Z": "Z", "N": "N", "E": "E", "1": "N", "2": "E"]
        return direction[letters[2]].map { "EN\($0)" }
    }

    /// - Parameters:
    ///   - block: the next samples of a channel, in order.
    ///   - now: nanoseconds of UTC.
    /// - Returns: the datagrams that are full, each below 1500 bytes.
    public mutating func take(_ block: ChannelBlock, now: Int64) -> [[UInt8]] {
        let channel = block.source.channel
        guard let name = Self.name(of: channel), block.end > now - Self.oldest else { return [] }
        let size = max(1, min(100, Int((block.rate / 4).rounded())))
        var part = parts[channel] ?? Part(start: block.start, rate: block.rate, samples: [])
        let end = SampleTimeline(start: part.start, rate: part.rate).time(of: part.samples.count)
        // After a gap, and with another rate, it begins anew.
        if part.rate != block.rate || abs(Double(block.start - end)) * block.rate > 0.5e9 {
            part = Part(start: block.start, rate: block.rate, samples: [])
        }
        // Each block brings its own time.
        part.start = block.start - SampleTimeline(start: 0, rate: part.rate).offset(of: part.samples.count)
        part.samples += block.samples
        var datagrams: [[UInt8]] = []
        var place = 0
        let timeline = SampleTimeline(start: part.start, rate: part.rate)
        while part.samples.count - place >= size {
            datagrams.append(Self.datagram(name, timeline.time(of: place), part.samples[place..<(place + size)]))
            place += size
        }
        part.samples.removeFirst(place)
        part.start = timeline.time(of: place)
        parts[channel] = part
        return datagrams
    }

    /// Time in seconds with three decimals.
    private static func datagram(_ name: String, _ time: Int64, _ samples: ArraySlice<Int32>) -> [UInt8] {
        let milliseconds = (time + 500_000) / 1_000_000
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        let numbers = samples.map { String($0) }.joined(separator: ", ")
        return Array("{'\(name)', \(milliseconds / 1000).\(fraction), \(numbers)}".utf8)
    }
}
