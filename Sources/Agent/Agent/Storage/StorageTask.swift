import Commands
import Messages
import Settings
import Spool

/// What a command asks of the disk, while it is being carried out: a part in each round of the storage thread, so that
/// what must be written down at once never waits for it.
enum StorageTask {
    case snapshot(Snapshot)
    case history(HistoryRead)
    case resend(Resending)
    /// Done in one step.
    /// - room: bytes that the result may have; nil: any number.
    case events(number: Int, StoredQuery, room: Int? = nil)

    var number: Int {
        switch self {
        case .snapshot(let one): one.number
        case .history(let one): one.number
        case .resend(let one): one.number
        case .events(let number, _, _): number
        }
    }

    /// The newest samples may have to come from the thread that samples: the time up to which they are wanted (ns of UTC),
    /// and until when they are waited for (monotonic, ns); nil: they are here, or are not waited for.
    var waitsFor: (end: Int64, until: Int64)? {
        get {
            switch self {
            case .snapshot(let one) where one.pieces == nil && one.event == nil: (one.range.upperBound, one.beginsAt)
            case .history(let one) where one.pieces == nil: (one.levels.end - 1, one.beginsAt)
            default: nil
            }
        }
        set {
            guard let time = newValue?.until else { return }
            switch self {
            case .snapshot(var one):
                one.beginsAt = time
                self = .snapshot(one)
            case .history(var one):
                one.beginsAt = time
                self = .history(one)
            default: break
            }
        }
    }

    /// - Parameters:
    ///   - room: bytes that the result may have; nil: any number.
    ///   - now: of the monotonic clock (ns).
    init(_ number: Int, _ query: StoredQuery, room: Int? = nil, topics: Topics, now: Int64) {
        switch query {
        case .history(let range, let step, let cbor):
            self = .history(HistoryRead(number: number, range, step: step, cbor: cbor, room: room, now: now))
        case .resend(let stream, let boot, let wanted):
            self = .resend(Resending(number: number, stream: stream, boot: boot, wanted: wanted, topics: topics))
        case .events, .event, .label, .confirm: self = .events(number: number, query, room: room)
        }
    }
}

extension Outbox {
    /// Goes on with a task.
    /// - Parameters:
    ///   - now: of the monotonic clock; `wall`: of UTC (ns).
    /// - Returns: what became of it, when it is over.
    mutating func step(_ task: inout StorageTask, now: Int64, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        if let wait = task.waitsFor, !hasAll(until: wait.end), now < wait.until { return nil }
        begins(task.number)
        let outcome = try carryOn(&task, wall: wall)
        return isWhole ? outcome : outcome?.incomplete
    }

    private mutating func carryOn(_ task: inout StorageTask, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        switch task {
        case .snapshot(var one):
            let outcome = try step(&one, wall: wall)
            task = .snapshot(one)
            return outcome
        case .history(var one):
            let outcome = try step(&one)
            task = .history(one)
            return outcome
        case .resend(var one):
            let outcome = try step(&one, wall: wall)
            task = .resend(one)
            return outcome
        case .events(_, .events(let range, let minimum, let likely, let labelled, let limit, let after), let room):
            let (labels, confirmations) = (try notes(.label), try notes(.confirmation))
            let filter = EventFilter(
                range: range, minimum: minimum, likely: likely, labels: labels, labelled, confirmations: confirmations)
            return .made(try events(filter, limit: limit, after: after, room: room))
        case .events(let number, .event(let id, let topic), _):
            guard let newest = try parts(of: id, .onset ... .end).last,
                let event = try? JSONReader.read(newest.payload)
            else { return .failed(Self.unknownEvent) }
            guard let topic else {
                let noted = try EventConfirmation.note(spool.note(.confirmation, of: id), in: event)
                guard let label = try spool.label(of: id), case .object(let members) = noted else {
                    return .done(["event": noted])
                }
                return .done(["event": .object(members + [.init("label", .string(label))])])
            }
            task = .snapshot(
                Snapshot(number: number, event: id, event, topic: topic, packetLimit: packetLimit))
            return nil
        case .events(_, .label(let id, let label), _):
            guard try !spool.messages(of: id, .onset ... .end, count: 1).isEmpty else {
                return .failed(Self.unknownEvent)
            }
            try spool.setLabel(label, of: id)
            return .done(["event_id": .string(id), "label": .string(label ?? "none")])
        case .events(_, .confirm(let confirmation), _):
            guard try !spool.messages(of: confirmation.eventID, .onset ... .end, count: 1).isEmpty else {
                return .failed(Self.unknownEvent)
            }
            try spool.setNote(.confirmation, confirmation.note, of: confirmation.eventID)
            return .done([
                "event_id": .string(confirmation.eventID), "confirmed": .bool(confirmation.isConfirmed),
            ])
        case .events: return nil
        }
    }

    /// As far as they can be read.
    private mutating func notes(_ kind: Spool.EventNote) throws(SpoolError) -> [String: String] {
        do throws(SpoolError) { return try spool.notes(kind) } catch {
            try met(error)
            return [:]
        }
    }

    /// Messages of an event, as far as they can be read.
    private mutating func parts(
        of event: String, _ parts: ClosedRange<EventMark.Part>
    ) throws(SpoolError) -> [StoredMessage] {
        do throws(SpoolError) { return try spool.messages(of: event, parts) } catch {
            try met(error)
            return []
        }
    }

    private static let unknownEvent = CodedError(
        "/event_id", .unavailable, "this event is not kept, or there was none of this id")

    /// Whether the ring goes on beyond a time.
    func hasAll(until end: Int64) -> Bool {
        guard let newest = spool.newestSegment else { return false }
        return newest.end >= end
    }

    private mutating func events(
        _ filter: EventFilter, limit: Int, after: Int64, room: Int?
    ) throws(SpoolError) -> ReplyResult {
        var (found, bytes, matches, next) = ([[UInt8]](), 0, 0, Int64?.none)
        var (last, isFull) = (Int64(0), false)
        let most = min(EventFilter.mostBytes, room.map { $0 - EventFilter.headBytes } ?? .max)
        do throws(SpoolError) {
            try spool.forEachEnd(where: { filter.takes(id: $0) }) { message in
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
        } catch { try met(error) }
        return ReplyResult(events: found, matches: matches, next: next)
    }
}

/// Which events are wanted.
struct EventFilter {
    /// Of the events in one reply.
    static let mostBytes = 262_144
    /// Of what stands around them: two numbers.
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
        guard let event = try? JSONReader.read(payload) else { return false }
        if let likely, event["class"]?["likely"] != .string(likely) { return false }
        guard let minimum else { return true }
        return mmi(event) ?? -1 >= minimum
    }

    /// (Events of earlier versions have it in the list alone.)
    private func mmi(_ event: Value) -> Double? {
        if let value = event["mmi"]?.number { return value }
        guard case .array(let all)? = event["intensity"] else { return nil }
        return all.first { $0["scale"] == "mmi" }?["value"]?.number
    }
}
