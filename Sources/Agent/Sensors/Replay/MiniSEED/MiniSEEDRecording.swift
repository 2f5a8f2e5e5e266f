import Instruments
import MiniSEED
import SignalProcessing

/// The three channels of a miniSEED file as one series. The samples are decoded record by record while it is played;
/// only the index of the records is kept.
struct MiniSEEDRecording {
    let rate: Double
    let total: Int
    let start: Int64
    let end: Int64
    /// Samples that the file holds twice, of all three channels; they are delivered once.
    let duplicates: Int
    /// Sentences that the user should know of it.
    let notes: [String]
    /// m/s² of one count where all samples are integers and the three scales are the same; nil otherwise. Waveforms are
    /// then published in the very same counts.
    let resolution: Double?

    private let tracks: [ChannelTrack]
    private let spans: [CommonSpan]
    private let scale: (x: Double, y: Double, z: Double)
    private var x: ChannelCursor
    private var y: ChannelCursor
    private var z: ChannelCursor
    private var span = 0
    /// Samples of the span that have been delivered.
    private var used = 0
    private var timeline: SampleTimeline

    init(_ file: RecordingFile, settings: ReplaySettings) throws(SensorError) {
        let index = try RecordIndex(file)
        var channels = try ChannelSelection.choose(index.channels, file: file.path)
        let scale = try ChannelUnit.scale(channels, settings.scale, file: file.path)
        // Damaged samples are found before the replay starts, not in the middle of it.
        var problems = index.problems
        var largest = 0.0
        for (axis, channel) in channels.enumerated() {
            let (good, found) = try Self.decodable(channel, file, &problems)
            channels[axis].records = good
            largest = max(largest, found * abs([scale.x, scale.y, scale.z][axis]))
        }
        let clocks = channels.map(\.clock)
        let header = channels[0].rate
        let rate = RecordClock.rate(clocks, header: header)
        self.rate = rate
        tracks = zip(channels, clocks).map { ChannelTrack($0, $1, rate: rate) }
        duplicates = tracks.reduce(0) { $0 + $1.duplicates }
        spans = CommonSpan.find(tracks, rate: rate)
        guard let first = spans.first, let last = spans.last else {
            throw SensorError(.format, "\(file.path): the channels x, y and z do not overlap in time")
        }
        total = spans.reduce(0) { $0 + $1.count }
        start = first.start
        end = SampleTimeline(start: last.start, rate: rate).time(of: last.count - 1)
        self.scale = scale
        var notes = problems.notes
        if rate != header {
            notes.append(
                "the headers say \(header) Hz, the times of the records \((rate * 1e6).rounded() / 1e6) Hz: "
                    + "the records are followed")
        }
        if settings.scale != nil { notes += ChannelUnit.doubts(channels) }
        self.notes = notes + LargestSample.notes(largest)
        let integers = channels.allSatisfy { $0.records.allSatisfy { $0.payload.holdsIntegers } }
        let (x, y, z) = (abs(scale.x), abs(scale.y), abs(scale.z))
        resolution = integers && x == y && y == z && x > 0 ? x : nil
        timeline = SampleTimeline(start: start, rate: rate)
        (self.x, self.y, self.z) = (ChannelCursor(file), ChannelCursor(file), ChannelCursor(file))
        enter(0)
    }

    /// The records of a channel whose samples can be read, and the largest sample, either way from zero.
    /// - Throws: what is wrong with the first, where none can be read.
    private static func decodable(
        _ channel: IndexedChannel, _ file: RecordingFile, _ problems: inout RecordProblems
    ) throws(SensorError) -> (records: [IndexedRecord], largest: Double) {
        var reader = RecordReader(file)
        var values: [Double] = []
        var good: [IndexedRecord] = []
        var largest = 0.0
        var first: SensorError?
        for record in channel.records {
            do throws(SensorError) { try reader.samples(of: record, into: &values) } catch {
                // (What the file no longer gives is no damaged record.)
                guard error.code == .format else { throw error }
                first = first ?? error
                problems.add(error.message, prefix: file.path)
                continue
            }
            for value in values { largest = max(largest, abs(value)) }
            good.append(record)
        }
        if good.isEmpty, let first { throw first }
        return (good, largest)
    }

