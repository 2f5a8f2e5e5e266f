import Association
import Messages
import Values

/// Where the machine keeps what a successor needs, and how it learns what the broker has had. What is the same on every journal
/// is in ``NetworkMachine``; a journal has what differs. Pure: it says what is to be done.
protocol NetworkJournal: Sendable {
    /// A task for the journal.
    associatedtype Operation: Sendable
    typealias Effects = NetworkEffects<Operation>

    /// Whether the broker keeps what is to be retained, for those who subscribe later.
    static var brokerRetains: Bool { get }
    /// Whether it has kept the mark of each station with each message, so that messages out of it are not counted again.
    static var keepsMarks: Bool { get }
    /// Seconds after which learning ends without its marker.
    static var learningSeconds: Double { get }

    // MARK: Learning

    /// Sends a message that comes back when all has come that was sent before it.
    mutating func mark(_ boot: String, _ effects: inout Effects)
    /// Takes a message while it is not known what the broker has had.
    mutating func learn(_ message: NetworkMessage, _ boot: String, _ effects: inout Effects) -> LearningStep
    /// Messages that have waited for the end of learning, in the order in which they came.
    mutating func takePast() -> [NetworkMessage]
    /// Versions that are written down and were not published, in their order.
    /// - Parameter past: what has waited, of which the journal has noted all versions.
    func unsent(_ past: [NetworkMessage]) -> [NetworkVersion]

    // MARK: Versions of network events

    /// Writes a version down; the machine is told by this number when that is done.
    mutating func keep(_ version: NetworkVersion, number: Int, _ effects: inout Effects)
    /// The broker has acknowledged a version.
    mutating func setSent(_ version: NetworkVersion, _ effects: inout Effects)
    /// A version has come: written down, or published.
    /// - Parameters:
    ///   - isEnd: its event has ended.
    ///   - isNewest: all before it have been published.
    mutating func note(
        _ version: NetworkVersion, _ message: NetworkMessage, isEnd: Bool, isNewest: Bool, _ effects: inout Effects)

    // MARK: Messages of stations

    /// A message on an event that was taken.
    mutating func hold(_ message: NetworkMessage, of station: String, _ effects: inout Effects)
    /// Releases a message that is not needed any more.
    mutating func release(_ message: NetworkMessage, _ effects: inout Effects)
    /// A station has said something.
    mutating func setHeard(_ station: String, _ arrival: Int64?)
    mutating func setMark(_ mark: SequenceWatch.Mark, of station: String, _ effects: inout Effects)
    mutating func setOnline(_ isOnline: Bool, _ station: String, _ message: NetworkMessage, _ effects: inout Effects)
    /// - Parameter record: `state/info`, and when the station said something last.
    mutating func setInfo(
        _ record: StationRecord, of station: String, _ message: NetworkMessage, _ effects: inout Effects)
    /// The operator has entered the place of a station, or has forgotten it with an empty message.
    mutating func setEntered(_ station: String, _ message: NetworkMessage, _ effects: inout Effects)
    /// Reads a station's record that a detector has written down.
    /// - Returns: nil where it cannot be read; `isNews`: the station is to be set as it says. Else it is held or released.
    mutating func read(_ message: NetworkMessage, _ effects: inout Effects) -> (StationRecord, isNews: Bool)?

    // MARK: By the clock

    /// Once a second.
    /// - Parameters:
    ///   - now: nanoseconds of UTC.
    ///   - clock: seconds of a clock that does not go back.
    ///   - oldestNeeded: nanoseconds of UTC; nil: nothing is needed.
    mutating func beat(
        now: Int64, clock: Double, oldestNeeded: Int64?, _ watch: SequenceWatch, _ effects: inout Effects)
}

/// Use of a message while it is not known what the broker has had.
enum LearningStep: Sendable {
    /// It is taken as any other.
    case take
    /// It waits for the end of learning, or was of no use.
    case wait
    /// It was the marker: all that was before it has come.
    case end
}

/// Record of a station.
struct StationRecord: Sendable {
    /// Its `state/info`.
    var info: [UInt8]
    /// When it said something last, nanoseconds of UTC.
    var heard: Int64
    /// The newest messages of its runs, the run heard of last at the end.
    var marks: [SequenceWatch.Mark] = []
}

