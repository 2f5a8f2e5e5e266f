import Messages
import Sensors
import Settings
import SignalProcessing
import Station
import Values

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
            guard header.topic.hasSuffix("/event/trigger"), let message = try? JSONReader.read(Array(bytes)),
                let id = message["event_id"]?.text
            else { return }
            if found.last?.id != id {
                let onset = Timestamp(message["onset"]?.text ?? "")?.nanoseconds ?? start
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
    fileprivate mutating func take(_ message: Value) {
        if let told = message["class", "likely"]?.text { likely = told }
        if let p = message["class", "p"]?.number { probability = max(probability ?? 0, p) }
        if decided == nil, likely == "earthquake" { decided = message["class", "t_s"]?.number }
        if alarm == nil, message["alarm"]?.flag == true { alarm = message["duration_s"]?.number }
    }
}
