import Messages
import Seismology
import Settings
import SignalProcessing

/// Writes the story of events: onset at once, updates while a peak grows, waveform in pieces, end.
struct EventRecorder: ~Copyable {
    private let rate: Double
    private let configuration: Configuration
    let revision: Int
    private let notes: DetectorNotes
    private let updateInterval: Int64 = 1_000_000_000
    private var machine: EventMachine
    private var history: History
    private var waveform: WaveformSender
    /// Takes the place of the present one when the open event has ended.
    private var nextWaveform: WaveformSender?
    private var open: OpenEvent?
    /// All samples of the open event.
    private var record: EventRecord
    private var picker: ArrivalPicker
    /// The event whose end is being computed. Its samples are in the record until another event begins.
    private var closing: (event: OpenEvent, analysis: EventAnalysis)?
    /// Pace of the work on it.
    private var pace: WorkPace
    private var closingRecord: EventRecord
    private var isApart = false
    /// The event that a command has asked for.
    private(set) var test = TestEvent.none
    /// JMA intensity of the last window of the motion, not rounded.
    private var jma: Double?
    /// Assessment of the open event's cause.
    private(set) var assessment: EventAssessment
    /// The end that was sent last, with its number.
    private var ended: (message: EventMessage, number: Int, quality: TimeQuality)?

    init(_ configuration: Configuration, rate: Double, revision: Int, waveform: WaveformSender) {
        self.configuration = configuration
        self.rate = rate
        self.revision = revision
        notes = DetectorNotes(configuration, revision: revision)
        self.waveform = waveform
        let event = configuration.detection.event
        pace = WorkPace(rate: rate)
        func samples(_ seconds: Double) -> Int { Int((seconds * rate).rounded()) }
        machine = EventMachine(
            .init(
                votes: event.votes, postEvent: samples(event.postEvent), maximum: samples(event.maximum),
                deadTime: samples(event.deadTime)))
        let before = samples(event.preEvent)
        record = EventRecord(rate: rate, capacity: before + samples(event.maximum) + 1)
        closingRecord = record
        picker = ArrivalPicker(rate: rate)
        assessment = EventAssessment(AssessmentSettings(configuration), rate: rate)
        history = History(
            before: before, waveform: configuration.waveform.enabled ? before + waveform.chunk + 1 : 0)
    }

    // (Members that only look are `mutating`, and another recorder is handed over `inout`: see StationPipeline.)

    var isActive: Bool { mutating get { open != nil } }
    var isAlarm: Bool { mutating get { open != nil && assessment.isAlarm } }
    /// Class of the open event.
    var openClass: EventClass? {
        mutating get { open?.message.test == false ? assessment.discriminator?.result : nil }
    }
    /// True while the end of an event is being computed.
    var isClosing: Bool { mutating get { closing != nil } }
    /// While true, the analysis of an event that has ended is suspended: other work needs the memory.
    var waits = false

    /// Goes on, with the settings of this recorder, with the events and the samples of another one. An event that is
    /// open keeps its waveform as it has begun.
    mutating func takeOver(_ old: inout EventRecorder) {
        machine = EventMachine(machine.settings, goingOnFrom: old.machine)
        history.takeOver(old.history)
        assessment.takeOver(old.assessment)
        (open, closing, isApart, jma) = (old.open, old.closing, old.isApart, old.jma)
        (isQuiet, test, ended) = (old.isQuiet, old.test, old.ended)
        let capacity = record.capacity
        (record, closingRecord) = (old.record, old.closingRecord)
        record.capacity = capacity
        closingRecord.capacity = capacity
        if open != nil {
            nextWaveform = waveform
            waveform = old.waveform
        }
    }

    /// Says what the JMA intensity of the last window of the motion is, not rounded.
    mutating func take(jma: Double?) {
        self.jma = jma
        guard let jma, open != nil else { return }
        if let before = open?.jma {
            guard jma > before else { return }
            if JMAIntensity.reported(jma) > JMAIntensity.reported(before) { open?.motion.grown = true }
        }
        open?.jma = jma
    }

    /// True when a sample at which no detector is on only has to be stored: see ``skip(_:_:count:index:)``. Not asked of the
    /// events themselves, which are large.
    private(set) var isQuiet = true

    /// Makes of a chunk what assessments need, before its samples come one by one.
    mutating func prepare(_ planes: borrowing Planes, count: Int) {
        assessment.process(planes.raw, stride: Planes.capacity, count: count)
    }

