import Messages
import Values

/// A message as a journal gives it to the machine.
package struct NetworkMessage: Sendable {
    /// Sender of a message.
    package enum Kind: String, Sendable {
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
    package var token: UInt64
    package var kind: Kind
    /// Topic of a message that was published for all, with slashes; else what the detector has named it.
    package var name: String
    package var payload: [UInt8]
    /// When it came, nanoseconds of UTC; nil where that is not known.
    package var arrival: Int64?
    /// Whether a detector before this one may have had it.
    package var isAgain: Bool

    package init(
        token: UInt64 = 0, kind: Kind = .published, name: String, payload: [UInt8], arrival: Int64?,
        isAgain: Bool = false
    ) {
        (self.token, self.kind, self.name) = (token, kind, name)
        (self.payload, self.arrival, self.isAgain) = (payload, arrival, isAgain)
    }
}

/// A version of a network event, as it is published.
package struct NetworkVersion: Sendable, Equatable {
    package var eventID: String
    package var version: Int
    package var payload: [UInt8]

    package init(eventID: String, version: Int, payload: [UInt8]) {
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
package struct NetworkPublication: Sendable, Equatable {
    /// Under this number the machine is to be told when the broker has it; nil: it need not know.
    package var number: Int?
    package var topic: String
    package var payload: [UInt8]
    /// Where the broker can, it keeps the message for those who come later.
    package var isRetained: Bool
}

/// Effects to be carried out: first all that is for the journal, then the publications. A program that dies between the
/// two has published nothing that is not written down.
package struct NetworkEffects<Operation: Sendable>: Sendable {
    /// Operations of the journal, in this order: all of it, or nothing.
    package var operations: [Operation] = []
    /// In this order.
    package var publications: [NetworkPublication] = []
    /// For the operator, on standard error.
    package var lines: [String] = []

    package var isEmpty: Bool { operations.isEmpty && publications.isEmpty && lines.isEmpty }

    mutating func publish(_ topic: String, _ payload: [UInt8], number: Int? = nil, isRetained: Bool = false) {
        publications.append(.init(number: number, topic: topic, payload: payload, isRetained: isRetained))
    }
}

/// Options of the machine.
package struct NetworkOptions: Sendable {
    package var root = "seismote"
    /// Version of the program.
    package var version = ""
    package var isSettled = false
    package var confirms = false
    /// Prefix of Home Assistant's discovery; empty: it is told nothing.
    package var homeAssistant = ""
    package var statusSeconds = 60.0

    package init() {}
}

/// Topics of a network of stations.
package struct NetworkTopics: Sendable {
    package let root: String
    package let event: String
    /// The newest version of all.
    package let last: String
    package let status: String
    /// Where a detector on one broker learns that it has had all that was sent before.
    package let sync: String

    package init(root: String) {
        self.root = root
        event = "\(root)/network/event"
        last = "\(event)/last"
        status = "\(root)/network/status"
        sync = "\(root)/network/sync"
    }

    /// Topics that a detector has to hear, on one broker and on a cluster. (The places first, so that what was
    /// confirmed is known before what stations state.)
    package var heard: [String] {
        [
            Topics.place(of: "+", root: root), "\(root)/+/event/trigger", "\(root)/+/data/history/event/trigger",
            "\(root)/+/state/info", "\(root)/+/state/online", event,
        ]
    }

    /// Stations' newest messages on an event, as a broker retains them: what was lost on the way is noticed by them.
    package var retained: [String] { ["\(root)/+/event/current", "\(root)/+/event/last"] }
}
