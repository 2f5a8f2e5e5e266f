import Messages
import Settings
import SignalProcessing

extension StationPipeline {
    /// Goes on with a sensor of another rate: one whose true rate has been measured, or that came back as another, and
    /// with other settings if there are any.
    ///
    /// Numbers of messages, counters and extremes go on. Whatever counts in samples (filters, windows, traces, the time
    /// before an event) is made for the new rate and begins anew, without a gap: `valid` is false, `settling`, until all
    /// has settled, and traces tell the jump of their grid by `gap`. An open event is closed, with its waveform, since
    /// its record has one rate.
    /// - Throws: what cannot be made at that rate; then nothing has changed.
    public mutating func change(
        sensor: StationSensor, _ settings: (configuration: Configuration, revision: Int)? = nil,
        to sink: PublicationSink
    ) throws(StationError) {
        let (configuration, revision) = settings ?? (self.configuration, events.revision)
        let prepared = try prepare(configuration, sensor: sensor)
        var (path, messenger) = (prepared.path, prepared.messenger)
        finish(to: sink)
        messenger.takeOver(self.messenger)
        self.messenger = messenger
        self.configuration = configuration
        ring = prepared.ring
        let extremes = summary.extremes
        // The same sensor lies as it did, another one may not.
        if sensor.range == self.sensor.range, sensor.resolution == self.sensor.resolution { path.takeLevel(self.path) }
        level = path.mounting.level
        (self.sensor, rate, fullScale) = (sensor, sensor.rate, Self.fullScale(sensor))
        trueRate = nil
        self.path = path
        rules = StationRules(configuration, path, rate: rate)
        holdBack = HoldBack(length: path.holdBack)
        summary = SummaryBuilder(configuration, rate: rate)
        summary.extremes = extremes
        trace = TraceBuilder(configuration.trace, rate: rate)
        openEEW = OpenEEWSender(configuration, rate: rate)
        let vibration = VibrationSender(configuration, prepared.meter)
        if let old = self.vibration { vibration?.takeOver(old) }
        self.vibration = vibration
        stream = streamSettings.map { TraceBuilder($0, rate: sensor.rate) }
        events = EventRecorder(configuration, rate: rate, revision: revision, waveform: prepared.waveform)
        afterGap = false
        validFrom = rules.settleSamples
        guard let clock else { return }
        stretchStart += Int64(loaded)
        beginStretch(time: clock.time(loaded))
    }

    /// Counts the times of samples by the true rate from the next block on. Filters stay as they are: it is for what a
    /// rate within 0.5 % makes of the time of a trace that began a second before the last block.
    public mutating func follow(trueRate: Double) {
        self.trueRate = trueRate
        clock?.follow(rate: trueRate)
    }

    /// From which value on a sample is at the sensor's end.
    static func fullScale(_ sensor: StationSensor) -> Double { sensor.range.map { $0 * 0.999 } ?? .infinity }
}
