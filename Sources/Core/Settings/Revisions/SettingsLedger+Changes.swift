import Messages

extension SettingsLedger {
    /// What a change would do. Nothing is changed: a dry run ends here.
    ///
    /// - Parameters:
    ///   - ifRevision: refuse unless this is the revision in force.
    ///   - confirm: seconds within which the change is to be confirmed.
    /// - Throws: everything that is wrong. Paths are those of settings, or `/if_rev`, `/confirm_s` and `/to_rev`.
    public func propose(
        _ change: Change, ifRevision: Int? = nil, confirm: Double? = nil
    ) throws(CodedErrors) -> Proposal {
        var errors = requestErrors(change, ifRevision, confirm)
        var overlay = current.overlay
        var patch: Layer?
        switch change {
        case .merge(let value):
            let layer = merge(value, into: &overlay, &errors)
            patch = layer
        case .reset: overlay = [:]
        case .rollback(let number):
            do throws(CodedError) { overlay = try target(number).overlay } catch { errors.append(error) }
        }
        overlay = permitted(overlay)
        var proposal: Proposal
        do throws(CodedErrors) {
            proposal = self.proposal(try layers.load(overlay: overlay, beside: errors), overlay)
            if let patch, let other = withoutOldCredentials(proposal, patch) {
                proposal = self.proposal(try layers.load(overlay: other), other)
            }
        } catch {
            throw CodedErrors(patch.map { asWritten(error.errors, $0) } ?? error.errors)
        }
        guard !isWayBack(change) else { return proposal }
        if let downgrade = downgrade(proposal.settings.configuration) { errors.append(downgrade) }
        if proposal.reconnects, confirm == nil {
            errors.append(
                CodedError(
                    "/confirm_s", .crossField,
                    "A change of the broker, of credentials or of the root needs confirm_s.",
                    allowed: "\(Int(CommandLimits.confirm.lowerBound))…\(Int(CommandLimits.confirm.upperBound)) s"))
        }
        guard errors.isEmpty else { throw CodedErrors(errors) }
        return proposal
    }

    /// Puts a proposal in force, as a new revision; without one when the overlay is as before.
    ///
    /// - Parameters:
    ///   - confirm: seconds until it goes back by itself; nil: it stays.
    ///   - source: who asked for it.
    ///   - now: nanoseconds of UTC since 1970.
    ///   - monotonic: nanoseconds of the clock that never jumps.
    ///   - connection: number of the link's present connection.
    /// - Returns: the revision in force.
    @discardableResult
    public mutating func adopt(
        _ proposal: Proposal, confirm: Double?, source: String, now: Int64, monotonic: Int64, connection: UInt64
    ) -> Int {
        guard proposal.overlay != current.overlay else { return revision }
        if pending != nil { current.isGood = false }
        pending = nil
        put(proposal, source, now, isGood: confirm == nil)
        trial = Trial(since: now, awaitsStart: !proposal.needsRestart.isEmpty)
        trialBegan = monotonic
        isRunning = true
        if let confirm {
            let wait = Int64(confirm * 1e9)
            pending = Pending(
                revision: revision, deadline: now + wait, deadlineMonotonic: monotonic + wait,
                connection: connection,
                needsNewConnection: proposal.changed.contains { $0.hasPrefix("mqtt.") }, seconds: confirm)
        }
        return revision
    }

    /// Says which connections prove that the station is reachable with the pending change: those with a higher number.
    public mutating func awaitConfirmation(above connection: UInt64) { pending?.connection = connection }

    /// Keeps the pending change.
    ///
    /// A change that makes the link connect anew is confirmed over a connection made after it, and so is proven to
    /// leave the station reachable. Any other change leaves the connection alone, and is confirmed over any.
    ///
    /// - Parameters:
    ///   - revision: the one that is meant; nil: whichever is pending.
    ///   - connection: number of the link's connection over which the confirmation came.
    /// - Returns: the revision in force.
    /// - Throws: `conflict`.
    @discardableResult
    public mutating func confirm(revision wanted: Int?, connection: UInt64) throws(CodedErrors) -> Int {
        guard let pending else {
            throw CodedErrors([CodedError("", .conflict, "No change waits for a confirmation.")])
        }
        if let wanted, wanted != pending.revision {
            throw CodedErrors([
                CodedError(
                    "/rev", .conflict, "Another revision waits for a confirmation.", got: .int(Int64(wanted)),
                    allowed: "\(pending.revision)")
            ])
        }
        guard connection > pending.connection || !pending.needsNewConnection else {
            throw CodedErrors([
                CodedError(
                    "", .conflict, "This came over a connection that was made before the change.",
                    allowed: "a connection made after it")
            ])
        }
        self.pending = nil
        current.isGood = true
        // What takes effect with the next start only has proven nothing yet.
        if trial?.awaitsStart == false { endTrial() }
        return revision
    }

