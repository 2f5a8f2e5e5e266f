import Alerts
import Commands
import Messages
import Settings
import Station

/// The verbs of the configuration: what a request asks for, up to the change that goes through its owners.
extension Dispatcher {
    /// A change that is on its way through its owners; there is one at a time. (An object, and the dispatcher not to be
    /// copied: what Swift makes to copy so many settings is 200 KiB of the program.)
    final class Change {
        /// Nil: nobody has asked for it.
        var request: CommandRequest?
        /// What the reply tells.
        var told: Value
        /// With it in force.
        var next: SettingsLedger
        /// Keys whose values it changes.
        var keys: [String] = []
        /// The sensor has to be opened anew.
        var reopens = false
        /// For the thread that samples; nil: it has prepared them itself.
        var prepared: PreparedSettings?
        /// Of the connection, as it will be; nil: it does not concern the link.
        var link: LinkChange?
        /// Another broker, or other credentials: the files that they need are looked for.
        var files = false
        /// A trial that was passed, by the number of its revision.
        var confirmed: Int?
        /// What is taken back.
        var reverted: AlertFault?

        init(request: CommandRequest?, told: Value, next: SettingsLedger) {
            (self.request, self.told, self.next) = (request, told, next)
        }
    }

    mutating func settings(_ order: SettingsOrder, _ request: CommandRequest, _ reporter: inout Reporter) {
        lastAsked += 1
        asked[lastAsked] = (order, request)
        follow(.asked(lastAsked, bytes: request.bytes), &reporter)
    }

    /// It is the turn of a request.
    mutating func begin(
        _ order: SettingsOrder, _ request: CommandRequest, _ reporter: inout Reporter
    ) -> ChangeCoordinator.Event {
        switch order {
        case .change(let change):
            do throws(CodedErrors) { return try self.change(change, request, &reporter) } catch {
                if !change.isDryRun, case .merge(let patch) = change.kind {
                    keeper.reject(patch, error.errors, source: request.source)
                }
                desk.refused()
                if !change.isDryRun { reporter.wasRefused() }
                fail(request, revision: reporter.revision, error.told)
            }
        case .confirm(let revision):
            do throws(CodedErrors) {
                let (number, trial) = (keeper.ledger.revision, keeper.ledger.connectionTrial)
                let one = Change(request: request, told: ["rev": .int(Int64(number))], next: keeper.ledger)
                try one.next.confirm(revision: revision, connection: request.connection)
                if trial != 0 { one.confirmed = number }
                return try start(one, [.reporter])
            } catch {
                fail(request, revision: reporter.revision, error.told)
            }
        case .show:
            say(request, .done, revision: reporter.revision, result: ConfigTelling.whole(keeper.ledger))
        }
        return .nothing
    }

    private mutating func change(
        _ change: ConfigChange, _ request: CommandRequest, _ reporter: inout Reporter
    ) throws(CodedErrors) -> ChangeCoordinator.Event {
        let before = keeper.ledger
        let proposal = try keeper.propose(change.kind, ifRevision: change.ifRevision, confirm: change.confirm)
        try check(proposal, request)
        if change.isDryRun {
            let told = ConfigTelling.change(proposal, before)
            say(
                request, .done, revision: before.revision,
                result: told.with("dry_run", true).with("config", proposal.settings.effective))
            return .nothing
        }
        let one = Change(request: request, told: .object([]), next: before)
        let revision = one.next.adopt(
            proposal, confirm: change.confirm, source: request.source, now: HostClock.wall(),
            monotonic: HostClock.monotonic(), connection: link.statistics.connections)
        one.told = ConfigTelling.change(proposal, one.next)
        guard revision != before.revision else {
            reporter.reverted = nil
            reporter.wasRefused()
            say(request, .done, revision: revision, result: one.told)
            return .nothing
        }
        one.files = proposal.reconnects
        return try start(one, proposal)
    }

    private mutating func start(
        _ one: Change, _ proposal: SettingsLedger.Proposal, isForced: Bool = false
    ) throws(CodedErrors) -> ChangeCoordinator.Event {
        (one.keys, one.reopens) = (proposal.changed, !proposal.restartStream.isEmpty)
        return try start(one, proposal.owners, isForced: isForced)
    }

    /// - Throws: `cross_field`, where no connection can be made with the settings.
    private mutating func start(
        _ one: Change, _ concerned: [SettingOwner], isForced: Bool = false
    ) throws(CodedErrors) -> ChangeCoordinator.Event {
        var owners = concerned
        // What a broker on trial took counts, or not.
        if one.next.connectionTrial != keeper.ledger.connectionTrial { owners += [.storage, .link] }
        if owners.contains(.link) {
            let new = try LinkChange(one.next)
            one.next.awaitConfirmation(above: link.number(ofChangeTo: new.options))
            one.link = new
        }
        changing = one
        return .start(SettingOwner.allCases.filter(owners.contains), isForced: isForced)
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

    /// Takes a change back that nobody has confirmed in time.
    mutating func lookAtPending(_ reporter: inout Reporter) {
        let now = HostClock.monotonic()
        guard let pending = keeper.ledger.pending, now >= pending.deadlineMonotonic, changes.mayForce(now: now),
            sampling?.hasRoom ?? true
        else { return }
        let one = Change(request: nil, told: .object([]), next: keeper.ledger)
        guard let proposal = one.next.revert(now: HostClock.wall()) else { return }
        one.reverted = AlertFault(
            "revision \(pending.revision) of the settings was not confirmed in time and is taken back",
            .object([
                .init("left", .int(Int64(pending.revision))), .init("rev", .int(Int64(one.next.revision))),
                .init("keys", .array(proposal.changed.map { .string($0) })),
            ])
        )
        do throws(CodedErrors) { follow(try start(one, proposal, isForced: true), &reporter) } catch {
            log.error("settings could not be taken back: \(error.errors.first?.message ?? "")")
        }
    }
}
