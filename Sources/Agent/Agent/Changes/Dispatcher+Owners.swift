import Link
import Messages
import Settings
import Station

/// The change under way, in the hands of its owners.
extension Dispatcher {
    /// An order of the change under way, to the thread that samples.
    enum ChangeOrder { case prepare, commit, abandon }

    /// Tells the coordinator what has happened, and does what follows.
    mutating func follow(_ event: ChangeCoordinator.Event, _ reporter: inout Reporter) {
        var events = [event]
        while !events.isEmpty {
            for action in changes.handle(events.removeFirst(), now: HostClock.monotonic()) {
                if let next = act(action, &reporter) { events.append(next) }
            }
        }
    }

    /// - Returns: what came of it, when that is known at once.
    private mutating func act(
        _ action: ChangeCoordinator.Action, _ reporter: inout Reporter
    ) -> ChangeCoordinator.Event? {
        switch action {
        case .begin(let number):
            guard let (order, request) = asked.removeValue(forKey: number) else { return .nothing }
            return begin(order, request, &reporter)
        case .busy(let number):
            guard let request = asked.removeValue(forKey: number)?.request else { return nil }
            fail(
                request, revision: reporter.revision,
                [CodedError("", .busy, "A change is in progress, and too many commands are waiting: ask again later.")])
            return nil
        case .prepare(let owner): return prepare(owner)
        case .abandon(let owner):
            if owner == .sampling { order(.abandon, as: .abandon) }
            if owner == .link { checking = nil }
            if owner == .storage { measuring = nil }
            return nil
        case .persist:
            guard let next = changing?.next, let number = keeper.save(next) else { return .persisted(nil) }
            persisting = number
            return nil
        case .restore:
            persisting = nil
            keeper.save(keeper.ledger)
            return nil
        case .adopt:
            adopt(&reporter)
            return nil
        case .commit(let owner): return commit(owner, &reporter)
        case .answer(let refusal): return answer(refusal, &reporter)
        case .finish:
            changing = nil
            return nil
        }
    }

    private mutating func prepare(_ owner: SettingOwner) -> ChangeCoordinator.Event? {
        guard let one = changing else { return nil }
        switch owner {
        case .sampling:
            guard let sampling else { return .prepared(owner) }
            let (settings, revision) = (one.next.inForce(one.next.settings), one.next.revision)
            let busy = CodedError("", .busy, "too many commands are waiting: ask again later")
            let words = status.now
            guard !one.reopens, let open = words.sensor else {
                let step = SettingsStep.prepare(settings, revision: revision, reopens: one.reopens)
                return order(step, as: .prepare) ? nil : .refused(owner, [busy])
            }
            // With the sensor that is there it takes no time of that thread.
            guard sampling.hasRoom else { return .refused(owner, [busy]) }
            var sensor = StationSensor(open)
            sensor.rate = words.rate ?? sensor.rate
            do throws(StationError) {
                let pipeline = try StationPipeline.Prepared(settings, sensor: sensor, boot: boot)
                changing?.prepared = PreparedSettings(configuration: settings, revision: revision, pipeline: pipeline)
            } catch { return .refused(owner, [CodedError(error)]) }
            return .prepared(owner)
        case .link:
            guard one.files, let tls = one.link?.tls else { return .prepared(owner) }
            checking = storage.files.put(.credentials) { TransportSecurity.fileProblem(tls) }
            return nil
        case .storage:
            // Whether the disk works shows when the change is written to it. What is taken back was in force before.
            let wanted = one.next.settings.configuration.storage
            guard one.request != nil, wanted.budget > keeper.settings.configuration.storage.budget else {
                return .prepared(owner)
            }
            let status = storage.status
            measuring = storage.files.put(.room) { wanted.problem(used: status.now.statistics.fileBytes) }
            return nil
        case .log, .commands, .reporter: return .prepared(owner)
        }
    }

    /// Gives the thread that samples an order of the change.
    /// - Returns: false when too many wait.
    @discardableResult
    private mutating func order(_ order: SettingsStep, as step: ChangeOrder) -> Bool {
        lastOrder += 1
        guard let sampling, sampling.put(.settings(order), number: lastOrder, always: order.endsAChange) else {
            return false
        }
        changeOrder = (lastOrder, step)
        return true
    }

    /// What the thread that samples says of such an order.
    mutating func take(_ outcome: OrderOutcome, of step: ChangeOrder, _ reporter: inout Reporter) {
        changeOrder = nil
        switch (step, outcome) {
        case (.prepare, .failed(let error)):
            follow(.refused(.sampling, [error]), &reporter)
        case (.prepare, _): follow(.prepared(.sampling), &reporter)
        case (.commit, _): follow(.committed(.sampling), &reporter)
        case (.abandon, _): break
        }
    }

    /// It is on the disk, and counts from now on.
    private mutating func adopt(_ reporter: inout Reporter) {
        guard let one = changing else { return }
        keeper.adopt(one.next)
        reporter.reverted = one.reverted
        if let fault = one.reverted { log.warning(fault.message, ["revision": .int(keeper.ledger.revision)]) }
    }

    private mutating func commit(_ owner: SettingOwner, _ reporter: inout Reporter) -> ChangeCoordinator.Event? {
        guard let one = changing else { return nil }
        let configuration = keeper.ledger.inForce(keeper.settings)
        switch owner {
        case .log: log.control.level = configuration.log.level
        case .sampling:
            return order(.commit(one.prepared.take()), as: .commit) ? nil : .committed(owner)
        case .storage:
            storage.change(
                configuration, topics: one.link?.topics ?? topics, trial: one.link?.trial, confirmed: one.confirmed)
        case .link:
            guard let change = one.link else { break }
            do throws(LinkError) { try link.change(to: change.options) } catch {
                log.error("connection settings not changed: \(error.message)")
            }
            // Values that are kept in the link move with it; whoever publishes them again comes after.
            if change.topics != topics {
                topics = change.topics
                var anew = Messenger(topics: topics, boot: boot)
                anew.takeOver(messenger)
                messenger = anew
            }
        case .commands: desk = desk.with(topics: topics, groups: configuration.station.groups)
        case .reporter:
            reporter.take(keeper.ledger, configuration, topics)
            guard !one.keys.isEmpty else { break }
            log.notice(
                "settings changed",
                [
                    "revision": .int(keeper.ledger.revision), "keys": .text(one.keys.prefix(20).joined(separator: " ")),
                ])
        }
        return .committed(owner)
    }

    /// - Returns: nil: the reply waits for the disk.
    private mutating func answer(
        _ refusal: ChangeCoordinator.Refusal?, _ reporter: inout Reporter
    ) -> ChangeCoordinator.Event? {
        guard let one = changing else { return .answered }
        if let refusal {
            var errors = refusal.errors
            for i in errors.indices { errors[i].message = "\(refusal.owner.rawValue): \(errors[i].message)" }
            guard let request = one.request else {
                log.error("settings could not be taken back, tried again: \(errors.first?.message ?? "")")
                return nil
            }
            reporter.wasRefused()
            fail(request, revision: reporter.revision, CodedErrors(errors).told)
            return nil
        }
        guard let request = one.request,
            let number = say(request, .done, revision: keeper.ledger.revision, result: one.told)
        else { return .answered }
        answering = number
        return nil
    }
}
