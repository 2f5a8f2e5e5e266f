import MiniSEED
import SignalProcessing

/// The three channels of a file that are x, y and z, by the orientation in their names.
enum ChannelSelection {
    /// An axis and its orientation codes: east, north or up, or numbered.
    private struct Axis {
        let name: String
        let direction: String
        let number: String

        static let all = [
            Axis(name: "x", direction: "E", number: "1"), Axis(name: "y", direction: "N", number: "2"),
            Axis(name: "z", direction: "Z", number: "3"),
        ]

        func fits(_ channel: IndexedChannel) -> Bool {
            channel.source.subsource == direction || channel.source.subsource == number
        }
    }

    /// x, y, z.
    static func choose(_ channels: [IndexedChannel], file: String) throws(SensorError) -> [IndexedChannel] {
        var chosen: [IndexedChannel] = []
        for axis in Axis.all {
            let fitting = channels.filter(axis.fits)
            guard let channel = fitting.first else {
                throw SensorError(
                    .format,
                    "\(file): no channel for \(axis.name) (orientation \(axis.direction) or \(axis.number)); "
                        + "the file holds \(list(channels))")
            }
            guard fitting.count == 1 else {
                throw SensorError(
                    .format,
                    "\(file): several channels for \(axis.name): \(list(fitting)); "
                        + "a replay needs a file with one channel for each of x, y and z")
            }
            chosen.append(channel)
        }
        try check(chosen, file: file)
        return chosen
    }

    /// All of one station and location, and of one rate.
    /// (A loop over the elements and not over 1..<3: that one the optimiser of Swift 6.0.3 unrolls and dies of.)
    private static func check(_ chosen: [IndexedChannel], file: String) throws(SensorError) {
        guard let first = chosen.first else { return }
        for (axis, other) in zip(Axis.all, chosen) {
            let (a, b) = (first.source, other.source)
            guard a.network == b.network, a.station == b.station, a.location == b.location else {
                throw SensorError(
                    .format, "\(file): x, y and z are not of one station and location: \(list(chosen))")
            }
            guard abs(other.rate / first.rate - 1) < 1e-3 else {
                throw SensorError(
                    .format,
                    "\(file): the channels have different rates: x \(first.rate) Hz, \(axis.name) \(other.rate) Hz")
            }
        }
    }

    private static func list(_ channels: [IndexedChannel]) -> String {
        if channels.isEmpty { return "no time series" }
        let names = channels.prefix(12).map { $0.source.description }.joined(separator: ", ")
        return channels.count > 12 ? "\(names) and \(channels.count - 12) more" : names
    }
}

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

/// The quantity of a channel's samples, as far as its name and its records tell.
enum ChannelUnit {
    /// Meanings of instrument codes (the second letter of a channel), by the FDSN source identifiers and the SEED
    /// manual, appendix A: those that are no acceleration.
    private static let instruments: [String: String] = [
        "H": "a high-gain seismometer, which measures velocity", "L": "a low-gain seismometer, which measures velocity",
        "P": "a geophone, which measures velocity", "M": "the position of a seismometer's mass",
        "A": "a tilt meter", "B": "a creep meter", "C": "a calibration input", "D": "a pressure sensor",
        "E": "an electronic test point", "F": "a magnetometer", "I": "a humidity sensor", "J": "a rotational sensor",
        "K": "a temperature sensor", "O": "a water current", "Q": "an electric potential", "R": "rainfall",
        "S": "a strain meter", "T": "a tide meter", "U": "a bolometer", "V": "a volumetric strain meter", "W": "wind",
    ]

    /// m/s² of one sample of x, y and z: what is given, what the recording says of its counts, and 1 for samples that are
    /// a quantity. Counts that are taken for m/s² would be an earthquake of thousands of g, and a velocity is none.
    static func scale(
        _ channels: [IndexedChannel], _ given: PerAxis<Double>?, file: String
    ) throws(SensorError) -> (x: Double, y: Double, z: Double) {
        if let given { return (given.x, given.y, given.z) }
        var units: [Double] = []
        for channel in channels {
            if case .known(let unit) = channel.unit, channel.holdsIntegers {
                units.append(unit)
                continue
            }
            if let meaning = instruments[channel.source.source] {
                throw SensorError(
                    .format,
                    "\(file): \(channel.source) is by its code \(channel.source.source) \(meaning), and no acceleration: "
                        + "take the channels of an accelerometer (code N), or " + remedy)
            }
            guard !channel.holdsIntegers else {
                throw SensorError(
                    .format,
                    "\(file): the samples of \(channel.source) are counts, and what one of them is in m/s² "
                        + (channel.unit == .mixed ? "differs between records" : "is not known") + ": " + remedy)
            }
            units.append(1)
        }
        return (units[0], units[1], units[2])
    }

    private static let remedy =
        "give m/s² per count, in the settings as sensor.replay.scale, to the tool as --scale or as --stationxml FILE"

    /// Sentences on channels that are no acceleration by their code, where somebody has given a scale.
    static func doubts(_ channels: [IndexedChannel]) -> [String] {
        channels.compactMap { channel in
            instruments[channel.source.source].map {
                "\(channel.source) is by its code \(channel.source.source) \($0): the scale is taken as m/s² of one count"
            }
        }
    }
}