    /// A new stretch of samples begins: what was before it says nothing of an event's nature, but of the noise.
    /// - Parameters:
    ///   - missing: seconds between the two; nil: what was before is not to be used.
    ///   - blind: samples of it until all detectors can trigger.
    mutating func beginStretch(missing: Double?, blind: Int) {
        if let missing { assessment.gap(seconds: missing, blind: blind) } else { assessment.reset(blind: blind) }
    }

    /// Ends an open event whose end lies in a gap: it is over when it would have been without the gap, and the gap is its last.
    /// - Parameter index: of the first sample behind the gap.
    mutating func endInGap(
        before index: Int64, messenger: inout Messenger, quality: TimeQuality, to sink: PublicationSink
    ) {
        guard let end = machine.miss(until: index), let last = open?.lastIndex else { return }
        self.end(&messenger, quality, sink, missing: Double(end - last) / rate)
    }

    /// No samples come, by now up to this index: what would be over without a gap is over, and is told.
    mutating func noteSilence(
        until index: Int64, messenger: inout Messenger, quality: TimeQuality, to sink: PublicationSink
    ) {
        endInGap(before: index, messenger: &messenger, quality: quality, to: sink)
        if case .on(_, let left) = test, let last = open?.lastIndex, index - last > Int64(left) {
            end(&messenger, quality, sink)
        }
        if !waits { finishEnd(&messenger, quality, sink) }
        isQuiet = open == nil && closing == nil && !test.isWanted
    }

    /// Detectors have begun anew, with other settings, and can trigger after so many samples.
    mutating func detectorsBegan(blind: Int) { assessment.detectorsBegan(blind: blind) }

    /// Takes samples of a gap, which are estimated: for the filters of the assessment.
    mutating func bridge(_ planes: borrowing Planes, count: Int, _ peaks: UncertainPeaks) {
        assessment.bridge(planes.raw, stride: Planes.capacity, planes.detectors.on, count: count)
        open?.motion.bridge(peaks)
    }

    /// Keeps samples of a chunk at which no detector is on.
    mutating func skip(_ planes: borrowing Planes, _ i: Int, count: Int, index: Int64) {
        history.push(planes, i, count: count, index: index)
        assessment.skip(planes.raw + i, stride: Planes.capacity, planes.detectors.on + i, count: count)
    }

    /// One sample, number `i` of the chunk, with what the detectors say of it.
    mutating func step(
        _ sample: RecordedSample, _ planes: borrowing Planes, _ i: Int, state: DetectionState,
        messenger: inout Messenger, quality: TimeQuality, to sink: PublicationSink
    ) {
        defer { isQuiet = open == nil && closing == nil }
        if closing != nil, !waits, pace.isDue(), analyse() { sendEnd(&messenger, quality, sink) }
        let action = machine.step(on: state.invalid == nil ? state.detectorsOn : 0, index: sample.index)
        let beginsTest = stepTest(action, &messenger, quality, sink)
        if action == .begin || beginsTest { begin(sample, withContext: true) }
        if beginsTest { noteTest() } else if action == .begin { assessment.begin() }
        // What it says belongs to the event that was open before this sample, or that begins with it.
        let isNews = action != .endAndBegin && assess(planes, i)
        if open != nil { add(sample, planes, i, state) }
        history.push(planes, i, count: 1, index: sample.index)
        guard action != .none || open != nil else { return }
        if action == .begin || beginsTest {
            announce(&messenger, quality, sink)
            return
        }
        if action == .none {
            let isTold = update(sample.time, &messenger, quality, sink)
            if isNews, !isTold { tellNews(&messenger, quality, sink) }
            waveform.send(all: false, history, messenger, sink)
        }
        if action == .end || action == .endAndBegin { end(&messenger, quality, sink) }
        if action == .endAndBegin {
            begin(sample, withContext: false)
            assessment.begin()
            _ = assess(planes, i)
            add(sample, planes, i, state)
            announce(&messenger, quality, sink)
        }
    }

    /// Lets the assessment see a sample; true when there is something to tell at once.
    private mutating func assess(_ planes: borrowing Planes, _ i: Int) -> Bool {
        assessment.step(planes.raw + i, stride: Planes.capacity, planes.detectors.on + i)
    }

    /// Ends an open event with the last sample.
    mutating func close(messenger: inout Messenger, quality: TimeQuality, to sink: PublicationSink) {
        if machine.close() == .end || test.isOn { end(&messenger, quality, sink) }
        if test.isWanted { test = .refused }
        finishEnd(&messenger, quality, sink)
    }

