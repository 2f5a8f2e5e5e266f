import Alerts
import Commands
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Station
import Values

/// Carries commands out, one after the other, on the main thread: what they ask of other threads goes there as an order,
/// and its outcome comes back here.
struct Dispatcher: ~Copyable {
    /// Next action of the process after a round.
    enum Course: Equatable { case goOn, restart }

    private let keeper: SettingsKeeper
    private let link: Link
    private let log: Log
    private let inbox: MessageInbox
    private let status: SamplingStatus
    /// Nil: nobody takes orders.
    private let sampling: OrderBook<SamplingWork>?
    private let storage: StorageThread
    /// Nil: there is no alarm line.
    private let alarm: OrderBook<AlarmOrder>?
    private let boot: String
    private var messenger: Messenger
    private(set) var gate: CommandGate
    private let record: CommandRecord
    private var random = SystemRandomNumberGenerator()
    /// Commands that another thread carries out.
    private var ordered: [Int: CommandRequest] = [:]
    private var lastOrder = 0
    private var course = Course.goOn
    /// The change of the settings that is under way, and the requests that wait for its end.
    private(set) var changes = ChangeCoordinator()
    private var changing: Change?
    private var asked: [Int: (order: SettingsOrder, request: CommandRequest)] = [:]
    private var lastAsked = 0
    /// A wish for the updater on its way to the disk.
    private var wishing: (number: Int, request: CommandRequest, version: String, isConfirmation: Bool)?
    /// An update that the updater has not answered yet.
    private var hoped: (request: CommandRequest, version: String)?
    /// Commands and replies that wait for the disk.
    private var disk = DiskWaits()
    private var journalProblem: String?
    private let started = HostClock.monotonic()

    // (Members that only look are `mutating`: see StationPipeline.)

    /// Signalled when there is something for the next round.
    var wake: Wake { mutating get { inbox.wake } }
    /// A change of the settings is under way.
    var isChanging: Bool { mutating get { changing != nil } }
    /// Order of the change that the sampling thread is carrying out now.
    var stepUnderWay: Change.Step? {
        mutating get { if case .order(_, let step)? = changing?.awaited { step } else { nil } }
    }
    /// True while a command or reply waits for the thread of the disk.
    var waitsForDisk: Bool {
        // (Mutating because Swift 6.0's verifier ends the compiler where a borrowed dispatcher is looked into like this.)
        mutating get {
            if case .write? = changing?.awaited { return true }
            if case .reply? = changing?.awaited { return true }
            return disk.begun != nil || !disk.arrived.isEmpty || !disk.replies.isEmpty || wishing != nil
        }
    }

    init(
        _ keeper: SettingsKeeper, topics: Topics, boot: String, link: Link, log: Log, inbox: MessageInbox,
        status: SamplingStatus, sampling: OrderBook<SamplingWork>?, storage: StorageThread,
        alarm: OrderBook<AlarmOrder>? = nil
    ) {
        let configuration = keeper.settings.configuration
        self.keeper = keeper
        self.link = link
        self.log = log
        self.inbox = inbox
        self.status = status
        self.sampling = sampling
        self.storage = storage
        self.alarm = alarm
        self.boot = boot
        messenger = Messenger(topics: topics, boot: boot)
        keeper.writes = storage.files
        var journal = CommandJournal(directory: configuration.storage.directory)
        gate = CommandGate(topics: topics, groups: configuration.station.groups, memory: journal.read())
        record = CommandRecord(journal)
    }

    /// Does all that can be done now; to be called when the inbox's descriptor is readable, and once a second.
    mutating func round(_ reporter: inout Reporter) -> Course {
        takeWrites(&reporter)
        if disk.arrived.isEmpty {
            let (messages, lost) = inbox.take()
            disk.arrived = messages[...]
            gate.lost(lost)
        }
        while disk.begun == nil, let verdict = nextVerdict(&reporter) { act(verdict, &reporter) }
        for (number, outcome) in (sampling?.takeOutcomes() ?? []) + storage.orders.takeOutcomes()
            + (alarm?.takeOutcomes() ?? [])
        {
            take(number, outcome, &reporter)
        }
        if let due = changes.due, HostClock.monotonic() >= due { follow(.time, &reporter) }
        lookAtPending(&reporter)
        takeUpdateAnswer(&reporter)
        if changing == nil { keeper.lookAtTrial(HostClock.monotonic()) }
        sendLog()
        reporter.rejectedCommands = gate.rejected
        // The reply to it leaves first, if the disk takes it down.
        return disk.replies.isEmpty || HostClock.monotonic() >= disk.patienceEnds ? course : .goOn
    }

