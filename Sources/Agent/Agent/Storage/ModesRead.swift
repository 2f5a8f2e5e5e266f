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
        while true {
            let made = periods.result(cbor: isCBOR)
            let count = periods.periods.count
            guard let room, made.bytes.count > room, count > 1 else { return .made(made) }
            let fits = max(1, min(count - 1, count * max(0, room) / made.bytes.count))
            periods.next = periods.periods[fits].start
            periods.periods.removeLast(count - fits)
        }
    }
}