    /// Takes the pending change back: the last good revision comes into force, under a number of its own.
    ///
    /// - Parameter now: nanoseconds of UTC since 1970.
    /// - Returns: what this changes; nil when nothing is pending.
    public mutating func revert(now: Int64) -> Proposal? {
        guard pending != nil else { return nil }
        let (proposal, _) = goBack("not confirmed in time", now)
        trial = nil
        return proposal
    }

    /// Remembers a change that was refused.
    public mutating func reject(_ patch: Value, _ errors: [CodedError], source: String, now: Int64) {
        let shown = Secrets.hidden(in: patch)
        lastRejected = Rejected(
            time: now, source: Self.short(source), patch: shown.json().count > Self.keptPatch ? .null : shown,
            errors: errors.map(\.value))
    }

    // MARK: parts

    /// What a pending change leaves possible: to go back to where it came from.
    private func isWayBack(_ change: Change) -> Bool {
        guard pending != nil, case .rollback(let number) = change else { return false }
        return number == nil || number == lastGood?.number
    }

    private func requestErrors(_ change: Change, _ ifRevision: Int?, _ confirm: Double?) -> [CodedError] {
        var errors: [CodedError] = []
        if let ifRevision, ifRevision != revision {
            errors.append(
                CodedError(
                    "/if_rev", .conflict, "The revision in force is \(revision).", got: .int(Int64(ifRevision)),
                    allowed: "\(revision)"))
        }
        if let confirm, !CommandLimits.confirm.contains(confirm) {
            errors.append(
                CodedError(
                    "/confirm_s", .range, "This value is out of range.", got: .shortest(confirm),
                    allowed: "\(Int(CommandLimits.confirm.lowerBound))…\(Int(CommandLimits.confirm.upperBound)) s"))
        }
        if let pending, !isWayBack(change) {
            errors.append(
                CodedError(
                    "", .conflict, "Revision \(pending.revision) waits for its confirmation.",
                    allowed: "config-confirm, or config-rollback to the revision before"))
        }
        return errors
    }

    /// Puts what is valid of a patch into the overlay.
    private func merge(_ patch: Value, into overlay: inout Value, _ errors: inout [CodedError]) -> Layer {
        var findings = Findings()
        let layer = Layer(.overlay, Document(root: patch), &findings)
        var refused: Set<String> = []
        var changes: [(key: String, value: Value)] = []
        for given in layer.given {
            // `***` given back: as it is. Null on a group: for what has been set below it.
            if given.setting.isSecret, given.value == .string(Secrets.mask) { continue }
            if given.value == .null, !isWritten(given.pointer, in: patch),
                SettingsTree.value(at: given.key, in: overlay) == nil
            {
                continue
            }
            guard let reason = lock(on: given.key, given.value) else {
                changes.append((given.key, given.value))
                continue
            }
            guard refused.insert(given.pointer).inserted else { continue }
            let got = given.setting.shown(given.value) ?? .string(Secrets.mask)
            findings.add(CodedError(given.pointer, .locked, reason, got: got, source: .overlay))
        }
        errors += findings.errors
        overlay = MergePatch.apply(SettingsTree.build(changes), to: overlay) { path in
            SettingsTable.setting(path.joined(separator: ".")) != nil
        }
        return layer
    }

    /// Whether a patch has something at a pointer, and not only null on a group above it.
    private func isWritten(_ pointer: String, in patch: Value) -> Bool {
        var node = patch
        for part in pointer.split(separator: "/") {
            guard let child = node[String(part)] else { return false }
            node = child
        }
        return true
    }

