import Messages
import MiniSEED
import Spool

/// The levels of a stretch of the past on their way into a reply.
struct HistoryRead: StorageTask {
    /// Pieces of the ring, and blocks of ten minutes, in a round.
    private static let piecesInARound = 16
    private static let blocksInARound = 500
    /// Bytes that a step has at least: nine numbers or nulls.
    private static let stepBytes = 9

    private let isCBOR: Bool
    /// Start by the monotonic clock: at this time, or when the ring has all (ns).
    private var beginsAt: Int64
    private var levels: StepLevels
    /// Pieces that are still to be read; nil before the beginning.
    private var pieces: ArraySlice<RingSegment>?
    private var blocks: ArraySlice<Int64>
    private var ring: Int64?
    private var decoder = MiniSEEDDecoder()
    private var samples: [Double] = []
    /// Bytes that the result may have; nil: any number.
    private let room: Int?
    /// Begin of what is left away for that.
    private var next: Int64?

    /// Shorter steps than a minute are made of the ring's samples.
    private var isFine: Bool { levels.step < StepLevels.minute }

    init(
        _ range: ClosedRange<Int64>, step: Int, cbor: Bool, room: Int? = nil, now: Int64
    ) {
        let step = Int64(step) * 1_000_000_000
        let rest = range.lowerBound % step
        let start = range.lowerBound - (rest < 0 ? rest + step : rest)
        let all = (range.upperBound - start + step - 1) / step
        let count = min(all, Int64(max(1, (room ?? .max) / Self.stepBytes)))
        next = count < all ? start + count * step : nil
        self.room = room
        levels = StepLevels(start: start, step: step, count: Int(count))
        blocks = Array(StepLevels.block(at: levels.start)...StepLevels.block(at: levels.end - 1))[...]
        isCBOR = cbor
        beginsAt = now + Snapshot.flushTime
    }

    var waitsFor: (end: Int64, until: Int64)? {
        get { pieces == nil ? (levels.end - 1, beginsAt) : nil }
        set { beginsAt = newValue?.until ?? beginsAt }
    }

    mutating func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        var problem: SpoolError?
        let goesOn = read(&outbox.spool, &problem)
        if let problem { try outbox.met(problem) }
        return goesOn ? nil : .made(result)
    }

    /// - Parameter problem: an error that reading came upon; what can be read is read all the same.
    /// - Returns: false when all has been read.
    private mutating func read(_ spool: inout Spool, _ problem: inout SpoolError?) -> Bool {
        if pieces == nil {
            pieces = []
            do throws(SpoolError) {
                if isFine { pieces = try spool.segments(answering: levels.start...levels.end - 1)[...] }
            } catch { problem = error }
            ring = pieces?.map(\.start).min()
        }
        for _ in 0..<Self.piecesInARound {
            guard let piece = pieces?.popFirst() else { break }
            do throws(SpoolError) {
                guard let unit = piece.unit, let records = try spool.records(of: piece) else { continue }
                records.withUnsafeBytes { levels.add($0, unit: unit, with: &decoder, &samples) }
            } catch { problem = problem ?? error }
        }
        guard pieces?.isEmpty ?? true else { return true }
        // All minutes at once, so that none fills a step that another has filled.
        var minutes: [StepLevels] = []
        for _ in 0..<Self.blocksInARound {
            guard let number = blocks.popFirst() else { break }
            do throws(SpoolError) {
                if let block = try spool.levels(number) { minutes.append(block) }
            } catch { problem = problem ?? error }
        }
        // (Within the ring what is missing is a gap.)
        for block in minutes { levels.add(block, fillingUntil: isFine ? ring ?? .max : nil) }
        return !blocks.isEmpty
    }

    /// As many steps as there is room for, but one at least.
    private var result: ReplyResult {
        ReplyResult.fitting(levels.count, room: room) { columns($0).result(cbor: isCBOR) }
    }

    private func columns(_ count: Int) -> LevelColumns {
        var columns = LevelColumns(
            from: levels.start, step: Int(levels.step / 1_000_000_000), count: count)
        columns.ring = ring
        columns.next = count < levels.count ? levels.start + Int64(count) * levels.step : next
        for (i, cell) in levels.cells.prefix(3 * count).enumerated() where cell.samples > 0 {
            columns.axes[i % 3].least[i / 3] = cell.least
            columns.axes[i % 3].most[i / 3] = cell.most
            columns.axes[i % 3].rms[i / 3] = cell.rms
        }
        return columns
    }
}

/// Intervals of vibration of the past on their way into a reply.
struct VibrationRead: StorageTask {
    /// Blocks of ten minutes in a round.
    private static let blocksInARound = 64

    private let range: ClosedRange<Int64>
    private let isCBOR: Bool
    /// Bytes that the result may have; nil: any number.
    private let room: Int?
    private var columns = VibrationColumns()
    /// The block to go on with.
    private var number: Int64

    /// - Parameter range: intervals that begin in it (ns of UTC).
    init(_ range: ClosedRange<Int64>, cbor: Bool, room: Int? = nil) {
        (self.range, isCBOR, self.room) = (range, cbor, room)
        number = VibrationBlock.number(at: range.lowerBound)
    }

    mutating func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        columns.limit = outbox.vibration.limit
        let last = VibrationBlock.number(at: range.upperBound)
        guard number <= last else { return .made(result) }
        var blocks: [VibrationBlock] = []
        do throws(SpoolError) {
            blocks = try outbox.spool.vibrationBlocks(number...last, most: Self.blocksInARound)
        } catch {
            try outbox.met(error)
            return .made(result)
        }
        for block in blocks {
            for record in block.records where range.contains(record.start) && !take(record) { return .made(result) }
        }
        guard blocks.count == Self.blocksInARound, let newest = blocks.last else { return .made(result) }
        number = newest.number + 1
        return nil
    }

    /// - Returns: false: it is the first that this reply does not have.
    private mutating func take(_ record: VibrationRecord) -> Bool {
        if let first = columns.records.first {
            let span = Double(record.start &- first.start) / 1e9
            guard first.isLike(record), columns.records.count < VibrationColumns.most, span < VibrationColumns.span
            else {
                columns.next = record.start
                return false
            }
        }
        columns.records.append(record)
        return true
    }

    /// As many intervals as there is room for, but one at least.
    private var result: ReplyResult {
        ReplyResult.fitting(columns.records.count, room: room) { count in
            var part = columns
            if count < columns.records.count {
                part.next = columns.records[count].start
                part.records.removeLast(columns.records.count - count)
            }
            return part.result(cbor: isCBOR)
        }
    }
}

/// Natural modes of the past on their way into a reply.
struct ModesRead: StorageTask {
    let range: ClosedRange<Int64>
    let isCBOR: Bool
    /// Bytes that the result may have; nil: any number.
    let room: Int?

    mutating func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome? {
        var periods = ModesColumns()
        do throws(SpoolError) {
            let found = try outbox.spool.modes(
                from: range.lowerBound, to: range.upperBound, most: ModesColumns.most + 1)
            periods = ModesColumns(
                Array(found.prefix(ModesColumns.most)), next: found.dropFirst(ModesColumns.most).first?.start)
        } catch { try outbox.met(error) }
        let all = periods
        return .made(
            ReplyResult.fitting(all.periods.count, room: room) { count in
                var part = all
                if count < all.periods.count {
                    part.next = all.periods[count].start
                    part.periods.removeLast(all.periods.count - count)
                }
                return part.result(cbor: isCBOR)
            })
    }
}
