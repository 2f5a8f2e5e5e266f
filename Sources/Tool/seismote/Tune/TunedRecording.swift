import Messages
import Sensors
import Settings
import SignalProcessing
import Station
import Values

/// A recording that all settings have been tried on: what there was to catch in it, and what each setting did.
struct TunedRecording {
    /// An earthquake to detect.
    struct Event {
        /// Seconds from the first sample: the P that was given, or where the shaking begins.
        var onset: Double
        var s: Double?
        var isPicked: Bool
        /// All settings must be able to detect by then: P, or the strongest shaking.
        var needed: Double
        /// An onset from here to there has caught it.
        var window: ClosedRange<Double>
    }

    var file: String
    var rate: Double
    var duration: Double
    var events: [Event]
    /// Events in the time until every setting could detect; nobody is asked to have caught them.
    var early: Int
    /// Stretches in which there is nothing to catch, in seconds.
    var quiet: [ClosedRange<Double>]
    /// Onsets of each setting, in seconds.
    var onsets: [[Double]]
    /// Median of the RMS over 1 s from 1 to 8 Hz, m/s².
    var noise: Double?
    /// Samples that were no numbers or beyond 10⁶ m/s².
    var unusable: Int

    var quietSeconds: Double { quiet.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }

    /// Seconds from an event to the first onset of a setting that has caught it.
    func delay(_ event: Event, _ setting: Int) -> Double? {
        onsets[setting].first { event.window.contains($0) }.map { $0 - event.onset }
    }

    /// Onsets of a setting in quiet stretches.
    func falseOnsets(_ setting: Int) -> [Double] {
        onsets[setting].filter { onset in quiet.contains { $0.contains(onset) } }
    }

    /// - Parameters:
    ///   - picks: nil when the events are to be found.
    ///   - progress: called now and then with samples done and in all.
    init(
        _ loaded: LoadedSettings, settings: [TuneSetting], picks: [Pick]?, progress: (Int, Int) -> Void
    ) throws {
        let file = loaded.configuration.sensor.replay.file
        var sensor = ReplaySensor(loaded)
        let description = try sensor.open()
        let trials: Trials
        do {
            trials = try Trials(settings, loaded.configuration, rate: description.rate)
        } catch {
            throw TuneError(status: .settings, lines: ["\(file): \(error)"])
        }
        var pipeline = try StationPipeline(
            configuration: Self.frontEnd(loaded.configuration),
            sensor: StationSensor(rate: description.rate), boot: "00000000-0000-0000-0000-000000000000")
        let start = sensor.start ?? 0
        pipeline.onSeries = { trials.add($0, time: Double($0.time(0) - start) / 1e9) }
        let sink: PublicationSink = { _, _ in }
        var samples = SampleBlock(capacity: 4096)
        while try sensor.read(into: &samples) == .samples {
            pipeline.process(samples, quality: .replay, to: sink)
            progress(sensor.progress.read, sensor.progress.total)
        }
        pipeline.finish(to: sink)
        unusable = pipeline.status.invalidSamples
        self.file = file
        rate = description.rate
        duration = trials.stretches.last?.end ?? 0
        onsets = trials.onsets
        noise = trials.shaking.median
        let stretches = trials.shaking.stretches()
        let all = picks.map { $0.map(Self.event) } ?? stretches.filter(\.isEvent).map(Self.event)
        let valid = trials.stretches.map { (begin: $0.begin + trials.warmUp, end: $0.end) }.filter { $0.begin < $0.end }
        events = all.filter { event in valid.contains { $0.begin <= event.needed && event.needed < $0.end } }
        early = all.count - events.count
        // With picks, shaking that nobody has picked is quiet: it was looked at.
        let doubtful = picks == nil ? stretches.map { $0.begin - Self.before...$0.end + Self.after } : []
        quiet = Self.quiet(
            valid,
            without: all.map { $0.window.lowerBound...max($0.window.upperBound, Self.coda($0, stretches)) } + doubtful)
    }

    /// The agent's way of a sample as far as the filters of the axes, with nothing that would be published.
    private static func frontEnd(_ configuration: Configuration) -> Configuration {
        var c = configuration
        if c.station.id.isEmpty { c.station.id = "tune" }
        (c.trace.enabled, c.waveform.enabled) = (false, false)
        c.detection.disableAll()
        return c
    }

