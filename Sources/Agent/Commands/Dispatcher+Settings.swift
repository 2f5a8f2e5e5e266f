import Commands
import Link
import Messages
import Settings
import Station

/// The verbs of the configuration.
extension Dispatcher {
    mutating func settings(_ effect: CommandEffect, _ request: CommandRequest, _ reporter: inout Reporter) {
        // One change after the other: what comes meanwhile waits for the one before.
        guard changing == nil else {
            let bytes = held.reduce(request.bytes) { $0 + $1.bytes }
            guard held.count < Self.heldLimit, bytes <= Self.heldBytes else {
                return fail(
                    request, revision: reporter.revision,
                    [CodedError("", .busy, "A change is under way, and enough commands wait for its end.")])
            }
            held.append(request)
            return
        }
        switch effect {
        case .change(let change): self.change(change, request, &reporter)
        case .confirm(let revision):
            do throws(CodedErrors) {
                let isTrial = keeper.ledger.connectionTrial != 0
                let number = try keeper.confirm(revision: revision, connection: request.connection)
                if isTrial { reconnect(confirmed: number) }
                reporter.reverted = nil
                reporter.take(keeper.ledger, inForce(keeper.settings), topics)
                say(request, .done, revision: number, result: ["rev": .int(Int64(number))])
            } catch {
                fail(request, revision: reporter.revision, error.told)
            }
        default:
            say(request, .done, revision: reporter.revision, result: ConfigTelling.whole(keeper.ledger))
        }
    }

    private mutating func change(
        _ change: ConfigChange, _ request: CommandRequest, _ reporter: inout Reporter
    ) {
        let before = keeper.ledger.revision
        do throws(CodedErrors) {
            let proposal = try keeper.propose(
                change.kind, ifRevision: change.ifRevision, confirm: change.confirm)
            try check(proposal, request)
            if change.isDryRun {
                let told = ConfigTelling.change(proposal, keeper.ledger)
                return say(
                    request, .done, revision: before,
                    result: told.with("dry_run", true).with("config", proposal.settings.effective))
            }
            // Before anything has changed: one that cannot be given to those who work with it is no change.
            guard sampling?.hasRoom ?? true else {
                throw CodedErrors([CodedError("", .busy, "Too many commands wait: ask again in a second.")])
            }
            let revision = try keeper.adopt(
                proposal, confirm: change.confirm, source: request.source, connection: connection(after: proposal))
            reporter.reverted = nil
            let told = ConfigTelling.change(proposal, keeper.ledger)
            guard revision != before else {
                reporter.wasRefused()
                return say(request, .done, revision: revision, result: told)
            }
            put(proposal, Changing(request: request, told: told, before: before, proposal: proposal), &reporter)
        } catch {
            // (Nothing is wrong with one that finds no place.)
            let isBusy = error.errors.contains { $0.code == .busy }
            if !change.isDryRun, !isBusy, case .merge(let patch) = change.kind {
                keeper.reject(patch, error.errors, source: request.source)
            }
            desk.refused()
            if !change.isDryRun { reporter.wasRefused() }
            fail(request, revision: reporter.revision, error.told)
        }
    }

    /// What of a proposal cannot be asked of a group, or cannot work at the rate of the sensor that is there.
    private func check(_ proposal: SettingsLedger.Proposal, _ request: CommandRequest) throws(CodedErrors) {
        if request.group != nil, proposal.changed.contains("station.id") {
            throw CodedErrors([
                CodedError("/station/id", .locked, "An id is of one station: no group can be given one.")
            ])
        }
        // With another sensor, or another rate of it, nothing is known yet.
        guard let sensor = status.now.sensor, proposal.restartStream.isEmpty else { return }
        let problems = StationCheck.problems(proposal.settings.configuration, sensor: StationSensor(sensor))
        guard problems.isEmpty else {
            throw CodedErrors(problems.map { CodedError($0.path, .crossField, $0.message) })
        }
    }

    /// Gives new settings to those who work with them.
    private mutating func put(
        _ proposal: SettingsLedger.Proposal, _ one: Changing, _ reporter: inout Reporter
    ) {
        changing = one
        let configuration = inForce(proposal.settings)
        log.control.level = configuration.log.level
        guard let sampling else { return applied(&reporter) }
        lastOrder += 1
        let order = StationOrder.reconfigure(
            configuration, revision: keeper.ledger.revision, reopens: !proposal.restartStream.isEmpty)
        ordered[lastOrder] = Ordered(request: one.request, isChange: true)
        // (There is room: whoever changes something has looked.)
        guard sampling.put(order, number: lastOrder) else {
            ordered[lastOrder] = nil
            return refused(CodedError("", .busy, "too many commands wait"), &reporter)
        }
    }

    /// The settings work: says so, and goes over to another connection when they ask for one.
    mutating func applied(_ reporter: inout Reporter) {
        guard let one = changing else { return }
        changing = nil
        let keys = one.proposal.changed
        if let request = one.request {
            say(request, .done, revision: keeper.ledger.revision, result: one.told)
        }
        if Self.concernsLink(keys) { reconnect() } else { storage.change(inForce(keeper.settings), topics: topics) }
        reporter.take(keeper.ledger, inForce(keeper.settings), topics)
        log.notice(
            "settings changed",
            ["revision": .int(keeper.ledger.revision), "keys": .text(keys.prefix(20).joined(separator: " "))])
        resume(&reporter)
    }

    /// They do not: they go back, and everybody is told.
    mutating func refused(_ error: CodedError, _ reporter: inout Reporter) {
        guard let one = changing else { return }
        changing = nil
        if keeper.revert() == nil, let back = try? keeper.propose(.rollback(to: one.before)) {
            _ = try? keeper.adopt(back, confirm: nil, source: "refused by the sensor", connection: 0)
        }
        log.control.level = keeper.settings.configuration.log.level
        if let request = one.request { fail(request, revision: keeper.ledger.revision, [error]) }
        reporter.take(keeper.ledger, inForce(keeper.settings), topics)
        resume(&reporter)
    }

    private mutating func resume(_ reporter: inout Reporter) {
        let waiting = held
        held = []
        for request in waiting { carryOut(request, &reporter) }
    }

    /// Takes a change back that nobody has confirmed in time.
    mutating func lookAtPending(_ reporter: inout Reporter) {
        guard changing == nil, sampling?.hasRoom ?? true, let pending = keeper.ledger.pending,
            let proposal = keeper.revertIfDue()
        else { return }
        let words = "revision \(pending.revision) of the settings was not confirmed in time and is taken back"
        log.warning(words, ["revision": .int(keeper.ledger.revision)])
        reporter.reverted = (
            words,
            .object([
                .init("left", .int(Int64(pending.revision))), .init("rev", .int(Int64(keeper.ledger.revision))),
                .init("keys", .array(proposal.changed.map { .string($0) })),
            ])
        )
        let one = Changing(request: nil, told: .object([]), before: pending.revision, proposal: proposal)
        put(proposal, one, &reporter)
    }
}

/// A change that is being applied.
struct Changing {
    /// Nil: nobody has asked for it.
    var request: CommandRequest?
    var told: Value
    /// The revision before.
    var before: Int
    var proposal: SettingsLedger.Proposal
}
