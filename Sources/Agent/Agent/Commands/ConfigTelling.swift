import Settings
import Values

/// Contents of replies about the configuration.
enum ConfigTelling {
    /// Describes a change, proposed or adopted.
    static func change(_ proposal: SettingsLedger.Proposal, _ ledger: SettingsLedger) -> Value {
        [
            "rev": .int(Int64(ledger.revision)), "changed": list(proposal.changed), "live": list(proposal.live),
            "restart_stream": list(proposal.restartStream), "needs_restart": list(proposal.needsRestart),
            "pending": pending(ledger),
        ]
    }

    /// Describes all settings in force, and where each comes from.
    static func whole(_ ledger: SettingsLedger) -> Value {
        let settings = ledger.settings
        let message = Identity.config(ledger)
        var rejected = Value.null
        if let last = ledger.lastRejected {
            rejected = last.value.with("t", .string(Timestamp(nanoseconds: last.time).description))
        }
        let revisions = ledger.revisions.map { revision -> Value in
            [
                "rev": .int(Int64(revision.number)),
                // What holds without any change was set by nobody at no time.
                "t": revision.number == 0 ? .null : .string(Timestamp(nanoseconds: revision.time).description),
                "source": .string(revision.source), "changed": list(revision.changed),
            ]
        }
        return [
            "rev": .int(Int64(ledger.revision)),
            "sha256": .string(SHA256.hexDigest(of: settings.effective.canonicalJSON())), "config": settings.effective,
            "sources": [
                "file": list(message.sources.file), "overlay": list(message.sources.overlay),
                "command_line": list(message.sources.commandLine),
            ],
            "overlay": ledger.shownOverlay, "pending": pending(ledger), "needs_restart": list(ledger.needsRestart),
            "locked": list(settings.locked), "revisions": .array(revisions), "rejected": rejected,
        ]
    }

    private static func pending(_ ledger: SettingsLedger) -> Value {
        guard let pending = ledger.pending else { return .null }
        return [
            "rev": .int(Int64(pending.revision)),
            "deadline": .string(Timestamp(nanoseconds: pending.deadline).description),
        ]
    }

    private static func list(_ texts: [String]) -> Value { .array(texts.map { .string($0) }) }
}
