import MiniSEED

/// What the ground did in each minute of the last month. It is made of the pieces of the ring as they come, and written
/// down once in ten minutes, together with the first piece after them; after a kill the open ten minutes are made again of
/// what the ring has.
extension Spool {
    /// Ten minutes each: 31 days, less where the budget is small (a row has 640 bytes).
    var levelSlots: Int64 { Int64(min(31 * 144, max(144, options.pages / 16 * 6))) }

    /// Adds a piece of the ring, in the transaction in which that is written.
    mutating func takeLevels(_ segment: RingSegment, _ records: UnsafeRawBufferPointer) throws(SpoolError) {
        guard let unit = segment.unit, segment.end >= segment.start else { return }
        let first = StepLevels.block(at: segment.start)
        for number in first...min(first + 1, StepLevels.block(at: segment.end)) {
            if books.levels?.block != number {
                try storeLevels()
                books.levels = try row(number) ?? StepLevels(block: number)
            }
            books.levels?.add(records, unit: unit, with: &decoder, &samples)
        }
    }

    /// Writes the open ten minutes down, as far as they are.
    public mutating func storeLevels() throws(SpoolError) {
        guard let levels = books.levels, levels.samples > 0 else { return }
        try store(levels)
    }

    /// Writes ten minutes down.
    mutating func store(_ levels: StepLevels) throws(SpoolError) {
        do throws(SpoolError) {
            try begin()
            let columns = levels.columns
            let place = try place(for: levels.block)
            guard try makeRoom(columns.count, for: .state) else { return }
            let result = columns.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
                do throws(SpoolError) {
                    let statement = try database.use(.setLevels)
                    statement.bind(1, place)
                    statement.bind(2, levels.block)
                    statement.bind(3, Self.sum(levels.block, bytes))
                    statement.bind(4, bytes)
                    return .success(try statement.run())
                } catch { return .failure(error) }
            }
            try result.get()
        } catch { throw undo(error) }
    }

    /// Ten minutes by their number (see ``StepLevels/block(at:)``); nil: nothing is known of them.
    public mutating func levels(_ number: Int64) throws(SpoolError) -> StepLevels? {
        if let open = books.levels, open.block == number { return open }
        do throws(SpoolError) { return try row(number) } catch { throw undo(error) }
    }

    /// The two places of a row: one by its time, and one beside it for a clock that is not that of the rows before.
    func places(of number: Int64) -> [Int64] {
        let slot = (number % levelSlots + levelSlots) % levelSlots
        return [slot, slot + 1 << 32]
    }

    /// Where a row is written: over the one of a month before. One of another time stays, whatever the clock says now, if there
    /// is another place; of two of them the earlier goes.
    private func place(for number: Int64) throws(SpoolError) -> Int64 {
        var found: [(place: Int64, number: Int64?)] = []
        for place in places(of: number) {
            let row = try database.use(.levels)
            row.bind(1, place)
            found.append((place, try row.step() ? row.int64(2) : nil))
        }
        if let same = found.first(where: { $0.number == number }) { return same.place }
        let round = levelSlots
        let free = found.first { one in
            guard let stored = one.number else { return true }
            return number &- stored == round
        }
        return free?.place ?? (found[0].number ?? 0 <= found[1].number ?? 0 ? found[0] : found[1]).place
    }

    mutating func row(_ number: Int64) throws(SpoolError) -> StepLevels? {
        for place in places(of: number) {
            let row = try database.use(.levels)
            row.bind(1, place)
            guard try row.step() else { continue }
            let stored = row.int64(2)
            guard row.int64(1) == Self.sum(stored, row.blob(0)) else {
                unread += 1
                continue
            }
            // (Else those of another time.)
            if stored == number { return StepLevels(block: number, row.blob(0)) }
        }
        return nil
    }

    static func sum(_ number: Int64, _ columns: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowSum(key: number)
        sum.mix(columns)
        return sum.value
    }

    /// After the file has been opened: the ten minutes that were not written down.
    mutating func makeLevelsAgain() throws(SpoolError) {
        guard let newest = books.ring.entries.last else { return }
        let number = StepLevels.block(at: newest.end)
        var made = StepLevels(block: number)
        for piece in books.ring.entries.reversed() {
            guard piece.start < made.end, piece.end >= made.start else { break }
            guard let unit = piece.unit, let records = try records(of: piece) else { continue }
            records.withUnsafeBytes { made.add($0, unit: unit, with: &decoder, &samples) }
        }
        let stored = try row(number)
        books.levels = (stored?.samples ?? 0) > made.samples ? stored : made
    }
}
