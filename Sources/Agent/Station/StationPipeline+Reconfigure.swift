import Messages
import Settings
import SignalProcessing
import Vibration

extension StationPipeline {
    /// The stages for other settings and one sensor: everything that can fail has been made, and nothing has changed yet.
    /// (An object, so that nothing is made to copy all of it.)
    public final class Prepared: Sendable {
        let configuration: Configuration
        let sensor: StationSensor
        let stream: TraceConfiguration?
        let path: SignalPath
        let messenger: Messenger
        let waveform: WaveformSender
        let ring: RingWriter
        let meter: VibrationMeter?

        /// - Throws: what cannot be made at the sensor's rate.
        public init(
            _ configuration: Configuration, sensor: StationSensor, boot: String, stream: TraceConfiguration? = nil
        ) throws(StationError) {
            self.configuration = configuration
            self.sensor = sensor
            self.stream = stream
            path = try SignalPath(configuration, rate: sensor.rate)
            let topics = try StationError.topics(of: configuration)
            var messenger = try Messenger(configuration, topics: topics, boot: boot)
            try messenger.setStream(stream, configuration)
            self.messenger = messenger
            waveform = try WaveformSender(configuration, sensor: sensor, topics: topics)
            ring = try RingWriter(configuration, sensor: sensor)
            meter = try VibrationSender.meter(configuration, rate: sensor.rate)
        }
    }

    /// Makes what ``commit(_:revision:to:)`` puts into force.
    /// - Parameters:
    ///   - configuration: a valid snapshot. What belongs to the sensor's own rate and range stays as it is.
    ///   - sensor: another one than now; nil: the one that is there.
    /// - Throws: what cannot be made at the sensor's rate.
    public mutating func prepare(
        _ configuration: Configuration, sensor: StationSensor? = nil
    ) throws(StationError) -> Prepared {
        try Prepared(configuration, sensor: sensor ?? self.sensor, boot: messenger.boot, stream: streamSettings)
    }

    /// Whether this was made for the sensor and the streamed traces that are there now.
    public mutating func fits(_ prepared: Prepared) -> Bool {
        prepared.sensor == sensor && prepared.stream == streamSettings
    }

    /// Prepares other settings and puts them into force at once.
    /// - Throws: what cannot be made at the sensor's rate; then nothing has changed.
    public mutating func reconfigure(
        _ configuration: Configuration, revision: Int, to sink: PublicationSink
    ) throws(StationError) {
        let prepared = try prepare(configuration)
        commit(prepared, revision: revision, to: sink)
    }

    /// Puts other settings, that were prepared for this sensor (see ``fits(_:)``), into force with the next block, without a
    /// gap. Cannot fail.
    ///
    /// A stage whose settings and whose input are as before goes on from where it is, bit for bit as if nothing had
    /// happened: the filters of other axes, running averages, windows, an open event, the extremes, the numbers of
    /// messages. What has changed begins anew. A new filter of an axis keeps its level from triggering until it and
    /// the RMS have settled; a new offset removal, axis map or test signal is a new start for all (`valid` is false, `settling`,
    /// until all has settled), and traces tell a jump of their grid by `gap`. An open event goes on in any case.
    /// - Parameter revision: of the settings; events that begin from now on carry it.
    public mutating func commit(_ prepared: Prepared, revision: Int, to sink: PublicationSink) {
        let configuration = prepared.configuration
        var (path, messenger) = (prepared.path, prepared.messenger)
        let (waveform, ring) = (prepared.waveform, prepared.ring)
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
        if configuration.vibration != was.vibration {
            vibration?.finish(&messenger, quality: quality, to: sink)
            let next = VibrationSender(configuration, prepared.meter)
            if let old = vibration { next?.takeOver(old) }
            vibration = next
        }
        if configuration.mqtt.openEEW != was.mqtt.openEEW { openEEW = OpenEEWSender(configuration, rate: rate) }
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