    /// Why a key cannot be given this value; nil when it can.
    private func lock(on key: String, _ value: Value) -> String? {
        if settings.isLocked(key) {
            guard let setting = SettingsTable.setting(key), !setting.isRemote else {
                return "The settings file locks this."
            }
            return setting.isUnlockable
                ? "This is not to be set remotely, unless the settings file has it under `unlocked`."
                : "This is not to be set remotely."
        }
        if value != .null, settings.origins[key]?.source == .commandLine {
            return "The command line that the agent was started with gives this."
        }
        return nil
    }

    /// What of an overlay may be there today, in the table's order.
    func permitted(_ overlay: Value) -> Value {
        SettingsTree.build(
            SettingsTable.settings.flatMap(\.concreteKeys).compactMap { (key, _) -> (key: String, value: Value)? in
                guard let value = SettingsTree.value(at: key, in: overlay), !settings.isLocked(key) else {
                    return nil
                }
                return (key, value)
            })
    }

    /// Errors at the places where the patch has the values: what came from `axes.all` is said once, there.
    private func asWritten(_ errors: [CodedError], _ patch: Layer) -> [CodedError] {
        var written: [CodedError] = []
        for error in errors {
            var error = error
            let given = patch.given.first { Pointer.isPrefix(Pointer.of(key: $0.key), of: error.path) }
            if error.source == .overlay, let given {
                error.path = given.pointer + error.path.dropFirst(Pointer.of(key: given.key).count)
            }
            if !written.contains(error) { written.append(error) }
        }
        return written
    }

    /// The revision that a rollback asks for.
    private func target(_ number: Int?) throws(CodedError) -> Revision {
        if let number {
            if let found = revisions.first(where: { $0.number == number }) { return found }
            throw CodedError(
                "/to_rev", .range, "This revision is not kept.", got: .int(Int64(number)),
                allowed: revisions.map { String($0.number) }.joined(separator: ", "))
        }
        if let lastGood { return lastGood }
        throw CodedError("", .conflict, "There is no other good revision to go back to.")
    }

    /// The newest good revision before the one in force that differs from it.
    private var lastGood: Revision? {
        revisions.dropLast().last { $0.isGood && $0.overlay != current.overlay }
    }

    func proposal(_ loaded: LoadedSettings, _ overlay: Value) -> Proposal {
        let difference = SettingsDifference(settings.configuration, loaded.configuration)
        let groups = ["mqtt.uri", "mqtt.username", "mqtt.password", "mqtt.root", "mqtt.tls.", "mqtt.protocol"]
        return Proposal(
            settings: loaded, overlay: overlay, changed: difference.changed, live: difference.live,
            restartStream: difference.restartStream, needsRestart: difference.restart,
            reconnects: difference.changed.contains { key in groups.contains { key.hasPrefix($0) } },
            owners: difference.owners)
    }

    /// A new revision in force.
    mutating func put(_ proposal: Proposal, _ source: String, _ now: Int64, isGood: Bool) {
        settings = proposal.settings
        revisions.append(
            Revision(
                number: revision + 1, overlay: proposal.overlay, time: now, source: Self.short(source),
                changed: proposal.changed, isGood: isGood))
        if revisions.count > Self.kept { revisions.removeFirst(revisions.count - Self.kept) }
    }

    /// Leaves the revision in force for the newest good one that is valid with the layers of today, or for none.
    mutating func goBack(_ source: String, _ now: Int64) -> (Proposal, to: Revision?) {
        let left = current
        current.isGood = false
        pending = nil
        for candidate in revisions.dropLast().reversed() where candidate.isGood && candidate.overlay != left.overlay {
            let overlay = permitted(candidate.overlay)
            guard let loaded = try? layers.load(overlay: overlay) else { continue }
            let proposal = proposal(loaded, overlay)
            put(proposal, source, now, isGood: true)
            return (proposal, candidate)
        }
        let base = (try? layers.load(overlay: nil)) ?? settings
        let proposal = proposal(base, [:])
        put(proposal, source, now, isGood: true)
        return (proposal, nil)
    }

    private static func short(_ text: String) -> String { text.utf8.count > 256 ? String(text.prefix(64)) : text }
}