    private mutating func nextVerdict(_ reporter: inout Reporter) -> CommandGate.Verdict? {
        let (now, wall) = (HostClock.monotonic(), HostClock.wall())
        guard let message = disk.arrived.popFirst() else { return gate.next(now: now, wall: wall) }
        if reporter.isFromHomeAssistant(message) {
            reporter.take(fromHomeAssistant: message, random: random.next())
            return .nothing
        }
        return gate.take(message, connection: message.connection, now: now, wall: wall, random: &random)
    }

    /// When the next round is due even if nothing comes (ns of the monotonic clock).
    var due: Int64? {
        mutating get {
            let reverts = changes.isIdle ? keeper.reverts : nil
            return [gate.nextDue, reverts, changes.due, disk.begun?.deadline].compactMap { $0 }.min()
        }
    }

    // MARK: Replies

    private mutating func act(_ verdict: CommandGate.Verdict, _ reporter: inout Reporter) {
        switch verdict {
        case .nothing: break
        case .again(let reply, let destination): publish(reply, destination)
        case .refuse(let refusal):
            if refusal.command == Command.config.name { reporter.wasRefused() }
            log.info(
                "command refused",
                ["command": .text(refusal.command), "code": .text(refusal.errors.first?.code.rawValue ?? "")])
            guard let destination = refusal.destination else { return }
            let message = ReplyMessage(
                id: refusal.id, command: refusal.command, phase: .failed, revision: reporter.revision,
                errors: refusal.errors)
            // It changes nothing, and so is not worth a place on the disk: a flood of bad commands would wear that out.
            publish(messenger.reply(message, time: HostClock.wall()), destination, priority: .state)
        case .carryOut(let request):
            guard !request.command.onlyTells, let id = request.id, let entry = gate.memory.entry(id) else {
                return carryOut(request, &reporter)
            }
            // It is carried out when the disk knows of it, so that it never is a second time.
            disk.begin(request, note(entry, isDurable: true))
        }
    }

    /// Says what became of a command, when it is on the disk that it was carried out; what was not is said at once.
    /// - Returns: the number of the write that the reply waits for; nil: it has left.
    @discardableResult
    mutating func say(
        _ request: CommandRequest, _ phase: ReplyMessage.Phase, revision: Int, errors: [CodedError] = [],
        result: Value = .object([]), made: ReplyResult? = nil, isIncomplete: Bool = false
    ) -> Int? {
        var message = ReplyMessage(
            id: request.id, command: request.command.name, phase: phase, revision: revision, errors: errors,
            result: result)
        message.isIncomplete = isIncomplete || made?.isIncomplete == true
        let reply = messenger.reply(message, made: made, time: HostClock.wall())
        var number: Int?
        if let entry = gate.said(request, reply, isFinal: phase != .accepted) {
            let written = note(entry, isDurable: !request.command.onlyTells)
            if !request.command.onlyTells, phase != .failed { number = written }
        }
        note(request, phase, errors.first)
        guard let destination = request.destination else { return number }
        // (One reply to a command does not overtake another.)
        if number == nil, disk.replies.contains(where: { $0.id == request.id }) { number = disk.replies.last?.number }
        if let made {
            // Long, and it can be asked for again: it does not go by way of the disk.
            publish(reply, destination, priority: .state, isCBOR: made.isCBOR)
            return nil
        }
        guard let number else {
            publish(reply, destination)
            return nil
        }
        disk.wait(DiskWaits.Reply(number: number, id: request.id, bytes: reply, destination: destination))
        return number
    }

    private mutating func note(_ request: CommandRequest, _ phase: ReplyMessage.Phase, _ error: CodedError?) {
        let (verb, id, source) = (
            Log.Field.text(request.command.name), Log.Field.text(request.id ?? ""), Log.Field.text(request.source)
        )
        var fields: KeyValuePairs<String, Log.Field> = ["command": verb, "id": id, "source": source]
        // Only what has failed has a code.
        if let error { fields = ["command": verb, "id": id, "source": source, "code": .text(error.code.rawValue)] }
        let words = "command \(phase.rawValue)"
        if request.command.onlyTells { log.debug(words, fields) } else { log.notice(words, fields) }
    }

