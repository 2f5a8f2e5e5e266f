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
