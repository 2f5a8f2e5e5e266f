import Link
import Messages

/// What is to be said of the disk and of what had to be dropped. Pure.
enum StorageAlerts {
    /// Messages were dropped, by class.
    static func dropping(_ link: LinkStatistics, _ stored: StorageStatus.Words) -> AlertBoard.Fault {
        let disk = stored.statistics.dropped
        func count(_ memory: Int, _ disk: Int) -> Value { .int(Int64(memory + disk)) }
        return (
            message: "more is made than the broker takes and the storage holds: messages are dropped",
            details: .object([
                .init("essential", count(link.dropped.essential, disk.essential)),
                .init("state", count(link.dropped.state, disk.state)),
                .init("trace", count(link.dropped.trace, disk.trace)),
            ])
        )
    }

    /// Nothing can be kept on disk.
    static func failed(_ stored: StorageStatus.Words) -> AlertBoard.Fault? {
        guard let problem = stored.problem else { return nil }
        return (
            "nothing can be kept on disk: what the broker does not take now is lost with the next restart",
            .object([.init("error", .string(problem))])
        )
    }

    /// Damaged data was set aside. Stays until the next start.
    static func setAside(_ stored: StorageStatus.Words) -> AlertBoard.Fault? {
        guard let words = stored.setAside else { return nil }
        return (
            "the stored data was damaged and is set aside; of what waited there for the broker, only what is essential and could be read is sent",
            .object([.init("reason", .string(words))])
        )
    }
}