    // MARK: Test events

    /// Asks for an event without shaking, from the next sample on.
    /// - Returns: false while an event is open.
    mutating func beginTest() -> Bool {
        guard open == nil, !test.isWanted else { return false }
        test = .wanted
        isQuiet = false
        return true
    }

    /// Ends a test event that is over, or has to make room for a real one; the machine knows nothing of it.
    /// - Returns: true when one begins with this sample.
    private mutating func stepTest(
        _ action: EventMachine.Action, _ messenger: inout Messenger, _ quality: TimeQuality, _ sink: PublicationSink
    ) -> Bool {
        switch test {
        case .none, .refused, .over: return false
        case .wanted:
            if action == .none, !machine.isActive { return true }
            test = .refused
        case .on(let id, let left):
            test = .on(id, left: left - 1)
            if action == .begin || left <= 1 { end(&messenger, quality, sink) }
        }
        return false
    }

    private mutating func noteTest() {
        open?.message.test = true
        let longest = min(TestEvent.seconds, configuration.detection.event.maximum)
        test = .on(open?.message.eventID ?? "", left: max(1, Int((longest * rate).rounded())))
    }

    // MARK: Life of an event

    private mutating func begin(_ sample: RecordedSample, withContext: Bool) {
        var motion = EventMotion(rate: rate)
        if closing != nil, !isApart {
            swap(&record, &closingRecord)
            isApart = true
        }
        record.removeAll()
        let context = withContext ? history.count(since: sample.index - Int64(history.before)) : 0
        for n in history.motionCount - context..<history.motionCount {
            let (past, time, index) = history.motion(n)
            motion.add(past, time: time, index: index)
            record.append(past.ax, past.ay, past.az, time: time, index: index)
        }
        record.markOnset()
        let id = waveform.topics.eventID(onset: sample.time)
        var message = EventMessage(kind: .onset, eventID: id, onset: sample.time)
        message.configRevision = revision
        open = OpenEvent(motion: motion, message: message, jma: jma)
        waveform.begin(eventID: id, firstSample: history.pushed - context)
    }

    /// Adds a sample to the open event.
    private mutating func add(
        _ sample: RecordedSample, _ planes: borrowing Planes, _ i: Int, _ state: DetectionState
    ) {
        let motion = sample.motion
        open?.motion.add(motion, time: sample.time, index: sample.index)
        record.append(motion.ax, motion.ay, motion.az, time: sample.time, index: sample.index)
        // What is not in the motion: detectors, RMS, clipping.
        open?.lastTime = sample.time
        open?.lastIndex = sample.index
        if sample.clipped { open?.message.clipped = true }
        open?.message.rmsMax.takeLarger(sample.rms)
        open?.note(sample.time, planes, i, state, notes)
    }

    /// The onset, as soon as the intensity asked for is reached.
    /// - Returns: whether it was sent.
    @discardableResult
    private mutating func announce(
        _ messenger: inout Messenger, _ quality: TimeQuality, _ sink: PublicationSink
    ) -> Bool {
        guard var event = open, !event.announced else { return false }
        event.fill(configuration, record, assessment, &picker, rate: rate)
        let minimum = event.message.test ? 0 : configuration.detection.event.minimumIntensity
        let first = event.message.intensity.first { $0.relation == configuration.intensity.scales.first?.rawValue }
        if minimum > 0, (first?.value ?? 0) < minimum {
            open = event
            return false
        }
        event.announced = true
        event.message.kind = .onset
        event.motion.grown = false
        event.lastSent = event.lastTime
        messenger.send(event.message, time: event.message.onset, quality: quality, to: sink)
        open = event
        waveform.isWanted = true
        return true
    }

    /// An update for the motion, or the onset that has waited for it.
    /// - Returns: whether there was one: it says what the assessment says, too.
    private mutating func update(
        _ time: Int64, _ messenger: inout Messenger, _ quality: TimeQuality, _ sink: PublicationSink
    ) -> Bool {
        // (Asked of the event where it is: it is asked at each sample, and a copy of it is as dear as a filter.)
        guard open?.motion.grown == true else { return false }
        guard open?.announced == true else { return announce(&messenger, quality, sink) }
        // Times of a sensor's samples jitter: a second is over with the sample that is nearest to its end, which is that of the
        // estimates as well.
        guard let lastSent = open?.lastSent, time - lastSent >= updateInterval - Int64(0.5e9 / rate),
            var changed = open
        else { return false }
        changed.fill(configuration, record, assessment, &picker, rate: rate)
        changed.message.kind = .update
        changed.motion.grown = false
        changed.lastSent = time
        messenger.send(changed.message, time: changed.message.onset, quality: quality, to: sink)
        open = changed
        return true
    }

