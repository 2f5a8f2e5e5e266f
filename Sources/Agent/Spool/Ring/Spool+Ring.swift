/// The ring holds the last `ringSeconds` of what was recorded, in the order in which it was added: a clock that is set,
/// forwards or back, deletes nothing and keeps nothing for ever.
extension Spool {
    /// Adds a piece and removes what is too much. Nothing happens when the ring is off.
    public mutating func appendSegment(
        _ segment: RingSegment, _ records: UnsafeRawBufferPointer
    ) throws(SpoolError) {
        guard options.ringSeconds > 0, records.count <= options.ringBytes / 4 else { return }
        do throws(SpoolError) {
            try begin()
            // Nothing essential goes for the ring: if need be it does without its own oldest pieces, or this one.
            while try !makeRoom(records.count, for: .state) {
                guard !books.ring.entries.isEmpty else { return }
                try removeOldestSegments(1)
            }
            var segment = segment
            segment.bytes = records.count
            segment.number = books.ring.nextNumber
            segment.slot = books.ring.freshSlot
            books.ring.append(segment)
            // The new piece takes the place of the oldest that has to go: one page is written instead of many.
            let surplus = books.ring.surplus(seconds: options.ringSeconds, bytes: options.ringBytes)
            if surplus > 0 {
                segment.slot = books.ring.entries[surplus - 1].slot
                books.ring.moveNewest(to: segment.slot)
                try removeOldestSegments(surplus, except: segment.slot)
            }
            try write(segment, records, surplus > 0 ? .replaceSegment : .appendSegment)
            try takeLevels(segment, records)
        } catch { throw undo(error) }
    }

    func write(
        _ segment: RingSegment, _ records: UnsafeRawBufferPointer, _ query: Query
    ) throws(SpoolError) {
        let statement = try database.use(query)
        statement.bind(1, segment.slot)
        statement.bind(2, segment.number)
        statement.bind(3, segment.start)
        statement.bind(4, segment.end)
        statement.bind(5, segment.samples)
        statement.bind(6, segment.storedRate)
        statement.bind(7, segment.format)
        statement.bind(8, segment.checksum(records))
        statement.bind(9, records)
        if let unit = segment.unit { statement.bind(10, unit) }
        try statement.run()
    }

    /// The pieces that have something between two times (nanoseconds of UTC, both included), in the order of adding.
    public func segments(from: Int64, to: Int64) -> [RingSegment] {
        books.ring.entries.filter { $0.start <= to && $0.end >= from }
    }

    /// The same for an answer. Pieces that must have been there, and such whose time is not that of their neighbours and
    /// which are not as they were written, count as unread.
    public mutating func segments(answering range: ClosedRange<Int64>) throws(SpoolError) -> [RingSegment] {
        let entries = books.ring.entries
        var found: [RingSegment] = []
        for (index, piece) in entries.enumerated() {
            if piece.start <= range.upperBound, piece.end >= range.lowerBound {
                found.append(piece)
            }
            guard index > 0, case let before = entries[index - 1] else { continue }
            // Where the clock was set, or a row is damaged.
            if before.number &+ 1 != piece.number, Self.overlaps(before.end, piece.start, range) { unread += 1 }
            guard index + 1 < entries.count, case let after = entries[index + 1],
                piece.start > range.upperBound || piece.end < range.lowerBound,
                Self.overlaps(before.end, after.start, range)
            else { continue }
            _ = try records(of: piece)
        }
        return found
    }

    private static func overlaps(_ a: Int64, _ b: Int64, _ range: ClosedRange<Int64>) -> Bool {
        min(a, b) <= range.upperBound && max(a, b) >= range.lowerBound
    }

    /// The newest piece.
    public var newestSegment: RingSegment? { books.ring.entries.last }

    /// The records of a piece; nil when it is gone by now, or is not what was written.
    public mutating func records(of segment: RingSegment) throws(SpoolError) -> [UInt8]? {
        do throws(SpoolError) {
            let row = try database.use(.records)
            row.bind(1, segment.slot)
            row.bind(2, segment.number)
            let isThere = try row.step()
            if isThere, row.int64(1) == segment.checksum(row.blob(0)) { return row.bytes(0) }
            // Of a piece whose place was taken by a newer one nothing is wrong.
            if isThere || books.ring.has(segment) { unread += 1 }
            return nil
        } catch { throw undo(error) }
    }

    mutating func trimRing() throws(SpoolError) {
        let count =
            options.ringSeconds > 0
            ? books.ring.surplus(seconds: options.ringSeconds, bytes: options.ringBytes) : books.ring.entries.count
        try removeOldestSegments(count)
    }

    private mutating func removeOldestSegments(_ count: Int, except slot: Int64 = 0) throws(SpoolError) {
        guard count > 0 else { return }
        for segment in books.ring.entries.prefix(count) where segment.slot != slot {
            let statement = try database.use(.deleteSegment)
            statement.bind(1, segment.slot)
            try statement.run()
        }
        books.ring.removeFirst(count)
    }
}
