import Seismology
import Values

/// Turns payloads into finished messages: topic, delivery, envelope and bytes. It owns the buffer that all messages are
/// written into and the sequence number of each stream, so sending allocates nothing once the buffer has grown.
public struct Messenger: Sendable {
    public let topics: Topics
    /// UUID of this run.
    public let boot: String
    var json = JSONWriter(capacity: 8192)
    private var sequence = [Int](repeating: 0, count: Stream.allCases.count)
    private var headers: [PublicationHeader]
    private var digest = DigestSchedule()
    private var cbor = CBORWriter()
    private var traceRecords: TraceRecords?
    private var streamRecords: TraceRecords?

    /// - Parameters:
    ///   - boot: UUID of this run, as text.
    ///   - traceQoS: quality of service of traces, 0 or 1.
    ///   - traces: how they are written.
    public init(topics: Topics, boot: String, traceQoS: Int = 1, traces: TraceForm = .json) {
        self.topics = topics
        self.boot = boot
        traceRecords = traces.records
        headers = Stream.allCases.map { stream in
            var header = stream.delivery.header(topic: topics.topic(of: stream))
            if stream == .trace {
                header.qos = traceQoS
                header.contentType = traces.contentType
            }
            return header
        }
    }

    /// How the traces of a stream travel from now on.
    /// - Parameters:
    ///   - qos: 0 or 1.
    ///   - form: how they are written.
    public mutating func setStream(qos: Int, form: TraceForm) {
        streamRecords = form.records
        headers[Stream.stream.rawValue].qos = qos
        headers[Stream.stream.rawValue].contentType = form.contentType
    }

    /// Goes on with the sequence numbers of another messenger.
    public mutating func takeOver(_ old: Messenger) { (sequence, digest) = (old.sequence, old.digest) }

    // MARK: State

    /// `online` or `offline`, plain text. The same message as `offline` makes the last will.
    public func send(online: Bool, to sink: PublicationSink) {
        let text: StaticString = online ? "online" : "offline"
        text.withUTF8Buffer { sink(headers[Stream.online.rawValue], UnsafeRawBufferPointer($0)) }
    }

    public mutating func send(_ message: InfoMessage, time: Int64, to sink: PublicationSink) {
        begin(.info, time)
        message.fields(topics: topics, &json)
        finish(.info, sink)
    }

    public mutating func send(_ message: ConfigMessage, time: Int64, to sink: PublicationSink) {
        begin(.config, time)
        message.fields(&json)
        finish(.config, sink)
    }

    /// The JSON Schema of the configuration, as it is: an envelope inside would be unknown keywords to a validator.
    public mutating func send(schema: Value, to sink: PublicationSink) {
        json.removeAll()
        json.value(schema)
        json.withBytes { sink(headers[Stream.configSchema.rawValue], $0) }
    }

    /// The summary, also as the digest when that is due, and what an overview of many stations needs of it.
    public mutating func send(
        _ message: SummaryMessage, time: Int64, quality: TimeQuality, to sink: PublicationSink
    ) {
        begin(.summary, time, quality)
        message.fields(&json)
        finish(.summary, sink)
        if digest.isDue(message, at: time) { json.withBytes { sink(headers[Stream.digest.rawValue], $0) } }
        begin(.level, time)
        message.levelFields(synced: quality.synced, &json)
        finish(.level, sink)
    }

    public mutating func send(_ message: HealthMessage, time: Int64, to sink: PublicationSink) {
        begin(.health, time)
        message.fields(&json)
        finish(.health, sink)
    }

    public mutating func send(_ message: UpdateMessage, time: Int64, to sink: PublicationSink) {
        begin(.update, time)
        message.fields(&json)
        finish(.update, sink)
    }

    /// A fault that is there now.
    public mutating func send(_ message: AlertMessage, time: Int64, to sink: PublicationSink) {
        begin(.alert, time)
        message.fields(&json)
        json.endObject()
        let header = Stream.alert.delivery.header(topic: topics.alert(message.code))
        json.withBytes { sink(header, $0) }
    }

    /// A fault that is solved: the retained message is emptied.
    public func clearAlert(_ code: String, to sink: PublicationSink) {
        sink(Stream.alert.delivery.header(topic: topics.alert(code)), UnsafeRawBufferPointer(start: nil, count: 0))
    }

