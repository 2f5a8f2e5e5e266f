import Messages
import Values

extension AlertChapter {
    static let storage = AlertChapter(
        title: "Storage", alerts: [QueueDropping.self, StorageFailed.self, StorageSetAside.self, StorageTaken.self])
}

struct QueueDropping: Alert {
    static let declaration = AlertDeclaration(
        "queue_dropping", .warning, "Messages dropped",
        "The output queue is full: the station makes more messages than broker and storage take, and drops "
            + "some. The alert stays for a minute.",
        remedy: "Look at the connection; lower `trace.rate_hz` or raise `storage.budget_mb`",
        details: "`essential`, `state`, `trace`: messages dropped since the start, by class.")

    private static let memory: Int64 = 60_000_000_000
    private var dropped = RecentChange()

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        let (memory, disk) = (facts.link.dropped, facts.storage.dropped)
        guard dropped.note(UInt64(clamping: memory.total + disk.total), now: facts.now, for: Self.memory) else {
            return nil
        }
        func count(_ memory: Int, _ disk: Int) -> Value { .int(Int64(memory + disk)) }
        return AlertFault(
            "output queue full: messages are dropped; the broker takes fewer than the station makes",
            .object([
                .init("essential", count(memory.essential, disk.essential)),
                .init("state", count(memory.state, disk.state)),
                .init("trace", count(memory.trace, disk.trace)),
            ]))
    }
}

struct StorageFailed: Alert {
    static let declaration = AlertDeclaration(
        "storage_failed", .error, "Storage unavailable",
        "The agent cannot write to its disk. Messages that the broker does not take now are lost at the next "
            + "restart. The agent tries again every 30 s.",
        remedy:
            "`details` has the reason: a full disk, a disk that is read-only (often a worn SD card), or a "
            + "`storage.directory` that the user `seismote` may not write; `seismote doctor` looks at the disk and the memory card",
        details: "`error`: the reason.")

    func look(_ facts: AlertFacts) -> AlertFault? {
        facts.storage.problem.map {
            AlertFault(
                "storage unavailable: what the broker does not take is lost with the next restart",
                .object([.init("error", .string($0))]))
        }
    }
}

struct StorageSetAside: Alert {
    static let declaration = AlertDeclaration(
        "storage_set_aside", .warning, "Stored data damaged",
        "The database was damaged, or from a later version. The agent moved it aside as `spool.db.broken-…`, "
            + "recovered its readable part, and created a new one. If single rows or an index were damaged, the "
            + "agent dropped the rows or rebuilt the index, and the file stays. The alert stays until the next start.",
        remedy: "Nothing, if it was one power cut; if it happens again, replace the SD card",
        see: "[Storage](../understand/storage.md#a-damaged-file)",
        details:
            "`reason`. `lost_messages`: messages lost by damage since the database was created, or `\"unknown\"` if a "
            + "damaged page does not tell how many rows it had. `lost_messages_known`: the counted part. "
            + "`lost_others`: pieces of waveform, levels and facts. `rebuilt_indices`: since the start. `damaged_pages`: "
            + "of the log.")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard let words = facts.storage.setAside else { return nil }
        let lost = Value.int(Int64(facts.storage.damaged))
        return AlertFault(
            "stored data was damaged: what could be read of it was recovered",
            .object([
                .init("reason", .string(words)),
                .init("lost_messages", facts.storage.unknownLosses > 0 ? .string("unknown") : lost),
                .init("lost_messages_known", lost),
                .init("lost_others", .int(Int64(facts.storage.damagedOthers))),
                .init("rebuilt_indices", .int(Int64(facts.storage.rebuiltIndices))),
                .init("damaged_pages", .int(Int64(facts.storage.damagedPages))),
            ]))
    }
}

struct StorageTaken: Alert {
    static let declaration = AlertDeclaration(
        "storage_taken", .warning, "Database taken away",
        "Somebody deleted, replaced or truncated the database while the agent had it open. The alert stays for "
            + "half a minute.",
        remedy: "Nothing else may touch `storage.directory`: do not clean up `/var/lib/seismote` while the agent runs",
        details: "`reason`.")

    private static let memory: Int64 = 30_000_000_000

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard let taken = facts.storage.taken, facts.now - taken.at < Self.memory else { return nil }
        return AlertFault(
            "the database was deleted, replaced or truncated while it was in use: a new one was created",
            .object([.init("reason", .string(taken.words))]))
    }
}

extension AlertChapter {
    static let clock = AlertChapter(title: "Clock", alerts: [ClockUnknown.self, ClockUnsynchronised.self])
}

struct ClockUnknown: Alert {
    static let declaration = AlertDeclaration(
        "clock_unknown", .warning, "Clock unknown",
        "The agent cannot find out how good the clock is, so times count as not synchronised.",
        remedy: "`sudo systemctl start seismote-clock`", see: "[security](../understand/security.md#the-machine)")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard facts.clock == nil else { return nil }
        return AlertFault(
            "how good the clock is cannot be known, and times are marked as not synchronised: the kernel may not be asked "
                + "(ProtectClock) and /run/seismote-clock/state has no state; start seismote-clock.service")
    }
}

struct ClockUnsynchronised: Alert {
    static let declaration = AlertDeclaration(
        "clock_unsynchronised", .warning, "Clock not synchronised",
        "The host's clock has followed no source for ten minutes: times of samples and events may be wrong by "
            + "any amount, and `tq` says so. The alert ends as soon as the clock follows a source.",
        remedy:
            "Install and start a time daemon (chrony), or let it reach its servers: `chronyc sources` or `timedatectl "
            + "timesync-status` shows them, and the firewall must let UDP port 123 through; without a network a GPS receiver "
            + "helps",
        see: "[time](../understand/time.md)")

    /// A daemon that was just started needs some minutes.
    private static let patience: Int64 = 600_000_000_000
    private var since: Int64?

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        // A recording has times of its own; what nobody says is another alert.
        guard facts.clock?.synced == false, facts.sensor.description?.clock != .recording else {
            since = nil
            return nil
        }
        let begin = since ?? facts.now
        since = begin
        guard facts.now - begin >= Self.patience else { return nil }
        return AlertFault(
            "the clock is not synchronised to any source: times of samples and events may be wrong by any amount")
    }
}

extension AlertChapter {
    static let settings = AlertChapter(title: "Settings", alerts: [ConfigRefused.self, ConfigReverted.self])
}

struct ConfigRefused: Alert {
    static let declaration = AlertDeclaration(
        "config_refused", .error, "Settings cannot be used",
        "The settings do not suit this sensor, for example a filter whose corner is above half its sample "
            + "rate. The message names the setting. The agent processes no samples until you change it.",
        remedy:
            "Change the setting that the message names, by `seismote ctl set` or in the settings file; `seismote ctl get "
            + "STATION` shows what is in force")

    func look(_ facts: AlertFacts) -> AlertFault? {
        facts.refusedSettings.map { AlertFault($0.message, .object([.init("path", .string($0.path))])) }
    }
}

struct ConfigReverted: Alert {
    static let declaration = AlertDeclaration(
        "config_reverted", .warning, "Change of settings taken back",
        "The agent took a change back: nobody confirmed it in time, or the agent died soon after it. The alert "
            + "stays until the next change.",
        remedy:
            "Find out why, with the message and the log, and make the change again with `--auto-revert`; `seismote ctl get "
            + "STATION` shows what is in force")

    func look(_ facts: AlertFacts) -> AlertFault? { facts.reverted }
}
