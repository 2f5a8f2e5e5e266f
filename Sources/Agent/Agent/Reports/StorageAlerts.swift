import Link
import Messages

/// The alerts of the storage. Pure.
enum StorageAlerts {
    /// Messages were dropped, by class.
    static func dropping(_ link: LinkStatistics, _ stored: StorageStatus.Words) -> AlertBoard.Fault {
        let disk = stored.statistics.dropped
        func count(_ memory: Int, _ disk: Int) -> Value { .int(Int64(memory + disk)) }
        return (
            message: "output queue full: messages are dropped; the broker takes fewer than the station makes",
            details: .object([
                .init("essential", count(link.dropped.essential, disk.essential)),
                .init("state", count(link.dropped.state, disk.state)),
                .init("trace", count(link.dropped.trace, disk.trace)),
            ])
        )
    }

    /// Storage unavailable.
    static func failed(_ stored: StorageStatus.Words) -> AlertBoard.Fault? {
        guard let problem = stored.problem else { return nil }
        return (
            "storage unavailable: what the broker does not take is lost with the next restart",
            .object([.init("error", .string(problem))])
        )
    }

    /// The files were taken away. Stays for half a minute, so that somebody sees it.
    /// - Parameter now: of the monotonic clock (ns).
    static func taken(_ stored: StorageStatus.Words, now: Int64) -> AlertBoard.Fault? {
        guard let taken = stored.taken, now - taken.at < 30_000_000_000 else { return nil }
        return (
            "the database was deleted, replaced or truncated while it was in use: a new one was created",
            .object([.init("reason", .string(taken.words))])
        )
    }

    /// Damaged data was found. Stays until the next start.
    static func setAside(_ stored: StorageStatus.Words) -> AlertBoard.Fault? {
        guard let words = stored.setAside else { return nil }
        let statistics = stored.statistics
        let lost = Value.int(Int64(statistics.damaged))
        return (
            "stored data was damaged: what could be read of it was recovered",
            .object([
                .init("reason", .string(words)),
                .init("lost_messages", statistics.unknownLosses > 0 ? .string("unknown") : lost),
                .init("lost_messages_known", lost),
                .init("lost_others", .int(Int64(statistics.damagedOthers))),
                .init("rebuilt_indices", .int(Int64(statistics.rebuiltIndices))),
                .init("damaged_pages", .int(Int64(statistics.damagedPages))),
            ])
        )
    }
}
