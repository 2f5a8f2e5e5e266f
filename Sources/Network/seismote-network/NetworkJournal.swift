import Association
import Messages

/// Where the machine keeps what a successor needs, and how it learns what the broker has had. What is the same on every journal
/// is in ``NetworkMachine``; a journal has what differs. Pure: it says what is to be done.
package protocol NetworkJournal: Sendable {
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
package enum LearningStep: Sendable {
    /// It is taken as any other.
    case take
    /// It waits for the end of learning, or was of no use.
    case wait
    /// It was the marker: all that was before it has come.
    case end
}

/// Record of a station.
package struct StationRecord: Sendable {
    /// Its `state/info`.
    var info: [UInt8]
    /// When it said something last, nanoseconds of UTC.
    var heard: Int64
    /// The newest messages of its runs, the run heard of last at the end.
    var marks: [SequenceWatch.Mark] = []
}
