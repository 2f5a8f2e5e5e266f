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
