import Instruments
import MiniSEED
import SignalProcessing

/// Plays a recording as if it came from a sensor: CSV `t,x,y,z` or miniSEED 2 and 3.
///
/// Blocks come in real time, at a multiple of it, or as fast as they are read; a gap in the recording is marked and
/// takes no time of its own. What a file must look like is said at `CSVRows` and `ChannelSelection`.
public struct ReplaySensor: SensorDriver, Sendable {
    private struct Session: Sendable {
        /// One of the two: optionals rather than an enumeration, so that they are changed in place.
        var csv: CSVRecording?
        var miniSEED: MiniSEEDRecording?
        var total: Int
        /// Nanoseconds that one pass of a loop is later than the one before.
        var period: Int64
        var pacer: Pacer
        /// Samples since the start, over all passes.
        var delivered = 0
        /// Samples of this pass.
        var read = 0
        /// Nanoseconds that this pass is later than the recording.
        var shift: Int64 = 0

        mutating func fill(_ block: inout SampleBlock) throws(SensorError) {
            try csv?.fill(&block)
            try miniSEED?.fill(&block)
        }

        mutating func rewind() {
            csv?.rewind()
            miniSEED?.rewind()
            read = 0
            shift &+= period
        }
    }

    private let settings: ReplaySettings
    private let irregularRate: Double?
    private let isUnitGiven: Bool
    private let clock: any SensorClock
    private var session: Session?

    /// - Parameters:
    ///   - irregularRate: rate in Hz onto which irregular samples of a CSV file are interpolated; nil: their typical rate,
    ///     rounded. Regular files keep their own rate.
    ///   - isUnitGiven: somebody has said `settings.unit`: a header that says another one is an error.
    public init(
        _ settings: ReplaySettings, irregularRate: Double? = nil, isUnitGiven: Bool = false,
        clock: any SensorClock = SystemSensorClock()
    ) {
        self.settings = settings
        self.irregularRate = irregularRate
        self.isUnitGiven = isUnitGiven
        self.clock = clock
    }

    /// Samples delivered and to deliver in one pass of the file; zeros before `open`.
    public var progress: ReplayProgress {
        ReplayProgress(read: session?.read ?? 0, total: session?.total ?? 0)
    }

    /// Samples of a miniSEED file that are there twice, of all three channels; they are delivered once.
    public var duplicates: Int { session?.miniSEED?.duplicates ?? 0 }

    /// Sentences that the user should know of the recording; none before `open`.
    public var notes: [String] { session?.csv?.notes ?? session?.miniSEED?.notes ?? [] }

    public var condition: SensorCondition {
        var condition = SensorCondition()
        condition.notes = notes
        return condition
    }

    /// Time of the recording's first sample in nanoseconds since 1970-01-01; nil before `open`.
    public var start: Int64? { session?.csv?.start ?? session?.miniSEED?.start }

    /// Opens the file and looks through all of it, so that whatever is wrong is known before the first sample.
    public mutating func open() throws(SensorError) -> SensorDescription {
        close()
        guard settings.speed.isFinite, settings.speed >= 0 else {
            throw SensorError(.fault, "replay speed \(settings.speed): allowed are 0 (as fast as possible) and more")
        }
        let file = try RecordingFile(settings.file)
        let (csv, miniSEED): (CSVRecording?, MiniSEEDRecording?)
        let (rate, total, start, end): (Double, Int, Int64, Int64)
        if try Self.isMiniSEED(file) {
            let found = try MiniSEEDRecording(file, settings: settings)
            (rate, total, start, end) = (found.rate, found.total, found.start, found.end)
            (csv, miniSEED) = (nil, found)
        } else {
            let found = try CSVRecording(file, settings, rate: irregularRate, isUnitGiven: isUnitGiven)
            (rate, total, start, end) = (found.rate, found.total, found.start, found.end)
            (csv, miniSEED) = (found, nil)
        }
        let interval = SampleTimeline(start: 0, rate: rate).offset(of: 1)
        session = Session(
            csv: csv, miniSEED: miniSEED, total: total, period: end - start + interval,
            pacer: Pacer(clock: clock, rate: rate, speed: settings.speed))
        let name = settings.file.split(separator: "/").last.map(String.init) ?? settings.file
        return SensorDescription(
            driver: "replay", chip: name, rate: rate, resolution: miniSEED?.resolution, clock: .recording)
    }

    /// The three channels of a miniSEED file, x, y and z; nil for a CSV file, which names none.
    public static func channels(of path: String) throws(SensorError) -> [RecordedChannel]? {
        let file = try RecordingFile(path)
        guard try isMiniSEED(file) else { return nil }
        return try ChannelSelection.choose(RecordIndex(file).channels, file: path).map { channel in
            let ends = channel.records.map {
                SampleTimeline(start: $0.start, rate: channel.rate).time(of: $0.payload.count - 1)
            }
            return RecordedChannel(
                source: channel.source, start: channel.records.first?.start ?? 0, end: ends.max() ?? 0)
        }
    }

    public mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard session != nil else { throw SensorError(.fault, "\(settings.file): the replay is not open") }
        try session?.fill(&block)
        if block.count == 0, settings.loop {
            session?.rewind()
            try session?.fill(&block)
            block.gapBefore = true
        }
        guard block.count > 0, let shift = session?.shift, let delivered = session?.delivered else { return .end }
        if delivered == 0 { block.gapBefore = true }
        block.time &+= shift
        session?.delivered = delivered + block.count
        session?.read += block.count
        session?.pacer.wait(samples: delivered + block.count)
        return .samples
    }

    public mutating func close() { session = nil }

    /// By the first bytes; a name that ends in `.mseed` and the like says so too, for a damaged file's sake.
    /// - Throws: a word on the format where it is another one.
    private static func isMiniSEED(_ file: RecordingFile) throws(SensorError) -> Bool {
        if let foreign = try foreignFormat(file) { throw SensorError(.format, "\(file.path): \(foreign)") }
        for ending in [".mseed", ".miniseed", ".mseed2", ".mseed3", ".ms"] where file.path.hasSuffix(ending) {
            return true
        }
        // (Behind what a power cut has left, too.)
        return try beginning(file) { bytes in
            let zeros = bytes.firstIndex { $0 != 0 } ?? bytes.count
            return MiniSEEDParser.recognises(bytes)
                || zeros > 0 && MiniSEEDParser.recognises(UnsafeRawBufferPointer(rebasing: bytes[zeros...]))
        }
    }

    private static func foreignFormat(_ file: RecordingFile) throws(SensorError) -> String? {
        try beginning(file) { MiniSEEDParser.recognises($0) ? nil : ForeignFormat.sentence($0) }
    }

    /// A judgement of the first bytes of a file.
    private static func beginning<R>(
        _ file: RecordingFile, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(SensorError) -> R {
        var prefix = [UInt8](repeating: 0, count: 4096)
        var failure: SensorError?
        let count = prefix.withUnsafeMutableBytes { bytes -> Int in
            do throws(SensorError) { return try file.read(at: 0, into: bytes) } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return prefix.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[0..<count])) }
    }
}
