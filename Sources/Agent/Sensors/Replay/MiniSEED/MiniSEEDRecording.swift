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
        let channels = try ChannelSelection.choose(RecordIndex(file).channels, file: file.path)
        // Damaged samples are found before the replay starts, not in the middle of it.
        var reader = RecordReader(file)
        var values: [Double] = []
        for channel in channels {
            for record in channel.records { try reader.samples(of: record, into: &values) }
        }
        tracks = channels.map { ChannelTrack($0) }
        rate = channels[0].rate
        duplicates = tracks.reduce(0) { $0 + $1.duplicates }
        spans = CommonSpan.find(tracks, rate: rate)
        guard let first = spans.first, let last = spans.last else {
            throw SensorError(.format, "\(file.path): the channels x, y and z do not overlap in time")
        }
        total = spans.reduce(0) { $0 + $1.count }
        start = first.start
        end = SampleTimeline(start: last.start, rate: rate).time(of: last.count - 1)
        if let given = settings.scale {
            scale = (given.x, given.y, given.z)
        } else {
            scale = try Self.scale(channels, file: file.path)
        }
        let integers = channels.allSatisfy { $0.records.allSatisfy { $0.payload.holdsIntegers } }
        let (x, y, z) = (abs(scale.x), abs(scale.y), abs(scale.z))
        resolution = integers && x == y && y == z && x > 0 ? x : nil
        timeline = SampleTimeline(start: start, rate: rate)
        (self.x, self.y, self.z) = (ChannelCursor(file), ChannelCursor(file), ChannelCursor(file))
        enter(0)
    }

    /// m/s² of one count of x, y and z, where nobody has said it: what the recording says of its counts, and 1 for
    /// samples that are a quantity. Counts that are taken for m/s² would be an earthquake of thousands of g.
    private static func scale(
        _ channels: [IndexedChannel], file: String
    ) throws(SensorError) -> (x: Double, y: Double, z: Double) {
        var units: [Double] = []
        for channel in channels {
            switch channel.unit {
            case .known(let unit) where channel.holdsIntegers: units.append(unit)
            case _ where !channel.holdsIntegers: units.append(1)
            default:
                throw SensorError(
                    .format,
                    "\(file): the samples of \(channel.source) are counts, and what one of them is in m/s² "
                        + (channel.unit == .mixed ? "differs between records" : "is not known")
                        + ": give m/s² per count, in the settings as sensor.replay.scale, to the tool as --scale "
                        + "or as --stationxml FILE")
            }
        }
        return (units[0], units[1], units[2])
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
            block.gapBefore = true
            block.lostBefore = max(0, Int((Double(spans[span].start - ended) * rate / 1e9).rounded()))
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
