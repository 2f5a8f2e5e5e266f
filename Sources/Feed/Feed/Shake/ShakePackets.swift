import MiniSEED

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