    /// Seconds around a found event that belong to it: before, because what is weak is not seen as its beginning.
    static let before = 15.0
    static let after = 10.0

    private static func event(_ stretch: Shaking.Stretch) -> Event {
        Event(
            onset: stretch.begin, isPicked: false, needed: stretch.peakTime,
            window: stretch.begin - before...stretch.end)
    }

    private static func event(_ pick: Pick) -> Event {
        Event(
            onset: pick.p, s: pick.s, isPicked: true, needed: pick.p,
            window: pick.p - 3...(pick.s.map { $0 + 40 } ?? pick.p + 60))
    }

    /// The end of the shaking that an event has set off.
    private static func coda(_ event: Event, _ stretches: [Shaking.Stretch]) -> Double {
        var end = event.window.upperBound
        for stretch in stretches where stretch.begin <= end + after { end = max(end, stretch.end + after) }
        return end
    }

    private static func quiet(
        _ valid: [(begin: Double, end: Double)], without busy: [ClosedRange<Double>]
    ) -> [ClosedRange<Double>] {
        var quiet: [ClosedRange<Double>] = []
        let busy = busy.sorted { $0.lowerBound < $1.lowerBound }
        for part in valid {
            var begin = part.begin
            for one in busy where one.upperBound > begin && one.lowerBound < part.end {
                if one.lowerBound > begin { quiet.append(begin...one.lowerBound) }
                begin = max(begin, one.upperBound)
            }
            if begin < part.end { quiet.append(begin...part.end) }
        }
        return quiet
    }
}

/// Classes that the station would give the events of a recording, with its settings as they are and the alarm on.
struct AssessedEvents {
    struct Event {
        /// Seconds from the first sample; of what follows, from the onset.
        var onset: Double
        var likely = "unclassified"
        var probability: Double?
        var decided: Double?
        var alarm: Double?
    }

    let file: String
    private(set) var events: [Event] = []

    init(_ loaded: LoadedSettings, file: String) throws {
        self.file = file
        var configuration = loaded.configuration
        if configuration.station.id.isEmpty { configuration.station.id = "tune" }
        configuration.alarm.enabled = true
        (configuration.trace.enabled, configuration.waveform.enabled) = (false, false)
        var sensor = ReplaySensor(loaded)
        let description = try sensor.open()
        let start = sensor.start ?? 0
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: description.rate, range: description.range),
            boot: "")
        var found: [(id: String, event: Event)] = []
        let sink: PublicationSink = { header, bytes in
            guard header.topic.hasSuffix("/event/trigger"),
                let message = (try? JSONReader.read(Array(bytes))).map(StationEventMembers.init), let id = message.id
            else { return }
            if found.last?.id != id {
                let onset = message.onset ?? start
                found.append((id, Event(onset: Double(onset - start) / 1e9)))
            }
            found[found.count - 1].event.take(message)
        }
        var block = SampleBlock(capacity: 1000)
        while try sensor.read(into: &block) == .samples { pipeline.process(block, quality: .replay, to: sink) }
        pipeline.finish(to: sink)
        events = found.map(\.event)
    }

    var lines: [String] {
        events.map { event in
            var text = "  \(file): event at \(fixed(event.onset, 2)) s: \(event.likely)"
            if let p = event.probability { text += ", earthquake up to \(EventLine.percent(p))" }
            if let time = event.decided { text += ", decided after \(fixed(time, 2)) s" }
            return text + (event.alarm.map { ", ALARM after \(fixed($0, 2)) s" } ?? "")
        }
    }

    var value: Value {
        func number(_ value: Double?) -> Value { value.map { .double($0) } ?? .null }
        return .array(
            events.map {
                [
                    "onset_s": .double($0.onset), "class": .string($0.likely), "p": number($0.probability),
                    "decided_s": number($0.decided), "alarm_s": number($0.alarm),
                ]
            })
    }
}

extension AssessedEvents.Event {
    fileprivate mutating func take(_ message: StationEventMembers) {
        if let told = message.likely { likely = told.printable }
        if let p = message.probability { probability = max(probability ?? 0, p) }
        if decided == nil, likely == "earthquake" { decided = message.judged }
        if alarm == nil, message.hasAlarm { alarm = message.duration }
    }
}
