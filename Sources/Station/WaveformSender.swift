import Messages
import Settings
import SignalProcessing

/// Sends the full-rate samples of an event in pieces while it lasts.
struct WaveformSender: Sendable {
    let topics: Topics
    /// Samples per message.
    let chunk: Int
    /// False while the event has not been announced.
    var isWanted = false

    private let enabled: Bool
    private var eventID = ""
    /// Number of the first sample that has not been sent.
    private var next = 0

    init(_ configuration: Configuration, sensor: StationSensor, topics: Topics) {
        self.topics = topics
        enabled = configuration.waveform.enabled
        chunk = WindowLength.seconds(configuration.waveform.chunk).samples(at: sensor.rate)
    }

    /// A new event whose waveform begins with the sample of this number in the history.
    mutating func begin(eventID: String, firstSample: Int) {
        self.eventID = eventID
        next = firstSample
        isWanted = false
    }

    /// Sends whole chunks, or all that is left.
    mutating func send(all: Bool, _ history: History, _ messenger: Messenger, _ sink: PublicationSink) {
    }

    /// What the `end` message says of it; nil when nothing was sent.
    mutating func finish() -> EventMessage.Waveform? {
        nil
    }

    /// Forgets an event that was never announced.
    mutating func cancel() {
        isWanted = false
    }
}
