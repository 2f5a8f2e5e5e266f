import MQTT
import Messages
import MiniSEED
import Spool
import Values

/// A stretch of the waveform ring, or the waveform of an event, on its way into the outbox: some pieces in each round.
struct Snapshot: StorageTask {
    /// Bytes of a message at most, where the broker takes as many; a record is never divided.
    static let messageBytes = 65_536
    /// Pieces of the ring in a round.
    static let piecesInARound = 16
    /// How long the newest samples may take to come from the sampling thread (ns).
    static let flushTime: Int64 = 1_000_000_000

    private let range: ClosedRange<Int64>
    private let header: PublicationHeader
    /// Start by the monotonic clock: at this time, or when the ring has all.
    private var beginsAt: Int64
    /// Pieces that are still to be read; nil before the beginning.
    private var pieces: ArraySlice<RingSegment>?
    /// m/s² of a count, of the ring's pieces.
    private var unit: Double?
    /// The event whose waveform it is, the object of its newest message, and how far the reading is (key on the disk).
    private var event: (id: String, object: Value, key: Int64)?
    /// Largest message that the broker takes.
    private let messageBytes: Int
    /// Bytes of a record that has no room in any message.
    private var tooLarge: Int?
    /// Whole records that are in no message yet.
    private var records: [UInt8] = []
    private var totals = Totals()

    private struct Totals {
        var bytes = 0
        var messages = 0
        var records = 0
        var samples = 0
        var gaps = 0
        var first: Int64?
        var last: Int64?
        var hash = SHA256()
    }

    /// - Parameters:
    ///   - now: of the monotonic clock (ns).
    ///   - packetLimit: bytes of a packet at most; nil: nobody has said it.
    init(from: Int64, to: Int64, topic: String, now: Int64, packetLimit: Int? = nil) {
        range = from...max(from, to)
        var header = Stream.waveform.delivery.header(topic: topic)
        header.isHistory = true
        // It can be asked for again: it never takes the place of what waits for the broker and is there only once.
        header.priority = .trace
        self.header = header
        let room = packetLimit.map { $0 - Link.packetSize(header, payload: 0) } ?? Self.messageBytes
        messageBytes = min(Self.messageBytes, max(0, room))
        beginsAt = now + Self.flushTime
    }

    /// Waveform of an event.
    /// - Parameter object: of its newest message.
    init(event id: String, _ object: Value, topic: String, packetLimit: Int? = nil) {
        self.init(from: .min, to: .max, topic: topic, now: 0, packetLimit: packetLimit)
        (event, pieces) = ((id, object, 0), [])
    }

    var topic: String? { header.topic }

    var waitsFor: (end: Int64, until: Int64)? {
        get { pieces == nil ? (range.upperBound, beginsAt) : nil }
        set { beginsAt = newValue?.until ?? beginsAt }
    }

    /// The next piece of the ring.
    private mutating func nextPiece() -> RingSegment? {
        guard let piece = pieces?.popFirst() else { return nil }
        unit = piece.unit ?? unit
        return piece
    }

    /// Adds what lies in the range of a piece's records; a record that is damaged ends the piece.
    mutating func add(_ bytes: [UInt8]) {
        var cut = [UInt8]()
        let result: MiniSEEDCut.Result
        do throws(MiniSEEDError) { result = try MiniSEEDCut.append(bytes, range, to: &cut) } catch { return }
        guard let first = result.first, let last = result.last, result.rate > 0 else { return }
        if let end = totals.last, abs(Double(first - end) * result.rate / 1e9 - 1) > 0.5 { totals.gaps += 1 }
        totals.first = min(totals.first ?? first, first)
        totals.last = last
        totals.records += result.records
        // Of each axis.
        totals.samples += result.samples / 3
        records += cut
    }

    /// A whole message of what there is.
    /// - Parameter isLast: also one that is not full; nil then: there is nothing left.
    mutating func message(isLast: Bool) -> [UInt8]? {
        guard isLast || records.count > messageBytes, !records.isEmpty, tooLarge == nil else { return nil }
        var end = 0
        let messageBytes = self.messageBytes
        records.withUnsafeBytes { all in
            while end < all.count {
                let rest = UnsafeRawBufferPointer(rebasing: all[end...])
                guard let length = try? MiniSEEDParser.recordLength(rest), length > 0 else {
                    end = all.count
                    return
                }
                if end > 0, end + length > messageBytes { return }
                end += length
            }
        }
        guard end <= messageBytes else {
            tooLarge = end
            return nil
        }
        let message = Array(records[..<end])
        records.removeFirst(end)
        totals.messages += 1
        totals.bytes += message.count
        totals.hash.update(message)
        return message
    }

    /// Outcome, when all is on its way.
    var outcome: OrderOutcome {
        if let tooLarge {
            return .failed(
                CodedError(
                    "", .tooLarge, "A record of the waveform is larger than the broker's maximum packet has room for.",
                    got: .int(Int64(tooLarge)), allowed: "at most \(messageBytes) bytes of payload on this topic"))
        }
        guard let first = totals.first, let last = totals.last, totals.messages > 0 else {
            if let event { return .done(["event": event.object, "messages": 0]) }
            return .failed(CodedError("", .unavailable, "the waveform ring has nothing of that time"))
        }
        func number(_ value: Int) -> Value { .int(Int64(value)) }
        let told: Value = [
            "topic": .string(header.topic), "from": .string(Timestamp(nanoseconds: first).description),
            "to": .string(Timestamp(nanoseconds: last).description), "bytes": number(totals.bytes),
            "messages": number(totals.messages), "records": number(totals.records), "samples": number(totals.samples),
            "gaps": number(totals.gaps), "sha256": .string(totals.hash.hexDigest()),
        ]
        return .done(
            event.map { told.with("event", $0.object) } ?? told.with("unit_per_count", unit.map { .double($0) }))
    }

    mutating func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        if self.pieces == nil {
            let pieces = try outbox.spool.segments(answering: range)
            let (bytes, room) = (pieces.reduce(0) { $0 + $1.bytes }, try outbox.spool.room())
            guard bytes + bytes / 16 <= room else {
                return .failed(
                    CodedError(
                        "", .unavailable,
                        "this is up to \(bytes / 1000) kB, and the storage has room for \(room / 1000) kB"))
            }
            self.pieces = pieces[...]
        }
        for _ in 0..<Self.piecesInARound {
            guard let piece = nextPiece() else { break }
            do throws(SpoolError) {
                if let records = try outbox.spool.records(of: piece) { add(records) }
            } catch { try outbox.met(error) }
            while let message = self.message(isLast: false) { try outbox.put(message, header, wall: wall) }
        }
        var isOver = pieces?.isEmpty ?? true
        if let (id, _, key) = event {
            let parts = try outbox.spool.messages(of: id, .waveform ... .waveform, after: key, count: 4)
            isOver = parts.isEmpty
            for part in parts {
                event?.key = part.key
                add(part.payload)
                while let message = self.message(isLast: false) { try outbox.put(message, header, wall: wall) }
            }
        }
        if isOver {
            while let message = self.message(isLast: true) { try outbox.put(message, header, wall: wall) }
        }
        try outbox.spool.commit()
        return isOver ? outcome : nil
    }
}

extension Outbox {
    fileprivate mutating func put(_ message: [UInt8], _ header: PublicationHeader, wall: Int64) throws(SpoolError) {
        _ = try message.withBytes { bytes throws(SpoolError) in try spool.put(header, bytes, made: wall) }
    }
}
