import MiniSEED

/// Samples of one channel that follow each other, in counts of 1 µm/s².
public struct ChannelBlock: Sendable, Equatable {
    public var source: SourceIdentifier
    /// Time of the first sample, nanoseconds of UTC.
    public var start: Int64
    /// Samples per second.
    public var rate: Double
    public var samples: [Int32]

    public init(source: SourceIdentifier, start: Int64, rate: Double, samples: [Int32]) {
        (self.source, self.start, self.rate, self.samples) = (source, start, rate, samples)
    }

    /// Time of the sample behind the last.
    public var end: Int64 { SampleTimeline(start: start, rate: rate).time(of: samples.count) }
}

/// Brings what comes of one channel, in whatever order and however often, into the order of time: every sample once, and
/// what is missing is said.
public struct ChannelFlow: Sendable {
    /// Consequence of a block.
    public enum Step: Sendable, Equatable {
        /// The next samples, in order.
        case block(ChannelBlock)
        /// There are no samples from here to there; so many of them.
        case missing(from: Int64, to: Int64, count: Int)
        /// Samples of a time that was given up before: they have come too late for the order.
        case late(ChannelBlock)
        /// The order goes on at an earlier time: what came before was of a clock that was ahead.
        case back(to: Int64)
    }

    /// Samples of later time that wait at most, in seconds of them.
    static let mostWaiting = 600.0
    private static let (mostBlocks, mostSamples) = (4096, 2_000_000)
    private static let mostHoles = 64
    /// A time that is so far ahead of the feed's clock (ns) is doubted: that of a message on its way is not.
    private static let doubtful: Int64 = 2_000_000_000
    /// So many seconds of samples that follow each other, in two blocks at least, show that a clock is right again.
    private static let secondsToReturn = 2.0

    /// Time of the sample that comes next; nil before the first.
    public private(set) var next: Int64?
    private var pending: [ChannelBlock] = []
    private var pendingSamples = 0
    /// Monotonic seconds at which what is missing is given up.
    private var deadline = 0.0
    private var holes: [ClosedRange<Int64>] = []
    /// Time of the first sample of all; nil before it, and of a former run.
    private var first: Int64?
    /// Monotonic seconds at which something came in its order.
    private var inOrder = -Double.infinity
    /// Blocks of the present that have come while the order had been led into the future, one behind the other.
    private var returning: [ChannelBlock] = []
    /// Samples that came more than once.
    public private(set) var duplicates = 0

    /// - Parameter next: to go on with a former run.
    public init(next: Int64? = nil) { self.next = next }

    /// Range that is missing now and may still come; nil: nothing is.
    public var hole: (from: Int64, to: Int64)? {
        guard let next, let first = pending.first else { return nil }
        return (next, first.start)
    }

    /// - Parameters:
    ///   - now: monotonic seconds.
    ///   - patience: seconds that a hole may last after the last block that was to the purpose.
    ///   - isHistory: it was sent late: while such blocks come, others may.
    ///   - clock: nanoseconds of UTC, by the feed's clock; nil: it has none. With it, samples of a clock that is ahead do not
    ///     hold back what is right.
    public mutating func take(
        _ block: ChannelBlock, now: Double, patience: Double, isHistory: Bool = false, clock: Int64? = nil
    ) -> [Step] {
        var steps: [Step] = []
        guard !block.samples.isEmpty, SampleTimeline.rates.contains(block.rate) else { return [] }
        if !isHistory, returns(block, clock, &steps) { return steps }
        // (What lies beside the hole is no sign that more will come.)
        if isHistory, let hole, block.start < hole.to, block.end > hole.from {
            let half = Int64(0.5e9 / block.rate)
            if block.start < hole.to - half, block.end > hole.from + half { deadline = now + patience }
        }
        append(block, &steps)
        drain(&steps)
        if steps.contains(where: { if case .block = $0 { true } else { false } }) { inOrder = now }
        if let first = pending.first, let last = pending.last {
            if deadline == 0 { deadline = now + patience }
            let isTooLong = Double(last.end - first.start) / 1e9 > Self.mostWaiting
            if isTooLong || pending.count > Self.mostBlocks || pendingSamples > Self.mostSamples {
                giveUp(&steps, now, patience, clock)
            }
        }
        return steps
    }

    /// Whether a block is of the present, while the order is ahead of the feed's clock and nothing is known of the block's time.
    /// Where enough of them follow each other, the order goes back to them.
    private mutating func returns(_ block: ChannelBlock, _ clock: Int64?, _ steps: inout [Step]) -> Bool {
        let isReturn =
            if let clock, let next {
                next > clock + Self.doubtful && block.end <= next && block.end <= clock + Self.doubtful
                    && isUnknown(block)
            } else { false }
        if let last = returning.last, !isReturn || !isNear(block.start, last.end, block.rate) {
            for one in returning { takeLate(one, known: one.samples.count, &steps) }
            returning = []
        }
        guard isReturn else { return false }
        returning.append(block)
        guard let begin = returning.first?.start, returning.count > 1,
            Double(block.end - begin) / 1e9 >= Self.secondsToReturn
        else { return true }
        steps.append(.back(to: begin))
        steps += pending.map { .late($0) } + returning.map { .block($0) }
        holes = holes.compactMap { $0.lowerBound >= begin ? nil : $0.lowerBound...min($0.upperBound, begin) }
        (pending, pendingSamples, deadline, returning) = ([], 0, 0, [])
        first = first.map { min($0, begin) }
        next = block.end
        return true
    }

