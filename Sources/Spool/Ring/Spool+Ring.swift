import MiniSEED

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
            try makeRoom(for: records.count)
            var segment = segment
            segment.key = books.ring.nextKey
            segment.bytes = records.count
            let statement = try database.use(.appendSegment)
            statement.bind(1, segment.key)
            statement.bind(2, segment.start)
            statement.bind(3, segment.end)
            statement.bind(4, segment.samples)
            statement.bind(5, segment.rate.isFinite ? segment.rate : 0)
            statement.bind(6, segment.format)
            statement.bind(7, Int64(CRC32C.checksum(records)))
            statement.bind(8, records)
            try statement.run()
            books.ring.append(segment)
            try trimRing()
        } catch { throw undo(error) }
    }

    /// The pieces that have something between two times (nanoseconds of UTC, both included), in the order of adding.
    public func segments(from: Int64, to: Int64) -> [RingSegment] {
        books.ring.entries.filter { $0.start <= to && $0.end >= from }
    }

    /// The newest piece.
    public var newestSegment: RingSegment? { books.ring.entries.last }

    /// The records of a piece; nil when it is gone by now, or is not what was written.
    public mutating func records(of segment: RingSegment) throws(SpoolError) -> [UInt8]? {
        do throws(SpoolError) {
            let row = try database.use(.records)
            row.bind(1, segment.key)
            guard try row.step() else { return nil }
            return row.int64(1) == Int64(CRC32C.checksum(row.blob(0))) ? row.bytes(0) : nil
        } catch { throw undo(error) }
    }

    mutating func trimRing() throws(SpoolError) {
        let count =
            options.ringSeconds > 0
            ? books.ring.surplus(seconds: options.ringSeconds, bytes: options.ringBytes) : books.ring.entries.count
        guard count > 0 else { return }
        for segment in books.ring.entries.prefix(count) {
            let statement = try database.use(.deleteSegment)
            statement.bind(1, segment.key)
            try statement.run()
        }
        books.ring.removeFirst(count)
    }
}