    mutating func fail(_ request: CommandRequest, revision: Int, _ errors: [CodedError]) {
        say(request, .failed, revision: revision, errors: errors)
    }

    mutating func publish(
        _ reply: [UInt8], _ destination: ReplyDestination, priority: Priority = .essential, isCBOR: Bool = false
    ) {
        switch replyRoom?.form(reply, destination, isCBOR: isCBOR, time: HostClock.wall()) ?? .whole {
        case .whole: send(reply, Messenger.header(destination, isCBOR: isCBOR), priority)
        case .short(let form, let command, let bytes):
            let fields: KeyValuePairs<String, Log.Field> = [
                "command": .text(command), "bytes": .int(bytes), "limit": .int(link.statistics.packetLimit ?? 0),
            ]
            if let form {
                log.notice("a reply is larger than the broker takes", fields)
                send(form, Messenger.header(destination), priority)
            } else {
                log.warning("no reply: even the shortest is larger than the broker takes", fields)
            }
        }
    }

    private mutating func send(_ reply: [UInt8], _ header: PublicationHeader, _ priority: Priority) {
        var header = header
        header.priority = priority
        reply.withUnsafeBytes { link.publish(header, $0) }
    }

    /// (Mutating because Swift 6.0's verifier ends the compiler where a borrowed dispatcher is looked into like this.)
    private mutating func note(_ entry: CommandMemory.Entry, isDurable: Bool) -> Int {
        record.append(entry, isDurable: isDurable, gate.memory, to: storage.files)
    }

    private mutating func sendLog() {
        let link = self.link
        for line in log.control.take(now: HostClock.monotonic()) {
            messenger.send(line, to: { link.publish($0, $1) })
        }
    }
}

/// Requests of commands to the agent.
extension Dispatcher {
    mutating func carryOut(_ request: CommandRequest, _ reporter: inout Reporter) {
        switch request.decision(context(reporter)) {
        case .reply(let result): say(request, .done, revision: reporter.revision, result: result)
        case .refuse(let errors): fail(request, revision: reporter.revision, errors)
        case .effect(let effect): perform(effect, request, &reporter)
        }
    }

    private mutating func context(_ reporter: Reporter) -> CommandContext {
        // (By the reporter: Debian 13's Swift 6.0.3 dies of a look through an object that a dispatcher has, since it cannot be
        // copied.)
        let settings = reporter.inForce
        return CommandContext(
            revision: reporter.revision, boot: boot, uptime: Double(HostClock.monotonic() - started) / 1e9,
            wall: HostClock.wall(), topics: messenger.topics,
            rate: status.now.sensor?.rate ?? settings.sensor.rate,
            takesConfirmations: settings.detection.event.confirmation,
            alerts: reporter.activeAlerts,
            update: reporter.updateSituation,
            clock: { HostStatus.clock() ?? (TimeQuality(synced: false, source: .free), nil) },
            status: reporter.statusNow)
    }

    /// Gives an owner what is asked of it.
    private mutating func perform(_ effect: CommandEffect, _ request: CommandRequest, _ reporter: inout Reporter) {
        let revision = reporter.revision
        switch effect {
        case .settings(let order): settings(order, request, &reporter)
        case .main(let order): carryOut(order, request, &reporter)
        case .sampling(let work): order(.command(work), sampling, request, revision)
        case .alarm(let work):
            order(
                work, alarm, request, revision,
                without: "This station has no alarm line: set alarm.gpio.line in its file.")
        case .storage(let work):
            order(StorageThread.Order(work, room: resultRoom(request)), storage.orders, request, revision)
        case .both(let work, let kept):
            lastOrder += 1
            sampling?.put(.command(work), number: lastOrder)
            order(StorageThread.Order(kept, room: resultRoom(request)), storage.orders, request, revision)
        }
    }