    // MARK: Events

    /// An onset, update or end; it also goes out, byte for byte the same, as the current event or, when it is an end, as the
    /// last one: then there is no current event any more. Ends do not expire.
    public mutating func send(
        _ message: EventMessage, time: Int64, quality: TimeQuality, to sink: PublicationSink
    ) {
        begin(.trigger, time, quality)
        message.fields(&json)
        json.endObject()
        var header = headers[Stream.trigger.rawValue]
        if message.kind == .end { header.expiry = nil }
        header.event = EventMark(id: message.eventID, part: message.kind.part)
        json.withBytes { bytes in
            sink(header, bytes)
            sink(headers[(message.kind == .end ? Stream.last : .current).rawValue], bytes)
        }
        if message.kind == .end { clearCurrentEvent(to: sink) }
    }

    /// The number of the newest message of an event.
    public var lastEventNumber: Int { sequence[Stream.trigger.rawValue] - 1 }

    /// The last event once more, with what has been learned of it since: the retained message alone, with the number of
    /// the end, which it is.
    public mutating func sendLast(
        _ message: EventMessage, number: Int, time: Int64, quality: TimeQuality, to sink: PublicationSink
    ) {
        json.removeAll()
        json.isSingle = Stream.last.isSingle
        json.beginObject()
        Envelope(station: topics.id, boot: boot, number: number, time: time, quality: quality).fields(&json)
        message.fields(&json)
        finish(.last, sink)
    }

