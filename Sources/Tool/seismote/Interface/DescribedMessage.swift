import Messages
import Seismology
import Values

/// A kind of message with its fields.
struct DescribedMessage {
    enum Content {
        /// The fields behind the envelope, and whether that has `tq`.
        case object([DescribedField], isSampled: Bool)
        /// One of these words.
        case text([String])
        /// JSON that is described elsewhere.
        case json
        /// A text that holds JSON.
        case nested
        /// miniSEED.
        case records
    }

    /// For `seismote interface schema`.
    var name: String
    /// A sentence.
    var help: String
    var content: Content
    var contentType: ContentType
    /// `seismote network` sends it, not a station: its envelope names none.
    var isOfNetwork = false
    /// A person sends it, by whatever program: it has no envelope.
    var isBare = false

    private init(_ name: String, _ help: String, sampled: Bool = false, _ tell: (inout FieldCollector) -> Void) {
        var collector = FieldCollector()
        tell(&collector)
        self.init(name, help, .object(collector.fields, isSampled: sampled), .json)
    }

    private init(network name: String, _ help: String, _ tell: (inout FieldCollector) -> Void) {
        self.init(name, help, tell)
        isOfNetwork = true
    }

    private init(bare name: String, _ help: String, _ tell: (inout FieldCollector) -> Void) {
        self.init(name, help, tell)
        isBare = true
    }

    private init(_ name: String, _ help: String, _ content: Content, _ contentType: ContentType) {
        (self.name, self.help, self.content, self.contentType) = (name, help, content, contentType)
    }

    /// The same message in another coding.
    private func coded(_ name: String, _ help: String, _ contentType: ContentType) -> DescribedMessage {
        DescribedMessage(name, help, content, contentType)
    }

    /// The fields that every message begins with, before its own: `state/info` has an object under a name of theirs.
    static func envelope(
        isSampled: Bool, isOfNetwork: Bool = false, before own: [DescribedField] = []
    ) -> [DescribedField] {
        var collector = FieldCollector()
        Envelope(station: "", boot: "", number: 0, time: 0, quality: isSampled ? .replay : nil).fields(&collector)
        let envelope = collector.fields.map { field in
            var field = field
            if field.name == "v" { field.kind = .constant(1) }
            if field.name == "boot" { field.kind = .uuid }
            return field
        }
        return envelope.filter { field in
            !own.contains { $0.name == field.name } && !(isOfNetwork && field.name == "station")
        } + own
    }