    /// Whether no sample of a block's time has come: it lies in a hole, or before all of them.
    private func isUnknown(_ block: ChannelBlock) -> Bool {
        let half = Int64(0.5e9 / block.rate)
        if let first, block.end <= first + half { return true }
        return holes.contains { $0.lowerBound - half <= block.start && block.end <= $0.upperBound + half }
    }

    /// Gives up what has been waited for long enough.
    public mutating func tick(now: Double, patience: Double, clock: Int64? = nil) -> [Step] {
        var steps: [Step] = []
        if !pending.isEmpty, now >= deadline { giveUp(&steps, now, patience, clock) }
        return steps
    }

    /// Gives up the missing samples: no more of them will come.
    mutating func expectNoMore(now: Double) { if !pending.isEmpty { deadline = min(deadline, now) } }

    private mutating func giveUp(_ steps: inout [Step], _ now: Double, _ patience: Double, _ clock: Int64?) {
        guard let next, let first = pending.first else { return }
        // Of a clock that was ahead, while what is right goes on: nothing is missing.
        if let clock, first.start > clock + Self.doubtful, now - inOrder < max(patience, 2) {
            steps += pending.map { .late($0) }
            (pending, pendingSamples, deadline) = ([], 0, 0)
            return
        }
        let count = Int((Double(first.start - next) * first.rate / 1e9).rounded())
        steps.append(.missing(from: next, to: first.start, count: max(1, count)))
        holes.append(next...first.start)
        if holes.count > Self.mostHoles { holes.removeFirst() }
        self.next = first.start
        deadline = now + patience
        drain(&steps)
    }

    /// The block that waits and now follows.
    private mutating func drain(_ steps: inout [Step]) {
        while let first = pending.first, let next, isNear(first.start, next, first.rate) || first.start < next {
            pendingSamples -= pending.removeFirst().samples.count
            append(first, &steps)
        }
        if pending.isEmpty { deadline = 0 }
    }

    private func isNear(_ a: Int64, _ b: Int64, _ rate: Double) -> Bool { abs(Double(a - b)) * rate / 1e9 <= 0.5 }

    private mutating func append(_ block: ChannelBlock, _ steps: inout [Step]) {
        var block = block
        guard let next else {
            (self.next, first) = (block.end, block.start)
            return steps.append(.block(block))
        }
        if isNear(block.start, next, block.rate) {
            self.next = block.end
            return steps.append(.block(block))
        }
        if block.start > next { return wait(block) }
        // It begins before: what is known of it goes.
        let known = Int((Double(next - block.start) * block.rate / 1e9).rounded())
        takeLate(block, known: min(known, block.samples.count), &steps)
        guard known < block.samples.count else { return }
        block.start = SampleTimeline(start: block.start, rate: block.rate).time(of: known)
        block.samples.removeFirst(known)
        self.next = block.end
        steps.append(.block(block))
    }

    /// Takes samples before the present: those of a hole are late, the others have come twice.
    private mutating func takeLate(_ block: ChannelBlock, known: Int, _ steps: inout [Step]) {
        let timeline = SampleTimeline(start: block.start, rate: block.rate)
        let half = Int64(0.5e9 / block.rate)
        var rest = known
        for (index, hole) in holes.enumerated().reversed() {
            let first = max(0, timeline.nearestIndex(to: hole.lowerBound))
            let behind = min(known, timeline.nearestIndex(to: hole.upperBound))
            guard first < behind, timeline.time(of: first) >= hole.lowerBound - half else { continue }
            steps.append(
                .late(
                    ChannelBlock(
                        source: block.source, start: timeline.time(of: first), rate: block.rate,
                        samples: Array(block.samples[first..<behind]))))
            rest -= behind - first
            // What is left of the hole, before and behind.
            holes.remove(at: index)
            let (from, to) = (timeline.time(of: first), timeline.time(of: behind))
            if hole.upperBound - to > half { holes.insert(to...hole.upperBound, at: index) }
            if from - hole.lowerBound > half { holes.insert(hole.lowerBound...from, at: index) }
        }
        duplicates += max(0, rest)
    }

    private mutating func wait(_ block: ChannelBlock) {
        let place = pending.firstIndex { $0.start >= block.start } ?? pending.count
        if place < pending.count, isNear(pending[place].start, block.start, block.rate),
            pending[place].samples.count >= block.samples.count
        {
            duplicates += block.samples.count
            return
        }
        pending.insert(block, at: place)
        pendingSamples += block.samples.count
    }
}

/// Parts of a time that are in none of the records of a channel.
enum Coverage {
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
    static func united(_ ranges: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
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
