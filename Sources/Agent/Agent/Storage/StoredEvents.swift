import Commands
import Messages
import Settings
import Spool
import Values

extension CodedError {
    fileprivate static let unknownEvent = CodedError(
        "/event_id", .unavailable, "this event is not kept, or there was none of this id")
}

/// `event`: and then, where it was asked for, its waveform.
struct EventRead: StorageTask {
    let id: String
    let topic: String?
    private var waveform: Snapshot?

    init(id: String, topic: String?) { (self.id, self.topic) = (id, topic) }

    mutating func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        if waveform != nil { return try waveform?.step(&outbox, wall: wall) }
        guard let newest = try outbox.messages(of: id).last, let event = try? JSONReader.read(newest.payload) else {
            return .failed(.unknownEvent)
        }
        guard let topic else {
            let noted = try EventConfirmation.note(outbox.spool.note(.confirmation, of: id), in: event)
            guard let label = try outbox.spool.label(of: id), case .object(let members) = noted else {
                return .done(["event": noted])
            }
            return .done(["event": .object(members + [.init("label", .string(label))])])
        }
        waveform = Snapshot(event: id, event, topic: topic, packetLimit: outbox.packetLimit)
        return nil
    }
}

/// `label`.
struct Labelling: StorageTask {
    let id: String
    let label: String?

    func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        guard try outbox.knows(id) else { return .failed(.unknownEvent) }
        try outbox.spool.setLabel(label, of: id)
        return .done(["event_id": .string(id), "label": .string(label ?? "none")])
    }
}

/// `confirm-event`.
struct Confirming: StorageTask {
    let confirmation: EventConfirmation

    func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        let id = confirmation.eventID
        guard try outbox.knows(id) else { return .failed(.unknownEvent) }
        try outbox.spool.setNote(.confirmation, confirmation.note, of: id)
        return .done(["event_id": .string(id), "confirmed": .bool(confirmation.isConfirmed)])
    }
}

/// `events`.
struct EventList: StorageTask {
    let range: ClosedRange<Int64>
    let minimum: Double?
    let likely: String?
    let isLabelled: Bool
    let limit: Int
    let after: Int64
    let room: Int?

    func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        let (labels, confirmations) = (try outbox.notes(.label), try outbox.notes(.confirmation))
        let filter = EventFilter(
            range: range, minimum: minimum, likely: likely, labels: labels, isLabelled, confirmations: confirmations)
        var (found, bytes, matches, next) = ([[UInt8]](), 0, 0, Int64?.none)
        var (last, isFull) = (Int64(0), false)
        let most = min(EventFilter.mostBytes, room.map { $0 - EventFilter.headBytes } ?? .max)
        do throws(SpoolError) {
            try outbox.spool.forEachEnd(where: { filter.takes(id: $0) }) { message in
                guard filter.takes(message.payload) else { return }
                matches += 1
                guard after == 0 || message.key < after else { return }
                let payload = filter.labelled(message)
                bytes += payload.count + 1
                if !isFull, found.count < limit, bytes <= most || found.isEmpty {
                    found.append(payload)
                    last = message.key
                } else {
                    (isFull, next) = (true, last)
                }
            }
        } catch { try outbox.met(error) }
        return .made(ReplyResult(events: found, matches: matches, next: next))
    }
}

extension Outbox {
    /// Whether anything of an event is kept.
    fileprivate mutating func knows(_ event: String) throws(SpoolError) -> Bool {
        try !spool.messages(of: event, .onset ... .end, count: 1).isEmpty
    }

    /// As far as they can be read.
    fileprivate mutating func notes(_ kind: Spool.EventNote) throws(SpoolError) -> [String: String] {
        do throws(SpoolError) { return try spool.notes(kind) } catch {
            try met(error)
            return [:]
        }
    }

    /// Messages of an event, as far as they can be read.
    fileprivate mutating func messages(of event: String) throws(SpoolError) -> [StoredMessage] {
        do throws(SpoolError) { return try spool.messages(of: event, .onset ... .end) } catch {
            try met(error)
            return []
        }
    }
}

/// Which events are wanted.
struct EventFilter {
    /// Bytes of the events in one reply.
    static let mostBytes = 262_144
    /// Bytes around them: two numbers.
    static let headBytes = 80
    /// Characters of the time in an event's id.
    private static let stampCount = 19

    private let first: String
    private let last: String
    private let minimum: Double?
    private let likely: String?
    private let labels: [String: String]
    private let isLabelled: Bool
    private let confirmations: [String: String]

    /// - Parameters:
    ///   - labels: of events, by their ids.
    ///   - confirmations: what a network of stations says of events, by their ids; see ``EventConfirmation/note``.
    init(
        range: ClosedRange<Int64>, minimum: Double?, likely: String?, labels: [String: String], _ isLabelled: Bool,
        confirmations: [String: String]
    ) {
        (self.labels, self.isLabelled, self.confirmations) = (labels, isLabelled, confirmations)
        first = Timestamp(nanoseconds: range.lowerBound).stamp
        last = Timestamp(nanoseconds: range.upperBound).stamp
        (self.minimum, self.likely) = (minimum, likely)
    }

    /// By the onset, which is the end of the id.
    func takes(id: String) -> Bool {
        let stamp = String(decoding: Array(id.utf8.suffix(Self.stampCount)), as: UTF8.self)
        return stamp >= first && stamp <= last && (!isLabelled || labels[id] != nil)
    }

    /// The object of an event, with what a network of stations says of it, and its label as the last member.
    func labelled(_ message: StoredMessage) -> [UInt8] {
        var payload = message.payload
        if let note = message.header.event.flatMap({ confirmations[$0.id] }), let event = try? JSONReader.read(payload)
        {
            payload = EventConfirmation.note(note, in: event).json()
        }
        guard let label = message.header.event.flatMap({ labels[$0.id] }) else { return payload }
        payload.removeLast()
        payload += Array(",\"label\":\"\(label)\"}".utf8)
        return payload
    }

    func takes(_ payload: [UInt8]) -> Bool {
        guard minimum != nil || likely != nil else { return true }
        guard let event = (try? JSONReader.read(payload)).map(StationEventMembers.init) else { return false }
        if let likely, event.likely != likely { return false }
        guard let minimum else { return true }
        // (Events of earlier versions have it in the list alone.)
        return event.mmi ?? event.intensities.first { $0.scale == "mmi" }?.value ?? -1 >= minimum
    }
}