    /// All messages, in the order of the documentation.
    static func all() throws(TopicError) -> [DescribedMessage] {
        let topics = try Topics(id: "id")
        let ratios = ratioDetectors.map { DetectorRatios($0, RatioValues()) }
        var summary = SummaryMessage()
        summary.ratios = ratios
        var event = EventMessage(kind: .onset, eventID: "", onset: 0)
        event.ratios = ratios
        let info = InfoMessage(
            agent: .init(version: "", build: ""), station: StationIdentity(), sensor: nil, capabilities: .init())
        let trace = DescribedMessage("trace", "A block of traces.", sampled: true) {
            TraceBlock(capacity: 1, rate: 1).fields(&$0)
        }
        return [
            .init("summary", "The ground once a second.", sampled: true) { summary.fields(&$0) },
            .init("level", "What an overview of many stations needs, once a second.") {
                summary.levelFields(synced: true, &$0)
            },
            .init("event", "An event at its onset, at a change and at its end.", sampled: true) { event.fields(&$0) },
            trace,
            .init("vibration", "Vibration of one interval, as standards measure it.", sampled: true) {
                VibrationMessage().fields(&$0)
            },
            .init("modes", "Natural modes of the structure, of one period of its ambient vibration.", sampled: true) {
                ModesMessage().fields(&$0)
            },
            .init("warning", "What a station expects of an earthquake that its network has seen.") {
                WarningMessage.blank.fields(&$0)
            },
            .init("health", "How the station is.") { HealthMessage(sensor: .ok, time: .replay).fields(&$0) },
            .init("alert", "An active fault.") {
                AlertMessage(code: "", severity: .info, since: 0, message: "").fields(&$0)
            },
            .init("update", "What becomes of an update of the agent.") {
                UpdateMessage(phase: .updated, since: 0).fields(&$0)
            },
            .init("info", "Who the station is.") { info.fields(topics: topics, &$0) },
            .init("config", "The settings in force.") { ConfigMessage(revision: 0, config: .object([])).fields(&$0) },
            .init("reply", "What became of a command.") {
                ReplyMessage(id: nil, command: "", phase: .done, revision: 0).fields(&$0)
            },
            .init("log", "A line of the log.") { LogLine(level: "", time: 0, message: "").fields(&$0) },
            .init(
                "online", "Whether the station is connected; also its last will.", .text(["online", "offline"]), .text),
            .init("home-assistant", "Home Assistant's own form of discovery message.", .json, .json),
            .init(
                "openeew", "A JSON text that holds JSON: an object with exactly eight members, accelerations in gal.",
                .nested, .json),
            .init("settings", "The JSON Schema of the settings: `seismote config schema`.", .json, .json),
            trace.coded("trace-cbor", "The same in CBOR (RFC 8949).", .cbor),
            .init("trace-miniseed", "The same as miniSEED records, one for each channel.", .records, .mseed),
            .init("waveform", "miniSEED records of the samples at the full rate.", .records, .mseed),
            .init(network: "network-event", "An earthquake that several stations have seen, in versions.") {
                NetworkEventMessage().fields(&$0)
            },
            .init(network: "network-status", "How the detector of network events is.") {
                NetworkStatusMessage().fields(&$0)
            },
            .init(network: "network-confirmation", "A station's event is an earthquake that others have seen.") {
                NetworkConfirmation().fields(&$0)
            },
            .init(
                bare: "network-place",
                "Where a station is, as the operator has entered it; an empty message forgets that. Without the envelope."
            ) { NetworkPlaceMessage().fields(&$0) },
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

extension WarningMessage {
    fileprivate static let blank = WarningMessage(
        state: .coming, networkEvent: "", version: 1, alarm: false, arrival: 0, seconds: 0, intensity: 1, range: 1...1,
        distance: 0, magnitude: 0, issued: 0)
}

/// A field of a message as its declaration tells it, without a value.
struct DescribedField: Equatable {
    indirect enum Kind: Equatable {
        case number, integer, flag, time
        /// A whole number that is always this one.
        case constant(Int)
        case uuid
        /// - allowed: all texts that there may be; empty: any.
        case text(allowed: [String])
        /// An object with members that are declared elsewhere, and one with a number for each name.
        case tree, counts
        case any
        case list(Kind)
        case object([DescribedField])
    }

    var name: String
    var kind: Kind
    var presence: Field.Presence
    var unit: String
    var help: String
}

/// Collects the fields of one object.
struct FieldCollector: FieldVisitor {
    private(set) var fields: [DescribedField] = []

    private mutating func add(_ field: Field, name: String? = nil, _ kind: DescribedField.Kind) {
        fields.append(
            DescribedField(
                name: name ?? "\(field.name)", kind: kind, presence: field.presence, unit: "\(field.unit)",
                help: "\(field.help)"))
    }

    private static func object<T>(_ value: T, _ fields: (T, inout FieldCollector) -> Void) -> DescribedField.Kind {
        var inner = FieldCollector()
        fields(value, &inner)
        return .object(inner.fields)
    }

    mutating func visit(_ field: Field, _ value: Double?) { add(field, .number) }
    mutating func visit(_ field: Field, _ value: Int?) { add(field, .integer) }
    mutating func visit(_ field: Field, _ value: Bool?) { add(field, .flag) }
    mutating func visit(_ field: Field, _ value: String?, allowed: () -> [String]) {
        add(field, .text(allowed: allowed()))
    }
    mutating func visit(_ field: Field, _ values: [String]?) { add(field, .list(.text(allowed: []))) }
    mutating func visit(time field: Field, _ value: Int64?) { add(field, .time) }
    mutating func visit(_ field: Field, _ tree: Value?) { add(field, .tree) }
    mutating func visit(any field: Field, _ value: Value?) { add(field, .any) }
    mutating func visit(_ field: Field, _ counts: [NamedCount]) { add(field, .counts) }
    mutating func visit(_ field: Field, _ samples: ArraySlice<Double>) { add(field, .list(.number)) }
    mutating func visit(_ field: Field, _ flags: ArraySlice<UInt8>) { add(field, .list(.integer)) }

    mutating func visit<T>(_ field: Field, _ value: T?, blank: () -> T, _ fields: (T, inout FieldCollector) -> Void) {
        add(field, Self.object(value ?? blank(), fields))
    }

    mutating func visit<T>(_ field: Field, _ values: [T], blank: () -> T, _ fields: (T, inout FieldCollector) -> Void) {
        add(field, .list(Self.object(blank(), fields)))
    }

    mutating func visit<T>(
        _ field: Field, named name: String?, _ value: T, _ fields: (T, inout FieldCollector) -> Void
    ) { add(field, name: name, Self.object(value, fields)) }
}
