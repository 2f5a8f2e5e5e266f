import Messages
import Settings
import Vibration

/// Natural modes of the structure, period by period, from the motion that the pipeline hands out. Pure; it takes
/// milliseconds every 20 s and tenths of a second once in a period, and is no matter of the thread that samples.
public struct ModesTracker: Sendable {
    private let top: Double
    /// Nanoseconds.
    private let period: Int64
    private var messenger: Messenger
    private var analysis: ModeAnalysis?
    private var spectra: CrossSpectra?
    private var rate = 0.0
    /// Number of the period under way; nil: there is none.
    private var number: Int64?
    private var message = ModesMessage()
    private var last: MotionBlock?
    private var followed = FollowedModes()

    /// - Parameter boot: UUID of this run.
    public init(_ vibration: VibrationConfiguration, topics: Topics, boot: String) {
        top = vibration.modesTop
        period = Int64(vibration.modesPeriod) * 1_000_000_000
        messenger = Messenger(topics: topics, boot: boot)
    }

    /// Goes on with the numbers of messages and of modes of another one.
    public mutating func takeOver(_ old: ModesTracker) {
        messenger.takeOver(old.messenger)
        followed = old.followed
    }

    /// Knows again the modes of an earlier run.
    public mutating func goOn(from past: FollowedModes) { followed = past }

    /// Takes the next piece of motion. With the first one of another period the modes of the one before are sent.
    /// - Parameter temperature: of the sensor's chip now, °C; nil: not known.
    public mutating func take(
        _ block: MotionBlock, temperature: Double?, quality: TimeQuality, to sink: PublicationSink
    ) {
        let place = Self.floor(block.start, period)
        if place != number || block.rate != rate {
            finish(quality: quality, to: sink)
            number = place
            message = ModesMessage()
            message.start = block.start
            if block.rate != rate || spectra == nil {
                rate = block.rate
                let analysis = ModeAnalysis(rate: rate, top: top)
                (self.analysis, spectra) = (analysis, analysis.spectra)
            } else {
                spectra?.restart()
            }
        }
        if !block.continues { spectra?.interrupt() }
        spectra?.add(block.motion)
        message.seconds += Double(block.count) / block.rate
        if let temperature { message.temperature = temperature }
        last = block
    }

    /// Sends the modes of the period under way, if there is enough of it; then it begins anew.
    public mutating func finish(quality: TimeQuality, to sink: PublicationSink) {
        defer { number = nil }
        guard let analysis, let spectra, let last, number != nil, spectra.segments >= ModeAnalysis.leastSegments else {
            return
        }
        let strongest = analysis.modes(spectra).sorted { $0.prominence > $1.prominence }.prefix(ModesMessage.most)
        message.modes = strongest.sorted { $0.frequency < $1.frequency }
        message.segments = spectra.segments
        followed.recognise(&message.modes)
        messenger.send(message, time: last.end, quality: quality, to: sink)
    }

    private static func floor(_ time: Int64, _ period: Int64) -> Int64 {
        let (number, rest) = time.quotientAndRemainder(dividingBy: period)
        return rest < 0 ? number - 1 : number
    }
}