/// A message as a journal gives it to the machine.
struct NetworkMessage: Sendable {
    /// Sender of a message.
    enum Kind: String, Sendable {
        /// Anybody, by its topic.
        case published = ""
        /// A detector that wants to know what was in the queue before.
        case marker
        /// A version of a network event, written down before it is published.
        case version
        /// Record of a station, written down again so that it is never old.
        case station
    }

    /// Handle by which the journal knows it; the machine only hands it back. 0 where the journal needs none.
    var token: UInt64
    var kind: Kind
    /// Topic of a message that was published for all, with slashes; else what the detector has named it.
    var name: String
    var payload: [UInt8]
    /// When it came, nanoseconds of UTC; nil where that is not known.
    var arrival: Int64?
    /// Whether a detector before this one may have had it.
    var isAgain: Bool

    init(
        token: UInt64 = 0, kind: Kind = .published, name: String, payload: [UInt8], arrival: Int64?,
        isAgain: Bool = false
    ) {
        (self.token, self.kind, self.name) = (token, kind, name)
        (self.payload, self.arrival, self.isAgain) = (payload, arrival, isAgain)
    }
}

/// A version of a network event, as it is published.
struct NetworkVersion: Sendable, Equatable {
    var eventID: String
    var version: Int
    var payload: [UInt8]

    init(eventID: String, version: Int, payload: [UInt8]) {
        (self.eventID, self.version, self.payload) = (eventID, version, payload)
    }

    /// Nil where the message is none of ours.
    init?(_ tree: Value, _ payload: [UInt8]) {
        guard let read = NetworkEventReading(tree) else { return nil }
        self.init(eventID: read.eventID, version: read.version, payload: payload)
    }

    func isSame(_ other: Self) -> Bool { eventID == other.eventID && version == other.version }
}

/// A message for all.
struct NetworkPublication: Sendable, Equatable {
    /// Under this number the machine is to be told when the broker has it; nil: it need not know.
    var number: Int?
    var topic: String
    var payload: [UInt8]
    /// Where the broker can, it keeps the message for those who come later.
    var isRetained: Bool
}

/// Effects to be carried out: first all that is for the journal, then the publications. A program that dies between the
/// two has published nothing that is not written down.
struct NetworkEffects<Operation: Sendable>: Sendable {
    /// Operations of the journal, in this order: all of it, or nothing.
    var operations: [Operation] = []
    /// In this order.
    var publications: [NetworkPublication] = []
    /// For the operator, on standard error.
    var lines: [String] = []

    var isEmpty: Bool { operations.isEmpty && publications.isEmpty && lines.isEmpty }

    mutating func publish(_ topic: String, _ payload: [UInt8], number: Int? = nil, isRetained: Bool = false) {
        publications.append(.init(number: number, topic: topic, payload: payload, isRetained: isRetained))
    }
}

/// Options of the machine.
struct NetworkOptions: Sendable {
    var root = "seismote"
    /// Version of the program.
    var version = ""
    var isSettled = false
    var confirms = false
    /// Prefix of Home Assistant's discovery; empty: it is told nothing.
    var homeAssistant = ""
    var statusSeconds = 60.0
}

/// Topics of a network of stations.
struct NetworkTopics: Sendable {
    let root: String
    let event: String
    /// The newest version of all.
    let last: String
    let status: String
    /// Where a detector on one broker learns that it has had all that was sent before.
    let sync: String

    init(root: String) {
        self.root = root
        event = "\(root)/network/event"
        last = "\(event)/last"
        status = "\(root)/network/status"
        sync = "\(root)/network/sync"
    }

    /// Topics that a detector has to hear, on one broker and on a cluster. (The places first, so that what was
    /// confirmed is known before what stations state.)
    var heard: [String] {
        [
            Topics.place(of: "+", root: root), "\(root)/+/event/trigger", "\(root)/+/data/history/event/trigger",
            "\(root)/+/state/info", "\(root)/+/state/online", event,
        ]
    }