    /// Carries out the main thread's own orders.
    private mutating func carryOut(_ order: MainOrder, _ request: CommandRequest, _ reporter: inout Reporter) {
        let revision = reporter.revision
        switch order {
        case .rebirth:
            reporter.sayAllAgain()
            say(
                request, .done, revision: revision,
                result: ["topics": .int(Int64(link.sendRetainedAgain()))])
        case .log(let level, let seconds):
            let wait = Int64(seconds * 1e9)
            log.control.relay(level, until: HostClock.monotonic() + wait, wake: inbox.wake)
            say(
                request, .done, revision: revision,
                result: ["until": .string(Timestamp(nanoseconds: HostClock.wall() + wait).description)])
        case .logTail(let count, let level):
            // (Of what stands around the lines: a number.)
            let room = (resultRoom(request) ?? 262_144) - 50
            let (lines, others) = log.control.last(count, from: level, room: room)
            let list = Array(lines.joined(separator: ",".utf8))
            let bytes = Array("{\"lines\":[".utf8) + list + Array("],\"others\":\(others)}".utf8)
            say(request, .done, revision: revision, made: ReplyResult(bytes: bytes, isCBOR: false))
        case .restart:
            say(request, .done, revision: revision)
            course = .restart
        case .update(let wanted):
            wish(reporter.updates.request(wanted), wanted.version, isConfirmation: false, request, revision)
        case .confirmUpdate(let version):
            wish(reporter.updates.confirm(version), version, isConfirmation: true, request, revision)
        }
    }

    /// Writes a wish for the updater. A confirmation is done when it is on the disk, a request when the updater has heard it.
    private mutating func wish(
        _ write: @escaping @Sendable () -> String?, _ version: String, isConfirmation: Bool,
        _ request: CommandRequest, _ revision: Int
    ) {
        guard wishing == nil else {
            return fail(
                request, revision: revision,
                [CodedError("", .busy, "Another request for an update is being written: ask again later.")])
        }
        wishing = (storage.files.put(.update, write), request, version, isConfirmation)
    }

    private mutating func wished(_ number: Int, _ problem: String?, _ reporter: inout Reporter) {
        guard let one = wishing, number >= one.number else { return }
        wishing = nil
        if let problem {
            return fail(
                one.request, revision: reporter.revision,
                [CodedError("", .unavailable, "The request for the update could not be written: \(problem)")])
        }
        let result: Value = ["version": .string(one.version)]
        if one.isConfirmation { return _ = say(one.request, .done, revision: reporter.revision, result: result) }
        reporter.updateWasAsked(one.request.id)
        hoped = (one.request, one.version)
        say(one.request, .accepted, revision: reporter.revision, result: result)
    }

    private mutating func takeUpdateAnswer(_ reporter: inout Reporter) {
        guard let answer = reporter.takeUpdateAnswer(), let (request, version) = hoped else { return }
        hoped = nil
        switch answer {
        case .heard: say(request, .done, revision: reporter.revision, result: ["version": .string(version)])
        case .refused(let why): fail(request, revision: reporter.revision, [CodedError("", .busy, why)])
        case .unheard(let why): fail(request, revision: reporter.revision, [CodedError("", .unavailable, why)])
        }
    }

    /// Gives another thread an order; its outcome is the reply.
    /// - Parameter without: what is said where there is no such thread.
    private mutating func order<Order>(
        _ order: Order, _ book: OrderBook<Order>?, _ request: CommandRequest, _ revision: Int,
        without: String = "This station has no thread that samples: it cannot do this."
    ) {
        guard let book else {
            return fail(request, revision: revision, [CodedError("", .unavailable, without)])
        }
        // What takes long, or much room, is not piled up.
        let underWay = ordered.values.count { $0.command == request.command }
        guard underWay < request.command.most else {
            return fail(
                request, revision: revision,
                [
                    CodedError(
                        "", .busy, "Another `\(request.command.name)` is under way: ask again when it has ended.",
                        allowed: "\(request.command.most) at a time")
                ])
        }
        lastOrder += 1
        guard book.put(order, number: lastOrder) else {
            return fail(
                request, revision: revision, [CodedError("", .busy, "Too many commands are waiting: ask again later.")])
        }
        ordered[lastOrder] = request
    }

