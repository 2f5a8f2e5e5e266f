import MiniSEED

/// Parts of a time that are in none of the records of a channel.
public enum Coverage {
    /// - Parameters:
    ///   - range: times of samples, nanoseconds of UTC.
    ///   - records: times of the first and the last sample of each, in the order of their begin.
    ///   - rate: samples per second.
    /// - Returns: where a sample at least is missing, in order; the ends are times that a missing sample may have.
    public static func gaps(
        _ range: ClosedRange<Int64>, records: [(start: Int64, end: Int64)], rate: Double
    ) -> [ClosedRange<Int64>] {
        let step = Int64((1e9 / rate).rounded())
        let half = step / 2
        var gaps: [ClosedRange<Int64>] = []
        var next = range.lowerBound
        for record in records where record.end >= range.lowerBound && record.start <= range.upperBound {
            if record.start - next > half, record.start - half - 1 >= next {
                gaps.append(next...(record.start - half - 1))
            }
            next = max(next, record.end + half + 1)
        }
        if range.upperBound >= next { gaps.append(next...range.upperBound) }
        return gaps
    }

    /// Segments without a gap, cut to a time.
    /// - Parameters:
    ///   - range: times of samples, nanoseconds of UTC.
    ///   - records: times of the first and the last sample of each, in the order of their begin.
    ///   - rate: samples per second.
    public static func segments(
        _ range: ClosedRange<Int64>, records: [(start: Int64, end: Int64)], rate: Double
    ) -> [ClosedRange<Int64>] {
        let most = Int64((1.5e9 / rate).rounded())
        var segments: [ClosedRange<Int64>] = []
        for record in records where record.end >= range.lowerBound && record.start <= range.upperBound {
            let (start, end) = (max(record.start, range.lowerBound), min(record.end, range.upperBound))
            if let last = segments.last, start - last.upperBound <= most {
                segments[segments.count - 1] = last.lowerBound...max(last.upperBound, end)
            } else {
                segments.append(start...end)
            }
        }
        return segments
    }

    /// Union of the ranges; those that are a second from each other are one.
    public static func united(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
        var united: [ClosedRange<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = united.last, range.lowerBound - last.upperBound <= 1_000_000_000 {
                united[united.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                united.append(range)
            }
        }
        return united
    }

    /// The newest of them, as much as lasts no longer than a time together: the oldest of these may be cut.
    /// - Parameters:
    ///   - ranges: in the order of time, none overlaps another.
    ///   - most: nanoseconds.
    /// - Returns: the newest first.
    public static func newest(_ ranges: [ClosedRange<Int64>], lasting most: Int64) -> [ClosedRange<Int64>] {
        var (newest, left): ([ClosedRange<Int64>], Int64) = ([], most)
        for range in ranges.reversed() where left > 0 {
            let part = max(range.lowerBound, range.upperBound - left)...range.upperBound
            newest.append(part)
            left -= part.upperBound - part.lowerBound
        }
        return newest
    }
}

extension ChannelBlock {
    /// - Returns: the samples whose times are in the range; nil: none is.
    public func cut(_ range: ClosedRange<Int64>) -> ChannelBlock? {
        let timeline = SampleTimeline(start: start, rate: rate)
        let step = 1e9 / rate
        var first = max(0, Int((Double(range.lowerBound - start) / step).rounded(.down)))
        while first < samples.count, timeline.time(of: first) < range.lowerBound { first += 1 }
        var last = min(samples.count - 1, max(-1, Int((Double(range.upperBound - start) / step).rounded(.up))))
        while last >= first, timeline.time(of: last) > range.upperBound { last -= 1 }
        guard first <= last else { return nil }
        return ChannelBlock(
            source: source, start: timeline.time(of: first), rate: rate, samples: Array(samples[first...last]))
    }
}