    /// Stations' newest messages on an event, as a broker retains them: what was lost on the way is noticed by them.
    var retained: [String] { ["\(root)/+/event/current", "\(root)/+/event/last"] }
}

/// Number of messages that are taken together, so that a batch takes no longer than a wanted time: a service looks at its
/// signals, its timers and its health socket only between two batches.
///
/// A batch begins at the largest number, where one commit of the database serves many messages. A batch that took too long
/// makes the next one smaller in proportion; a fast one lets it grow by half at most.
struct BatchLimit: Sendable {
    /// Most messages of the next batch, from 1 to ``largest``.
    private(set) var count: Int
    private let largest: Int
    private let wanted: Double

    /// - Parameters:
    ///   - largest: messages that are never exceeded, at least 1.
    ///   - wanted: seconds that a batch may take, above 0.
    init(largest: Int, wanted: Double) {
        (count, self.largest, self.wanted) = (largest, largest, wanted)
    }

    /// Takes what the last batch has cost.
    ///
    /// - Parameters:
    ///   - messages: how many there were.
    ///   - seconds: time that they took.
    mutating func took(_ messages: Int, seconds: Double) {
        guard messages > 0, seconds > 0 else { return }
        let fitting = Double(messages) * wanted / seconds
        // (A small batch tells little of a large one.)
        let most = max(Double(count), 1.5 * Double(messages))
        count = max(1, min(largest, Int(min(fitting, most))))
    }
}

/// A database on the detector's own disk, for one broker that retains messages and keeps a session. All that follows from some
/// messages is written down with them, in one transaction.
struct DiskJournal: NetworkJournal {
    enum Operation: Sendable, Equatable {
        /// A message of a station on an event.
        case message(station: String, payload: [UInt8], arrival: Int64)
        case info(station: String, payload: [UInt8])
        case mark(station: String, SequenceWatch.Mark)
        /// The machine is told of its number when it is written down.
        case version(number: Int, NetworkVersion)
        /// The broker has this version, and with `andBefore` all that were written down before it.
        case sent(eventID: String, version: Int, andBefore: Bool)
        /// Messages that came before this time (nanoseconds of UTC), and very old versions, are forgotten.
        case trim(before: Int64)
    }

    /// Content of the database when the program starts.
    struct Past: Sendable {
        /// The last versions, in their order.
        var versions: [(version: NetworkVersion, isSent: Bool)] = []
        /// Runs of each station, the one heard of last at the end.
        var marks: [(station: String, mark: SequenceWatch.Mark)] = []
        /// Each station with its newest `state/info`.
        var stations: [(id: String, info: [UInt8])] = []
        /// Messages on events, in the order in which they came.
        var log: [(station: String, payload: [UInt8], arrival: Int64)] = []
    }

    static let brokerRetains = true
    static let keepsMarks = true
    static let learningSeconds = 5.0
    /// Versions that are kept in mind.
    private static let most = 2000
    /// Seconds from one tidying to the next.
    private static let trimSeconds = 60.0
    /// Nanoseconds that messages are kept longer than is needed: cheap, and a clock may jump.
    private static let margin: Int64 = 1800 * 1_000_000_000

    private let topics: NetworkTopics
    /// The last versions in their order. Those that the broker has had have lost their payload.
    private var versions: [(version: NetworkVersion, isSent: Bool)] = []
    private var nextTrim = 0.0

    init(_ topics: NetworkTopics, _ past: Past) {
        self.topics = topics
        versions = past.versions
        for i in versions.indices where versions[i].isSent { versions[i].version.payload = [] }
    }

    // MARK: Learning