    mutating func take(_ number: Int, _ outcome: OrderOutcome, _ reporter: inout Reporter) {
        if case .order(number, let step)? = changing?.awaited { return take(outcome, of: step, &reporter) }
        guard let request = ordered[number] else { return }
        if case .began = outcome {} else { ordered[number] = nil }
        switch outcome {
        case .began(let result): say(request, .accepted, revision: reporter.revision, result: result)
        case .done(let result):
            if request.command == .calibrate { reporter.keep(calibration: result) }
            say(request, .done, revision: reporter.revision, result: result)
        case .partly(let result):
            say(request, .done, revision: reporter.revision, result: result, isIncomplete: true)
        case .made(let result): say(request, .done, revision: reporter.revision, made: result)
        case .failed(let error): fail(request, revision: reporter.revision, [error])
        }
    }
}

extension Dispatcher {
    /// Takes the outcomes of writes.
    /// - Parameter now: of the monotonic clock (ns).
    mutating func takeWrites(_ reporter: inout Reporter, now: Int64 = HostClock.monotonic()) {
        for outcome in storage.files.takeOutcomes() {
            switch outcome.file {
            case .settings:
                if outcome.problem != nil { keeper.isUnknown() }
                take(outcome, .persisted(outcome.problem), &reporter)
            case .credentials:
                let problem = outcome.problem.map { CodedError("/mqtt/tls", .crossField, $0) }
                take(outcome, problem.map { .refused(.link, [$0]) } ?? .prepared(.link), &reporter)
            case .room:
                let problem = outcome.problem.map { CodedError("/storage/budget_mb", .unavailable, $0) }
                take(outcome, problem.map { .refused(.storage, [$0]) } ?? .prepared(.storage), &reporter)
            case .commands:
                if let problem = outcome.problem, problem != journalProblem {
                    log.error("command journal not saved: \(problem)")
                }
                journalProblem = outcome.problem
                written(outcome.number, &reporter)
            case .update: wished(outcome.number, outcome.problem, &reporter)
            case .selfTest, .calibration, .homeAssistant, .alerts, .level:
                if let problem = outcome.problem { reporter.note(problem) }
            }
        }
        guard let request = disk.givenUp(now: now) else { return }
        fail(
            request, revision: reporter.revision,
            [CodedError("", .unavailable, "The disk did not answer within 10 s. Nothing was done: ask again later.")])
    }

    /// Takes the outcome of a write, or of a look at the disk, that the change may wait for.
    private mutating func take(
        _ outcome: FileWrites.Outcome, _ event: ChangeCoordinator.Event, _ reporter: inout Reporter
    ) {
        guard case .write(outcome.file, let number)? = changing?.awaited, outcome.number >= number else { return }
        changing?.awaited = nil
        follow(event, &reporter)
    }

    private mutating func written(_ number: Int, _ reporter: inout Reporter) {
        let (request, replies) = disk.written(number)
        for one in replies { publish(one.bytes, one.destination) }
        if case .reply(let reply)? = changing?.awaited, reply <= number {
            changing?.awaited = nil
            follow(.answered, &reporter)
        }
        if let request { carryOut(request, &reporter) }
    }

    /// Lets the last replies leave, if the disk takes them down in time.
    mutating func finish(_ reporter: inout Reporter, within seconds: Double) {
        let end = HostClock.monotonic() + Int64(seconds * 1e9)
        while !disk.replies.isEmpty, HostClock.monotonic() < end {
            if inbox.wake.wait(milliseconds: 50) { inbox.wake.clear() }
            takeWrites(&reporter)
        }
    }
}

/// Replies and the largest packet that the broker takes.
extension Dispatcher {
    /// Nil: the broker has named no limit.
    private var replyRoom: ReplyRoom? {
        mutating get {
            guard let limit = link.statistics.packetLimit else { return nil }
            return ReplyRoom(limit: limit, messenger: messenger, revision: keeper.ledger.revision)
        }
    }

    /// Bytes that the result of a reply may have; nil: any number.
    private mutating func resultRoom(_ request: CommandRequest) -> Int? {
        guard let destination = request.destination else { return nil }
        return replyRoom?.result(
            id: request.id, command: request.command.name, destination: destination, time: HostClock.wall())
    }
}

/// The verbs of the configuration: what a request asks for, up to the change that goes through its owners.
extension Dispatcher {
    /// A change that is on its way through its owners; there is one at a time. (An object, and the dispatcher not to be
    /// copied: what Swift makes to copy so many settings is 200 KiB of the program.)
    final class Change {
        /// An order to the thread that samples.
        enum Step { case prepare, commit }

