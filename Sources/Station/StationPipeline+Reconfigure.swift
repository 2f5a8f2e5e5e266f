import Messages
import Settings
import SignalProcessing

extension StationPipeline {
    /// Puts other settings into force with the next block, without a gap.
    ///
    /// A stage whose settings and whose input are as before goes on from where it is, bit for bit as if nothing had
    /// happened: the filters of other axes, running averages, windows, an open event, the extremes, the numbers of
    /// messages. What has changed begins anew. A new filter of an axis keeps its level from triggering until it and
    /// the RMS have settled; a new offset removal, axis map or test signal is a new start for all (`valid` is false, `settling`,
    /// until all has settled), and traces tell a jump of their grid by `gap`. An open event goes on in any case.
    /// - Parameters:
    ///   - configuration: a valid snapshot. What belongs to the sensor's own rate and range stays as it is.
    ///   - revision: of the settings; events that begin from now on carry it.
    /// - Throws: what cannot be made at the sensor's rate; then nothing has changed.
    public mutating func reconfigure(
        _ configuration: Configuration, revision: Int, to sink: PublicationSink
    ) throws(StationError) {
        var path = try SignalPath(configuration, rate: rate)
        let topics = try StationError.topics(of: configuration)
        var messenger = try Messenger(configuration, topics: topics, boot: self.messenger.boot)
        try messenger.setStream(streamSettings, configuration)
        let waveform = try WaveformSender(configuration, sensor: sensor, topics: topics)
        let ring = try RingWriter(configuration, sensor: sensor)
        let was = self.configuration
        let goesOn = SignalPath.entersAlike(configuration, was)
        let sameMeasures = configuration.intensity == was.intensity && configuration.spectrum == was.spectrum
        if summary.isPending, !goesOn || !sameMeasures { sendSummary(to: sink) }
        if goesOn {
            if configuration.trace != was.trace, rules.traceEnabled, let clock { sendTrace(clock, to: sink) }
        } else {
            endStretch(to: sink)
        }

        if configuration.station != was.station || configuration.waveform.encoding != was.waveform.encoding
            || configuration.sensor.mounting != was.sensor.mounting
        {
            if let onSegment { self.ring.flush(to: onSegment) }
            self.ring = ring
        }
        messenger.takeOver(self.messenger)
        self.messenger = messenger
        var events = EventRecorder(configuration, rate: rate, revision: revision, waveform: waveform)
        events.takeOver(self.events)
        self.events = events
        var summary = SummaryBuilder(configuration, rate: rate)
        summary.takeOver(self.summary, configuration, was)
        self.summary = summary
        rules = StationRules(configuration, path, rate: rate)
        if configuration.trace != was.trace {
            trace = TraceBuilder(configuration.trace, rate: rate)
            if processed > 0 { trace.begin(at: processed) }
        }
        self.configuration = configuration

        if goesOn {
            let kept = path.takeOver(self.path, configuration, was)
            for axis in 0..<3 where !kept[axis] {
                // The window of the RMS, too, must have left what came before.
                let window = configuration.axes[axis].detection.window.samples(at: rate)
                axisValidFrom[axis] = processed + window + Int((path.axisSettlingTime[axis] * rate).rounded(.up))
            }
            if isSettling { validFrom = rules.settleSamples }
            self.path = path
        } else {
            path.takeLevel(self.path)
            self.path = path
            level = path.mounting.level
            holdBack = HoldBack(length: path.holdBack)
            afterGap = false
            if let clock {
                stretchStart += Int64(loaded)
                beginStretch(time: clock.time(loaded))
            }
        }
    }
}