    private func marker(_ boot: String) -> [UInt8] { Array(#"{"boot":"\#(boot)"}"#.utf8) }

    /// Publishes a marker. All that was published and not noted comes back before it, because a session has one order.
    func mark(_ boot: String, _ effects: inout Effects) { effects.publish(topics.sync, marker(boot)) }

    func learn(_ message: NetworkMessage, _ boot: String, _ effects: inout Effects) -> LearningStep {
        guard message.name == topics.sync else { return .take }
        return message.payload == marker(boot) ? .end : .wait
    }

    func takePast() -> [NetworkMessage] { [] }

    func unsent(_ past: [NetworkMessage]) -> [NetworkVersion] {
        versions.filter { !$0.isSent }.map(\.version)
    }

    // MARK: Versions of network events

    mutating func keep(_ version: NetworkVersion, number: Int, _ effects: inout Effects) {
        effects.operations.append(.version(number: number, version))
        guard !versions.contains(where: { $0.version.isSame(version) }) else { return }
        versions.append((version, false))
        if versions.count > Self.most, versions[0].isSent { versions.removeFirst() }
    }

    mutating func setSent(_ version: NetworkVersion, _ effects: inout Effects) {
        setSent(version, andBefore: false, &effects)
    }

    private mutating func setSent(_ version: NetworkVersion, andBefore: Bool, _ effects: inout Effects) {
        if let at = versions.lastIndex(where: { $0.version.isSame(version) }) {
            let news = ((andBefore ? 0 : at)...at).filter { !versions[$0].isSent }
            guard !news.isEmpty else { return }
            for i in news { (versions[i].isSent, versions[i].version.payload) = (true, []) }
        }
        effects.operations.append(
            .sent(eventID: version.eventID, version: version.version, andBefore: andBefore))
    }

    /// Whatever run published it, it is said; and with what the broker retains, all that was before it.
    mutating func note(
        _ version: NetworkVersion, _ message: NetworkMessage, isEnd: Bool, isNewest: Bool, _ effects: inout Effects
    ) {
        if !message.isAgain { setSent(version, andBefore: isNewest, &effects) }
    }

    // MARK: Messages of stations

    func hold(_ message: NetworkMessage, of station: String, _ effects: inout Effects) {
        guard !message.isAgain, let arrival = message.arrival else { return }
        effects.operations.append(.message(station: station, payload: message.payload, arrival: arrival))
    }

    func release(_ message: NetworkMessage, _ effects: inout Effects) {}

    func setHeard(_ station: String, _ arrival: Int64?) {}

    func setMark(_ mark: SequenceWatch.Mark, of station: String, _ effects: inout Effects) {
        effects.operations.append(.mark(station: station, mark))
    }

    /// The broker retains it.
    func setOnline(
        _ isOnline: Bool, _ station: String, _ message: NetworkMessage, _ effects: inout Effects
    ) {}

    func setInfo(
        _ record: StationRecord, of station: String, _ message: NetworkMessage, _ effects: inout Effects
    ) {
        if !message.isAgain { effects.operations.append(.info(station: station, payload: record.info)) }
    }

    /// The broker retains it.
    func setEntered(_ station: String, _ message: NetworkMessage, _ effects: inout Effects) {}

    /// (Its rows are given to the machine at the start.)
    func read(_ message: NetworkMessage, _ effects: inout Effects) -> (StationRecord, isNews: Bool)? { nil }

    // MARK: By the clock

    mutating func beat(
        now: Int64, clock: Double, oldestNeeded: Int64?, _ watch: SequenceWatch, _ effects: inout Effects
    ) {
        guard clock >= nextTrim else { return }
        nextTrim = clock + Self.trimSeconds
        effects.operations.append(.trim(before: min(oldestNeeded ?? .max, now) - Self.margin))
    }
}

extension NetworkMachine where Journal == DiskJournal {
    /// Goes on where the run before has ended.
    init(
        _ options: NetworkOptions, _ association: AssociationOptions, boot: String, past: DiskJournal.Past
    ) {
        let topics = NetworkTopics(root: options.root)
        self.init(options, association, boot: boot, journal: DiskJournal(topics, past))
        let versions = past.versions.map { one in
            NetworkMessage(kind: .version, name: "", payload: one.version.payload, arrival: nil, isAgain: true)
        }
        let stations = past.stations.map { one in
            NetworkMessage(
                name: "\(options.root)/\(one.id)/state/info", payload: one.info, arrival: nil, isAgain: true)
        }
        let log = past.log.map { one in
            NetworkMessage(
                name: "\(options.root)/\(one.station)/event/trigger", payload: one.payload, arrival: one.arrival,
                isAgain: true)
        }
        restore(versions + stations + log, marks: past.marks)
    }
}
