import Messages
import Spool

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
