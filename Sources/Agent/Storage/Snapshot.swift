import Messages
import MiniSEED
import Spool

/// A stretch of the waveform ring on its way into the outbox: some pieces in each round, so that what must be written
/// down at once never waits for it.
struct Snapshot {
    /// Bytes of a message at most; a record is never divided.
    static let messageBytes = 65_536
    /// Pieces of the ring in a round.
    static let piecesInARound = 16
    /// How long the newest samples may take to come from the sampling thread (ns).
    static let flushTime: Int64 = 1_000_000_000

    let number: Int
    let range: ClosedRange<Int64>
    let header: PublicationHeader
    /// Of the monotonic clock: begins at this time, or when the ring has all.
    var beginsAt: Int64
    /// What is still to be read; nil before the beginning.
    var pieces: ArraySlice<RingSegment>?
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

    /// - Parameter now: of the monotonic clock (ns).
    init(number: Int, from: Int64, to: Int64, topic: String, now: Int64) {
        self.number = number
        range = from...max(from, to)
        var header = Stream.waveform.delivery.header(topic: topic)
        header.isHistory = true
        // It can be asked for again: it never takes the place of what waits for the broker and is there only once.
        header.priority = .trace
        self.header = header
        beginsAt = now + Self.flushTime
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
        guard isLast || records.count > Self.messageBytes, !records.isEmpty else { return nil }
        var end = 0
        records.withUnsafeBytes { all in
            while end < all.count {
                let rest = UnsafeRawBufferPointer(rebasing: all[end...])
                guard let length = try? MiniSEEDParser.recordLength(rest), length > 0 else {
                    end = all.count
                    return
                }
                if end > 0, end + length > Self.messageBytes { return }
                end += length
            }
        }
        let message = Array(records[..<end])
        records.removeFirst(end)
        totals.messages += 1
        totals.bytes += message.count
        totals.hash.update(message)
        return message
    }

    /// What is told when all is on its way.
    var outcome: OrderOutcome {
        guard let first = totals.first, let last = totals.last, totals.messages > 0 else {
            return .failed(CodedError("", .unavailable, "the waveform ring has nothing of that time"))
        }
        func number(_ value: Int) -> Value { .int(Int64(value)) }
        return .done([
            "topic": .string(header.topic), "from": .string(Timestamp(nanoseconds: first).description),
            "to": .string(Timestamp(nanoseconds: last).description), "bytes": number(totals.bytes),
            "messages": number(totals.messages), "records": number(totals.records), "samples": number(totals.samples),
            "gaps": number(totals.gaps), "sha256": .string(totals.hash.hexDigest()),
        ])
    }
}

extension Outbox {
    /// Goes on with a snapshot.
    /// - Parameters:
    ///   - now: of the monotonic clock; `wall`: of UTC (ns).
    /// - Returns: what became of it, when it is over.
    mutating func step(_ snapshot: inout Snapshot, now: Int64, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        if snapshot.pieces == nil {
            guard hasAll(of: snapshot) || now >= snapshot.beginsAt else { return nil }
            let pieces = spool.segments(from: snapshot.range.lowerBound, to: snapshot.range.upperBound)
            let (bytes, room) = (pieces.reduce(0) { $0 + $1.bytes }, try spool.room())
            guard bytes + bytes / 16 <= room else {
                return .failed(
                    CodedError(
                        "", .unavailable,
                        "this is up to \(bytes / 1000) kB, and the storage has room for \(room / 1000) kB"))
            }
            snapshot.pieces = pieces[...]
        }
        for _ in 0..<Snapshot.piecesInARound {
            guard let piece = snapshot.pieces?.popFirst() else { break }
            if let records = try spool.records(of: piece) { snapshot.add(records) }
            while let message = snapshot.message(isLast: false) { try put(message, snapshot.header, wall: wall) }
        }
        let isOver = snapshot.pieces?.isEmpty ?? true
        if isOver {
            while let message = snapshot.message(isLast: true) { try put(message, snapshot.header, wall: wall) }
        }
        try spool.commit()
        return isOver ? snapshot.outcome : nil
    }

    /// Whether the ring goes on beyond its end.
    func hasAll(of snapshot: Snapshot) -> Bool {
        guard let newest = spool.newestSegment else { return false }
        return newest.end >= snapshot.range.upperBound
    }

    private mutating func put(_ message: [UInt8], _ header: PublicationHeader, wall: Int64) throws(SpoolError) {
        _ = try message.withBytes { bytes throws(SpoolError) in try spool.put(header, bytes, made: wall) }
    }
}