    /// No event is open: the retained message is emptied.
    func clearCurrentEvent(to sink: PublicationSink) {
        sink(headers[Stream.current.rawValue], UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Sends a warning of an earthquake that the network has seen.
    public mutating func send(_ message: WarningMessage, to sink: PublicationSink) {
        begin(.warning, message.issued)
        message.fields(&json)
        finish(.warning, sink)
    }

    // MARK: Data

    /// Vibration of an interval.
    public mutating func send(
        _ message: VibrationMessage, time: Int64, quality: TimeQuality, to sink: PublicationSink
    ) {
        begin(.vibration, time, quality)
        message.fields(&json)
        finish(.vibration, sink)
    }

    /// Natural modes of a period.
    public mutating func send(
        _ message: ModesMessage, time: Int64, quality: TimeQuality, to sink: PublicationSink
    ) {
        begin(.modes, time, quality)
        message.fields(&json)
        finish(.modes, sink)
    }

    /// A block of traces.
    /// - Parameters:
    ///   - stream: `.trace`, or `.stream` for those of a while.
    ///   - time: of the first sample, the decimation filter's delay taken off.
    public mutating func send(
        _ block: TraceBlock, as stream: Stream = .trace, time: Int64, quality: TimeQuality, to sink: PublicationSink
    ) {
        let header = headers[stream.rawValue]
        switch header.contentType {
        case .mseed where stream == .trace: traceRecords?.withRecords(of: block, time: time) { sink(header, $0) }
        case .mseed: streamRecords?.withRecords(of: block, time: time) { sink(header, $0) }
        case .cbor:
            cbor.removeAll()
            cbor.beginObject()
            Envelope(station: topics.id, boot: boot, number: number(stream), time: time, quality: quality).fields(&cbor)
            block.fields(&cbor)
            cbor.endObject()
            cbor.withBytes { sink(header, $0) }
        default:
            begin(stream, time, quality)
            block.fields(&json)
            finish(stream, sink)
        }
    }

    /// The header of the messages of an event's waveform, for a `WaveformWriter`.
    public func waveformHeader(eventID: String) -> PublicationHeader {
        var header = Stream.waveform.delivery.header(topic: topics.waveform(eventID: eventID))
        header.event = EventMark(id: eventID, part: .waveform)
        return header
    }

    // MARK: Commands

    /// The bytes of a reply, for those who keep them to send them again.
    /// - Parameters:
    ///   - made: takes the place of the message's empty result.
    ///   - time: nanoseconds of UTC.
    public mutating func reply(_ message: ReplyMessage, made: ReplyResult? = nil, time: Int64) -> [UInt8] {
        // The result, an empty object, is the last member.
        if let made, made.isCBOR {
            cbor.removeAll()
            cbor.beginObject()
            Envelope(station: topics.id, boot: boot, number: number(.reply), time: time, quality: nil).fields(&cbor)
            message.fields(&cbor)
            return cbor.withBytes { [UInt8]($0.dropLast(2)) } + made.bytes + [0xff]
        }
        begin(.reply, time)
        message.fields(&json)
        json.endObject()
        guard let made else { return json.bytes }
        return [UInt8](json.bytes.dropLast(3)) + made.bytes + [UInt8(ascii: "}")]
    }

    /// Returns quality of service, retention and content type of a reply.
    public static func header(_ destination: ReplyDestination, isCBOR: Bool = false) -> PublicationHeader {
        var header = Stream.reply.delivery.header(topic: destination.topic)
        if isCBOR { header.contentType = .cbor }
        header.correlation = destination.correlation
        return header
    }

    public mutating func send(_ line: LogLine, to sink: PublicationSink) {
        begin(.log, line.time)
        line.fields(&json)
        json.endObject()
        let header = Stream.log.delivery.header(topic: topics.log(level: line.level))
        json.withBytes { sink(header, $0) }
    }

    // MARK: Envelope

    private mutating func begin(_ stream: Stream, _ time: Int64, _ quality: TimeQuality? = nil) {
        json.removeAll()
        json.isSingle = stream.isSingle
        json.beginObject()
        let station = stream == .info ? nil : topics.id
        Envelope(station: station, boot: boot, number: number(stream), time: time, quality: quality).fields(&json)
    }

    /// The next number of a stream.
    private mutating func number(_ stream: Stream) -> Int {
        sequence[stream.rawValue] += 1
        return sequence[stream.rawValue] - 1
    }

    private mutating func finish(_ stream: Stream, _ sink: PublicationSink) {
        json.endObject()
        json.withBytes { sink(headers[stream.rawValue], $0) }
    }
}

extension EventMessage.Kind {
    fileprivate var part: EventMark.Part {
        switch self {
        case .onset: .onset
        case .update: .update
        case .end: .end
        }
    }
}

extension Topics {
    /// Topic of a stream; of alerts, waveforms, replies and log lines, which have one for each code, event, request and level, the prefix.
    package func topic(of stream: Stream) -> String {
        switch stream {
        case .online: online
        case .info: info
        case .config: config
        case .configSchema: configSchema
        case .summary: summary
        case .health: health
        case .alert: alertPrefix
        case .trigger: trigger
        case .last: last
        case .current: current
        case .level: level
        case .digest: digest
        case .trace: trace
        case .waveform: waveformPrefix
        case .stream: self.stream
        case .vibration: vibration
        case .modes: modes
        case .update: update
        case .warning: warning
        case .reply: replyPrefix
        case .log: logPrefix
        }
    }
}

/// Which summaries are digests, too: one every ten seconds, and the one in which the state of the station is another.
struct DigestSchedule: Sendable {
    private static let interval: Int64 = 10_000_000_000

    private struct State: Equatable {
        var (triggered, valid, alarm) = (false, false, false)
        var likely: EventClass.Likely?
        var isCertain = false
    }

    private var last: (state: State, time: Int64)?

    mutating func isDue(_ summary: SummaryMessage, at time: Int64) -> Bool {
        let state = State(
            triggered: summary.triggered, valid: summary.valid, alarm: summary.alarm,
            likely: summary.eventClass?.likely, isCertain: summary.eventClass?.isCertain == true)
        // (A window is at least a second, so that half of one is no other second.)
        if let last, last.state == state, last.time <= time, time - last.time < Self.interval - 500_000_000 {
            return false
        }
        last = (state, time)
        return true
    }
}

/// The members that the messages of a stream begin with, of a station of any version: which message of which run it is.
public struct MessageStamp: Sendable {
    private let tree: Value
    public init(_ message: Value) { tree = message }

    /// The run of the sender.
    public var boot: String? { tree["boot"]?.rawText }
    /// Number of the message in its stream.
    public var sequence: Int64? { tree["seq"]?.integer }
    /// The same where it fits into the machine's word.
    public var number: Int? { tree["seq"]?.whole }
    /// Nanoseconds of UTC, of any year.
    public var time: Int64? { tree["t"]?.anyTime }
}
