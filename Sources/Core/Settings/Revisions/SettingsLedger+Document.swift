import Messages

extension SettingsLedger {
    /// Version of the document's form.
    private static let version: Int64 = 1
    /// All keys of the document.
    package static let documentKeys = ["v", "revisions", "pending", "rejected", "trial"]

    /// The ledger of a process that starts.
    ///
    /// Settings that were valid never keep the agent from starting: what cannot be used of the document is left aside,
    /// and the notes say so.
    ///
    /// - Parameters:
    ///   - layers: what the process was started with.
    ///   - document: what ``document`` was; nil when there is none.
    ///   - now: nanoseconds of UTC since 1970.
    ///   - monotonic: nanoseconds of the clock that never jumps.
    /// - Throws: the errors of the layers, which are not valid even without an overlay.
    public static func open(
        _ layers: SettingsLayers, document: Value?, now: Int64, monotonic: Int64 = 0
    ) throws(CodedErrors) -> (ledger: SettingsLedger, notes: [Note]) {
        var ledger = SettingsLedger(layers, try layers.load(overlay: nil))
        guard let document else { return (ledger, []) }
        var notes: [Note] = []
        guard ledger.read(document) else {
            return (
                SettingsLedger(layers, ledger.settings),
                [Note(.damaged, 0, "What was set remotely cannot be read: the settings file alone holds.")]
            )
        }
        let overlay = ledger.permitted(ledger.current.overlay)
        do throws(CodedErrors) {
            let proposal = ledger.proposal(try layers.load(overlay: overlay), overlay)
            if overlay == ledger.current.overlay {
                ledger.settings = proposal.settings
            } else {
                notes.append(
                    Note(
                        .locked, ledger.revision,
                        "Revision \(ledger.revision) sets what is locked or unknown now: that was taken out of it."))
                ledger.put(proposal, "start", now, isGood: ledger.current.isGood)
                let number = ledger.revision
                ledger.pending?.revision = number
            }
        } catch {
            let left = ledger.revision
            _ = ledger.goBack("start", now)
            ledger.trial = nil
            notes.append(
                Note(.refused, left, "Revision \(left) is not valid with the settings file of today.", error.errors))
        }
        if var pending = ledger.pending {
            let left = min(pending.deadline - now, Int64(pending.seconds * 1e9))
            if left <= 0 {
                _ = ledger.revert(now: now)
                notes.append(
                    Note(.ranOut, pending.revision, "Revision \(pending.revision) was not confirmed in time."))
            } else {
                (pending.deadlineMonotonic, pending.connection) = (monotonic + left, 0)
                ledger.pending = pending
            }
        }
        ledger.initial = ledger.settings
        return (ledger, notes)
    }

    /// All that must survive a restart, secrets included: for a file that nobody else may read.
    public var document: Value {
        var members: [Value.Member] = [
            .init("v", .int(Self.version)),
            .init(
                "revisions",
                .array(
                    revisions.map { revision in
                        [
                            "rev": .int(Int64(revision.number)), "t": .int(revision.time),
                            "source": .string(revision.source),
                            "changed": .array(revision.changed.map { .string($0) }), "good": .bool(revision.isGood),
                            "overlay": revision.overlay,
                        ]
                    })),
        ]
        if let pending {
            members.append(
                .init(
                    "pending",
                    [
                        "deadline": .int(pending.deadline), "seconds": .shortest(pending.seconds),
                        "reconnects": .bool(pending.needsNewConnection),
                    ]))
        }
        if let rejected = lastRejected {
            members.append(
                .init(
                    "rejected",
                    [
                        "t": .int(rejected.time), "source": .string(rejected.source), "set": rejected.patch,
                        "errors": .array(rejected.errors),
                    ]))
        }
        if let trial {
            members.append(
                .init(
                    "trial",
                    [
                        "since": .int(trial.since), "deaths": .int(Int64(trial.deaths)),
                        "awaits_start": .bool(trial.awaitsStart), "running": .bool(isRunning),
                    ]))
        }
        return .object(members)
    }

    /// Takes a document over; false when it is none, and then the ledger is of no use.
    private mutating func read(_ document: Value) -> Bool {
        guard document["v"] == .int(Self.version), case .array(let list)? = document["revisions"], !list.isEmpty,
            list.count <= Self.kept
        else { return false }
        revisions = []
        for one in list {
            guard let number = one["rev"]?.integer, number >= 0, number < 1 << 53, let time = Self.time(one["t"]),
                case .string(let source)? = one["source"], case .array(let keys)? = one["changed"],
                case .bool(let isGood)? = one["good"], let overlay = one["overlay"], case .object = overlay,
                revisions.last.map({ $0.number < number }) ?? true
            else { return false }
            let changed = keys.compactMap { key in
                if case .string(let name) = key { name } else { nil }
            }
            revisions.append(
                Revision(
                    number: Int(number), overlay: overlay, time: time, source: source, changed: changed,
                    isGood: isGood))
        }
        if let rejected = document["rejected"] {
            guard let time = Self.time(rejected["t"]), case .string(let source)? = rejected["source"],
                case .array(let errors)? = rejected["errors"]
            else { return false }
            lastRejected = Rejected(time: time, source: source, patch: rejected["set"] ?? .null, errors: errors)
        }
        return readPending(document["pending"]) && readTrial(document["trial"])
    }

    /// Nanoseconds since 1970; the bound keeps differences from overflowing.
    private static func time(_ value: Value?) -> Int64? {
        value?.integer.flatMap { (0..<1 << 62).contains($0) ? $0 : nil }
    }

    private mutating func readPending(_ value: Value?) -> Bool {
        guard let value else { return true }
        guard let deadline = Self.time(value["deadline"]), let seconds = value["seconds"]?.number,
            CommandLimits.confirm.contains(seconds), case .bool(let reconnects)? = value["reconnects"]
        else { return false }
        pending = Pending(
            revision: revision, deadline: deadline, deadlineMonotonic: 0, connection: 0,
            needsNewConnection: reconnects, seconds: seconds)
        return true
    }

    private mutating func readTrial(_ value: Value?) -> Bool {
        guard let value else { return true }
        guard let since = Self.time(value["since"]), let deaths = value["deaths"]?.integer,
            (0..<100).contains(deaths), case .bool(let awaitsStart)? = value["awaits_start"],
            case .bool(let running)? = value["running"]
        else { return false }
        trial = Trial(since: since, deaths: Int(deaths), awaitsStart: awaitsStart)
        isRunning = running
        return true
    }
}
