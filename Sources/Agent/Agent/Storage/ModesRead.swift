import Messages
import Spool

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
