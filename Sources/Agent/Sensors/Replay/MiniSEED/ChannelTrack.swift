import MiniSEED

/// The records of one channel joined to stretches of samples that are evenly apart; what overlaps is taken once.
struct ChannelTrack {
    let records: [IndexedRecord]
    let pieces: [RecordClock.Piece]
    let stretches: [RecordClock.Stretch]
    /// Samples that were there twice.
    let duplicates: Int

    /// - Parameters:
    ///   - channel: records in the order of time.
    ///   - clock: made of these.
    ///   - rate: the common one of all channels, in Hz.
    init(_ channel: IndexedChannel, _ clock: RecordClock, rate: Double) {
        records = channel.records
        (pieces, duplicates) = (clock.pieces, clock.duplicates)
        stretches = clock.stretches(rate: rate)
    }
}

extension IndexedChannel {
    var clock: RecordClock {
        RecordClock(records.map { .init(start: $0.start, count: $0.payload.count) }, rate: rate)
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
    /// Samples of one of them are missing before it; false: a clock is set by a part of a sample.
    var isGap: Bool

    /// All common spans of three tracks, in the order of time.
    static func find(_ tracks: [ChannelTrack], rate: Double) -> [CommonSpan] {
        var spans: [CommonSpan] = []
        var (stretch, used) = ([0, 0, 0], [0, 0, 0])
        var isGap = true
        while (0..<3).allSatisfy({ stretch[$0] < tracks[$0].stretches.count }) {
            let begins = (0..<3).map { axis in
                SampleTimeline(start: tracks[axis].stretches[stretch[axis]].start, rate: rate).time(of: used[axis])
            }
            let start = begins.max() ?? 0
            // Move every channel to the sample nearest to the common start.
            for axis in 0..<3 {
                let whole = tracks[axis].stretches[stretch[axis]]
                let nearest = SampleTimeline(start: whole.start, rate: rate).nearestIndex(to: start)
                if nearest > used[axis] {
                    used[axis] = nearest
                    isGap = true
                }
            }
            let left = (0..<3).map { tracks[$0].stretches[stretch[$0]].count - used[$0] }
            let count = left.min() ?? 0
            if count > 0 {
                spans.append(CommonSpan(start: start, count: count, stretch: stretch, offset: used, isGap: isGap))
                isGap = false
                for axis in 0..<3 { used[axis] += count }
            }
            for axis in 0..<3 where used[axis] >= tracks[axis].stretches[stretch[axis]].count {
                stretch[axis] += 1
                used[axis] = 0
                if stretch[axis] < tracks[axis].stretches.count, tracks[axis].stretches[stretch[axis]].isGap {
                    isGap = true
                }
            }
        }
        return spans
    }
}
