import Messages
import MiniSEED
import Settings
import SignalProcessing

/// Sends the full-rate samples of an event in pieces while it lasts.
struct WaveformSender: Sendable {
    let topics: Topics
    /// Samples per message.
    let chunk: Int
    /// False while the event has not been announced.
    var isWanted = false

    /// Nil when the settings want no waveforms.
    private var writer: WaveformWriter?
    private var eventID = ""
    /// Number of the first sample that has not been handed to the writer.
    private var next = 0
    private var begun = false

    init(_ configuration: Configuration, sensor: StationSensor, topics: Topics) throws(StationError) {
        self.topics = topics
        chunk = WindowLength.seconds(configuration.waveform.chunk).samples(at: sensor.rate)
        guard configuration.waveform.enabled else { return }
        do throws(MiniSEEDError) {
            writer = try WaveformWriter(
                codes: ChannelCodes(configuration), rate: sensor.rate, format: configuration.waveform.encoding.format,
                scale: CountScale(resolution: sensor.resolution, range: sensor.range), chunk: chunk)
        } catch { throw StationError(path: "/station", message: error.description) }
    }

    /// A new event whose waveform begins with the sample of this number in the history.
    mutating func begin(eventID: String, firstSample: Int) {
        self.eventID = eventID
        next = firstSample
        isWanted = false
        begun = false
    }

    /// Hands what is new to the writer, which sends whole chunks; sends all that is left when asked to.
    mutating func send(all: Bool, _ history: History, _ messenger: Messenger, _ sink: PublicationSink) {
        guard isWanted, writer != nil else { return }
        if !begun { writer?.begin(messenger.waveformHeader(eventID: eventID)) }
        begun = true
        next = max(next, history.oldestRaw)
        while next < history.pushed {
            writer?.append(
                history.rawValue(next, axis: 0), history.rawValue(next, axis: 1), history.rawValue(next, axis: 2),
                time: history.rawTime(next), to: sink)
            next += 1
        }
        if all { writer?.flush(to: sink) }
    }

    /// Description for the `end` message, after `send(all: true)`; nil when nothing was sent.
    mutating func finish(to sink: PublicationSink) -> EventMessage.Waveform? {
        begun ? writer?.finish(to: sink) : nil
    }

    /// Forgets an event that was never announced.
    mutating func cancel() {
        isWanted = false
    }
}

extension RingWriter {
    /// Makes the sender of a station's settings.
    init(_ configuration: Configuration, sensor: StationSensor) throws(StationError) {
        do throws(MiniSEEDError) {
            try self.init(
                codes: ChannelCodes(configuration), rate: sensor.rate,
                format: configuration.waveform.encoding.format,
                scale: CountScale(resolution: sensor.resolution, range: sensor.range))
        } catch { throw StationError(path: "/station", message: error.description) }
    }
}

extension ChannelCodes {
    /// Takes the settings of a station.
    init(_ configuration: Configuration) {
        let station = configuration.station
        self.init(
            network: station.network, station: station.code, location: station.location, id: station.id,
            north: configuration.sensor.mounting.north)
    }
}

extension WaveformConfiguration.Encoding {
    var format: MiniSEEDFormat {
        switch self {
        case .mseed2: .v2
        case .mseed3: .v3
        }
    }
}

extension Messenger {
    /// The messenger that a station's settings ask for: traces as JSON, CBOR or miniSEED.
    init(_ configuration: Configuration, topics: Topics, boot: String) throws(StationError) {
        let traces = try TraceForm(configuration.trace, configuration)
        self.init(topics: topics, boot: boot, traceQoS: configuration.trace.qos, traces: traces)
    }
}