    /// An update for what the assessment says; those for the motion come when they would without it.
    private mutating func tellNews(_ messenger: inout Messenger, _ quality: TimeQuality, _ sink: PublicationSink) {
        guard var event = open, event.announced else { return }
        event.fill(configuration, record, assessment, &picker, rate: rate)
        event.message.kind = .update
        messenger.send(event.message, time: event.message.onset, quality: quality, to: sink)
    }

    /// - Parameter missing: seconds from its last sample to its end, which lies in a gap; 0: it ends with its last sample.
    private mutating func end(
        _ messenger: inout Messenger, _ quality: TimeQuality, _ sink: PublicationSink, missing: Double = 0
    ) {
        guard var event = open else { return }
        open = nil
        defer { assessment.end() }
        if case .on(let id, _) = test { test = .over(id) }
        guard event.announced else {
            waveform.cancel()
            return installNextWaveform()
        }
        waveform.send(all: true, history, messenger, sink)
        event.fill(configuration, record, assessment, &picker, rate: rate)
        event.message.takeDurations(event.motion, record)
        event.message.takeConclusion(assessment)
        event.message.kind = .end
        event.message.end = event.lastTime
        if missing > 0 { event.endInGap(missing) }
        event.message.waveform = waveform.finish(to: sink)
        installNextWaveform()
        finishEnd(&messenger, quality, sink)
        closing = (event, EventAnalysis(configuration, of: record))
        pace.restart()
        isApart = false
    }

    private mutating func installNextWaveform() {
        if let nextWaveform { waveform = nextWaveform }
        nextWaveform = nil
    }

    /// Sends the end that is being computed, if there is one, now.
    private mutating func finishEnd(_ messenger: inout Messenger, _ quality: TimeQuality, _ sink: PublicationSink) {
        guard closing != nil else { return }
        while !analyse() {}
        sendEnd(&messenger, quality, sink)
    }

    /// Does the next part of the work on the event that has ended; true when all is done.
    private mutating func analyse() -> Bool {
        closing?.analysis.step(isApart ? closingRecord : record) ?? true
    }

    private mutating func sendEnd(_ messenger: inout Messenger, _ quality: TimeQuality, _ sink: PublicationSink) {
        guard var event = closing?.event, let analysis = closing?.analysis else { return }
        closing = nil
        // A record with gaps is judged by its longest stretch, which may not have the strongest motion.
        let windows = event.message.gaps > 0 ? event.jma : nil
        event.jma = analysis.jma.map { max($0, windows ?? $0) } ?? event.jma
        event.message.dominantHz = analysis.dominant
        event.fillIntensity(configuration)
        messenger.send(event.message, time: event.message.onset, quality: quality, to: sink)
        ended = (event.message, messenger.lastEventNumber, quality)
    }

    /// Marks an event with what a network of stations says of it: the open one, which is told at once, the one whose end
    /// is being computed, or the last one.
    mutating func confirm(
        _ confirmation: EventConfirmation, messenger: inout Messenger, quality: TimeQuality, to sink: PublicationSink
    ) {
        if open?.message.eventID == confirmation.eventID {
            guard open?.mark(confirmation) == true else { return }
            tellNews(&messenger, quality, sink)
        } else if closing?.event.message.eventID == confirmation.eventID {
            _ = closing?.event.mark(confirmation)
        } else if var last = ended, last.message.eventID == confirmation.eventID {
            guard last.message.confirmation != confirmation else { return }
            last.message.confirmation = confirmation
            ended = last
            messenger.sendLast(
                last.message, number: last.number, time: last.message.onset, quality: last.quality, to: sink)
        }
    }

    /// A gap: the waveform so far is sent, so that no record spans the gap.
    mutating func gap(_ messenger: Messenger, _ sink: PublicationSink) {
        if open != nil { waveform.send(all: true, history, messenger, sink) }
    }
}

extension AxisValues<Double> {
    fileprivate mutating func takeLarger(_ other: (x: Double, y: Double, z: Double)) {
        x = Swift.max(x, other.x)
        y = Swift.max(y, other.y)
        z = Swift.max(z, other.z)
    }
}