        /// Something outside the main thread that the change waits for.
        enum Awaited {
            /// The outcome of an order to the thread that samples, by its number.
            case order(Int, Step)
            /// The outcome of a write with this number or a later one, or of a look at the disk.
            case write(FileWrites.File, Int)
            /// The write of the reply, by its number.
            case reply(Int)
        }

        /// Nil: nothing. It waits for one thing at a time.
        var awaited: Awaited?
        /// Nil: nobody has asked for it.
        var request: CommandRequest?
        /// Content of the reply.
        var told: Value
        /// With it in force.
        var next: SettingsLedger
        /// Keys whose values it changes.
        var keys: [String] = []
        /// The sensor has to be opened anew.
        var reopens = false
        /// For the thread that samples; nil: it has prepared them itself.
        var prepared: PreparedSettings?
        /// The connection after the change; nil: it does not concern the link.
        var link: LinkChange?
        /// Another broker, or other credentials: the files that they need are looked for.
        var files = false
        /// A trial that was passed, by the number of its revision.
        var confirmed: Int?
        /// The change that is taken back.
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
                gate.refused()
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

    /// Errors of a proposal for a group, or at the rate of the present sensor.
    private mutating func check(_ proposal: SettingsLedger.Proposal, _ request: CommandRequest) throws(CodedErrors) {
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
    private mutating func lookAtPending(_ reporter: inout Reporter) {
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

/// The change under way, in the hands of its owners.
extension Dispatcher {
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
            // Others have prepared nothing that outlasts the change.
            if owner == .sampling { order(.abandon, as: nil) }
            return nil
        case .persist:
            guard let next = changing?.next, let number = keeper.save(next) else { return .persisted(nil) }
            changing?.awaited = .write(.settings, number)
            return nil
        case .restore:
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
            let number = storage.files.put(.credentials) { TransportSecurity.fileProblem(tls) }
            one.awaited = .write(.credentials, number)
            return nil
        case .storage:
            // Whether the disk works shows when the change is written to it. What is taken back was in force before.
            let wanted = one.next.settings.configuration.storage
            guard one.request != nil, wanted.budget > keeper.settings.configuration.storage.budget else {
                return .prepared(owner)
            }
            let status = storage.status
            let number = storage.files.put(.room) { wanted.problem(used: status.now.statistics.fileBytes) }
            one.awaited = .write(.room, number)
            return nil
        case .log, .commands, .reporter: return .prepared(owner)
        }
    }

    /// Gives the thread that samples an order of the change.
    /// - Parameter step: what the change waits for then; nil: for nothing.
    /// - Returns: false when too many wait.
    @discardableResult
    private mutating func order(_ order: SettingsStep, as step: Change.Step?) -> Bool {
        lastOrder += 1
        guard let sampling, sampling.put(.settings(order), number: lastOrder, always: order.endsAChange) else {
            return false
        }
        changing?.awaited = step.map { .order(lastOrder, $0) }
        return true
    }

    /// Takes the sampling thread's outcome of such an order.
    mutating func take(_ outcome: OrderOutcome, of step: Change.Step, _ reporter: inout Reporter) {
        changing?.awaited = nil
        switch (step, outcome) {
        case (.prepare, .failed(let error)):
            follow(.refused(.sampling, [error]), &reporter)
        case (.prepare, _): follow(.prepared(.sampling), &reporter)
        case (.commit, _): follow(.committed(.sampling), &reporter)
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
                configuration, topics: one.link?.topics ?? messenger.topics, trial: one.link?.trial,
                confirmed: one.confirmed)
        case .link:
            guard let change = one.link else { break }
            do throws(MQTTError) { try link.change(to: change.options) } catch {
                log.error("connection settings not changed: \(error.message)")
            }
            // Values that are kept in the link move with it; whoever publishes them again comes after.
            if change.topics != messenger.topics {
                var anew = Messenger(topics: change.topics, boot: boot)
                anew.takeOver(messenger)
                messenger = anew
            }
        case .commands: gate = gate.with(topics: messenger.topics, groups: configuration.station.groups)
        case .reporter:
            keeper.putInForce()
            reporter.takeSettings(messenger.topics)
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
        _ refusal: ChangeCoordinator.OwnerRefusal?, _ reporter: inout Reporter
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
        one.awaited = .reply(number)
        return nil
    }
}
