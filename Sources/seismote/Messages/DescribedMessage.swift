import Messages
import Seismology

/// A kind of message with its fields.
struct DescribedMessage {
    /// For `seismote messages schema`.
    var name: String
    /// Below `<root>/<id>/`.
    var topics: String
    /// Whether the envelope has `tq`.
    var isSampled: Bool
    var fields: [DescribedField]

    private init(
        _ name: String, _ topics: String, sampled: Bool = false, _ tell: (inout FieldCollector) -> Void
    ) {
        var collector = FieldCollector()
        tell(&collector)
        (self.name, self.topics, isSampled, fields) = (name, topics, sampled, collector.fields)
    }

    /// The fields that every message begins with.
    static func envelope(isSampled: Bool) -> [DescribedField] {
        var collector = FieldCollector()
        Envelope(boot: "", number: 0, time: 0, quality: isSampled ? .replay : nil).fields(&collector)
        return collector.fields
    }

    /// All messages that are JSON objects, in the order of the documentation.
    static func all() throws(TopicError) -> [DescribedMessage] {
        let topics = try Topics(id: "id")
        let ratios = ratioDetectors.map { DetectorRatios($0, RatioValues()) }
        var summary = SummaryMessage()
        summary.ratios = ratios
        var event = EventMessage(kind: .onset, eventID: "", onset: 0)
        event.ratios = ratios
        let info = InfoMessage(
            agent: .init(version: "", build: ""), station: StationIdentity(), sensor: nil, capabilities: .init())
        return [
            .init("summary", "`state/summary`", sampled: true) { summary.fields(&$0) },
            .init("event", "`event/trigger`, `event/last`", sampled: true) { event.fields(&$0) },
            .init("trace", "`data/trace`, `data/stream` (JSON or CBOR)", sampled: true) {
                TraceBlock(capacity: 1, rate: 1).fields(&$0)
            },
            .init("health", "`state/health`") { HealthMessage(sensor: .ok, time: .replay).fields(&$0) },
            .init("alert", "`state/alert/<code>`") {
                AlertMessage(code: "", severity: .info, since: 0, message: "").fields(&$0)
            },
            .init("info", "`state/info`") { info.fields(topics: topics, &$0) },
            .init("config", "`state/config`") { ConfigMessage(revision: 0, config: .object([])).fields(&$0) },
            .init("reply", "`res/<request id>`, or the response topic of the request") {
                ReplyMessage(id: nil, command: "", phase: .done, revision: 0).fields(station: "", &$0)
            },
            .init("log", "`event/log/<level>`") { LogLine(level: "", time: 0, message: "").fields(&$0) },
        ]
    }

    private static var ratioDetectors: [String] {
        var names = RatioNames()
        var settings = DetectionConfiguration()
        settings.visit(&names)
        return names.names
    }
}

/// Names of the detectors that compare ratios.
private struct RatioNames: DetectorSettingsVisitor {
    var names: [String] = []

    mutating func visit<S: DetectorSettings>(_: inout S) { if S.isRatio { names.append(S.name) } }
}
