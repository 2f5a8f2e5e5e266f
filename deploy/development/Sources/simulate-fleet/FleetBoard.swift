import Messages
import Platform
import Values

/// State that the parts of a simulated fleet share, each of which is a thread: counts, earthquakes, and what has become
/// of the messages of events.
final class FleetBoard: Sendable {
    /// A number that all threads add to.
    final class Counter: Sendable {
        private let value = Atomic<Int>(0)

        func add(_ number: Int = 1) { _ = value.wrappingAdd(number, ordering: .relaxed) }
        var count: Int { value.load(ordering: .relaxed) }
    }

    /// A message of an event, and the broker's answer.
    struct Sent: Sendable {
        var event: EventMark
        /// Nanoseconds of UTC.
        var time: Int64
        /// Nil when there was none.
        var answer: Int64?
        /// Reason code of MQTT 5; from 128 on it is a refusal.
        var reason: Int32 = 0

        private static let names = ["onset", "update", "end", "waveform"]

        var json: Value {
            [
                "event_id": .string(event.id), "event_type": .string(Self.names[event.part.rawValue]),
                "sent": .double(Double(time) / 1e9), "answered": answer.map { .double(Double($0) / 1e9) } ?? .null,
                "reason": .int(Int64(reason)),
            ]
        }
    }

    /// Stations that the broker has taken in, and those that are on their way.
    let connected = Counter()
    let arriving = Counter()
    let onsets = Counter()
    /// Messages of QoS 0 and 1.
    let published = (Counter(), Counter())
    /// Acknowledged messages of QoS 1.
    let acknowledged = Counter()
    let refused = Counter()
    /// Messages of events of stations that had no connection; an agent would have kept them.
    let unsent = Counter()
    let drops = Counter()
    let resent = Counter()
    /// Parts that have come to their end.
    let ended = Counter()
    private let earthquakes = Mutex<[SimulatedEarthquake]>([])
    private let notes = Mutex<[Sent]>([])
    /// Whether anybody wants to know what has become of each message.
    let isNoting: Bool

    init(isNoting: Bool) { self.isNoting = isNoting }

    func strike(_ earthquake: SimulatedEarthquake) { earthquakes.withLock { $0.append(earthquake) } }

    /// Earthquakes after so many.
    func earthquakes(after count: Int) -> [SimulatedEarthquake] { earthquakes.withLock { Array($0.dropFirst(count)) } }

    func note(_ sent: Sent) {
        if isNoting { notes.withLock { $0.append(sent) } }
    }

    /// Notes since the last call.
    func takeNotes() -> [Sent] {
        notes.withLock { notes in
            defer { notes = [] }
            return notes
        }
    }
}