    mutating func rewind() { enter(0) }

    private mutating func enter(_ next: Int) {
        span = next
        used = 0
        guard next < spans.count else { return }
        timeline = SampleTimeline(start: spans[next].start, rate: rate)
        x.seek(tracks[0], stretch: spans[next].stretch[0], sample: spans[next].offset[0])
        y.seek(tracks[1], stretch: spans[next].stretch[1], sample: spans[next].offset[1])
        z.seek(tracks[2], stretch: spans[next].stretch[2], sample: spans[next].offset[2])
    }

    /// As `CSVRecording.fill`.
    mutating func fill(_ block: inout SampleBlock) throws(SensorError) {
        guard span < spans.count else { return }
        if used == spans[span].count {
            let ended = timeline.time(of: used)
            enter(span + 1)
            guard span < spans.count else { return }
            if spans[span].isGap {
                block.gapBefore = true
                block.lostBefore = max(0, Int((Double(spans[span].start - ended) * rate / 1e9).rounded()))
            }
        }
        block.time = timeline.time(of: used)
        while block.count < block.capacity, used < spans[span].count {
            try x.load(tracks[0])
            try y.load(tracks[1])
            try z.load(tracks[2])
            let room = min(block.capacity - block.count, spans[span].count - used)
            let count = min(room, x.available, y.available, z.available)
            guard count > 0 else { return }
            let from = block.count
            let (factor, x, y, z) = (scale, self.x, self.y, self.z)
            block.withPlanes(count: from + count) { px, py, pz, _ in
                x.copy(count, times: factor.x, to: px + from)
                y.copy(count, times: factor.y, to: py + from)
                z.copy(count, times: factor.z, to: pz + from)
            }
            self.x.advance(count)
            self.y.advance(count)
            self.z.advance(count)
            used += count
        }
    }
}

/// A place in one channel, with the decoded record around it.
struct ChannelCursor {
    private var reader: RecordReader
    private var values: [Double] = []
    /// The piece that comes next when the loaded one is used up, and where the stretch's pieces end.
    private var piece = 0
    private var pieceEnd = 0
    /// Samples to pass over in the next piece.
    private var skip = 0
    private var position = 0

    init(_ file: RecordingFile) {
        reader = RecordReader(file)
    }

    /// Samples that are decoded and not used yet.
    var available: Int { values.count - position }

    mutating func seek(_ track: ChannelTrack, stretch: Int, sample: Int) {
        let pieces = track.stretches[stretch].pieces
        (piece, pieceEnd, skip) = (pieces.lowerBound, pieces.upperBound, sample)
        while piece < pieceEnd, skip >= track.pieces[piece].count {
            skip -= track.pieces[piece].count
            piece += 1
        }
        values.removeAll(keepingCapacity: true)
        position = 0
    }

    /// Decodes the next record when the last one is used up.
    mutating func load(_ track: ChannelTrack) throws(SensorError) {
        guard available == 0, piece < pieceEnd else { return }
        let next = track.pieces[piece]
        try reader.samples(of: track.records[next.record], into: &values)
        position = next.skip + skip
        skip = 0
        piece += 1
    }

    func copy(_ count: Int, times factor: Double, to plane: UnsafeMutablePointer<Double>) {
        for index in 0..<count { plane[index] = values[position + index] * factor }
    }

    mutating func advance(_ count: Int) { position += count }
}

extension MiniSEEDPayload {
    /// Whether the samples are counts of a digitizer.
    var holdsIntegers: Bool {
        switch MiniSEEDEncoding(rawValue: encodingCode) {
        case .int16, .int32, .steim1, .steim2: true
        case .float32, .float64, nil: false
        }
    }
}
