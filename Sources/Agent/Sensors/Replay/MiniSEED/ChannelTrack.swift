import MiniSEED

/// The records of one channel joined to stretches without a gap; what overlaps is taken once.
struct ChannelTrack {
    /// Samples of one record that are used.
    struct Piece {
        /// Index into the channel's records.
        var record: Int
        /// Samples at its start that came before already.
        var skip: Int
        var count: Int
    }

    struct Stretch {
        /// Time of the first sample in nanoseconds.
        var start: Int64
        /// Indexes into `pieces`.
        var pieces: Range<Int>
        /// Samples.
        var count: Int
    }

    let records: [IndexedRecord]
    private(set) var pieces: [Piece] = []
    private(set) var stretches: [Stretch] = []
    /// Samples that were there twice.
    private(set) var duplicates = 0

    /// - Parameter channel: records in the order of time.
    init(_ channel: IndexedChannel) {
        records = channel.records
        let half = 0.5e9 / channel.rate
        // Where the next sample belongs, judged from the last record's own time, so that a clock that is a little
        // fast or slow does not tear the series.
        var expected: Int64?
        for (index, record) in records.enumerated() {
            let timeline = SampleTimeline(start: record.start, rate: channel.rate)
            let end = timeline.time(of: record.payload.count)
            let late = expected.map { Double(record.start - $0) } ?? .infinity
            if late > half {
                stretches.append(Stretch(start: record.start, pieces: pieces.count..<pieces.count, count: 0))
            }
            let skip = late < -half ? min(record.payload.count, max(0, Int((-late * channel.rate / 1e9).rounded()))) : 0
            duplicates += skip
            guard skip < record.payload.count else { continue }
            pieces.append(Piece(record: index, skip: skip, count: record.payload.count - skip))
            let last = stretches.count - 1
            stretches[last].pieces = stretches[last].pieces.lowerBound..<pieces.count
            stretches[last].count += record.payload.count - skip
            expected = end
        }
    }
}

/// A stretch of time in which all three channels have samples.
struct CommonSpan {
    /// Time of the first sample in nanoseconds.
    var start: Int64
    var count: Int
    /// For x, y, z: index of the channel's stretch, and the sample in it.
    var stretch: [Int]
    var offset: [Int]

    /// All common spans of three tracks, in the order of time.
    static func find(_ tracks: [ChannelTrack], rate: Double) -> [CommonSpan] {
        var spans: [CommonSpan] = []
        var (stretch, used) = ([0, 0, 0], [0, 0, 0])
        while (0..<3).allSatisfy({ stretch[$0] < tracks[$0].stretches.count }) {
            let begins = (0..<3).map { axis in
                SampleTimeline(start: tracks[axis].stretches[stretch[axis]].start, rate: rate).time(of: used[axis])
            }
            let start = begins.max() ?? 0
            // Move every channel to the sample nearest to the common start.
            for axis in 0..<3 {
                let whole = tracks[axis].stretches[stretch[axis]]
                let nearest = SampleTimeline(start: whole.start, rate: rate).nearestIndex(to: start)
                used[axis] = max(used[axis], nearest)
            }
            let left = (0..<3).map { tracks[$0].stretches[stretch[$0]].count - used[$0] }
            let count = left.min() ?? 0
            if count > 0 {
                spans.append(CommonSpan(start: start, count: count, stretch: stretch, offset: used))
                for axis in 0..<3 { used[axis] += count }
            }
            for axis in 0..<3 where used[axis] >= tracks[axis].stretches[stretch[axis]].count {
                stretch[axis] += 1
                used[axis] = 0
            }
        }
        return spans
    }
}
