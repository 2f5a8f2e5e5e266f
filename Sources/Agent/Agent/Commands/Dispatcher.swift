import Commands
import Glibc
import Link
import Messages
import Settings

/// Carries commands out, one after the other, on the main thread: what they ask of other threads goes there as an order,
/// and its outcome comes back here.
struct Dispatcher: ~Copyable {
    /// What the process is to do after a round.
    enum Course: Equatable { case goOn, restart }

    let keeper: SettingsKeeper
    let link: Link
    let log: Log
    let inbox: CommandInbox
    let status: SamplingStatus
    /// Nil: nobody takes orders.
    let sampling: OrderBook<SamplingWork>?
    let storage: StorageThread
    /// Nil: there is no alarm line.
    let alarm: OrderBook<AlarmOrder>?
    let boot: String
    var topics: Topics
    var messenger: Messenger
    var desk: CommandDesk
    let record: CommandRecord
    var random = SystemRandomNumberGenerator()
    /// Commands that another thread carries out.
    var ordered: [Int: CommandRequest] = [:]
    var lastOrder = 0
    var course = Course.goOn
    /// The change of the settings that is under way, and the requests that wait for its end.
    var changes = ChangeCoordinator()
    var changing: Change?
    var asked: [Int: (order: SettingsOrder, request: CommandRequest)] = [:]
    var lastAsked = 0
    /// What is awaited of it: the outcome of an order, of a write, of a look for files and for room, of the reply's way to the disk.
    var changeOrder: (number: Int, step: ChangeOrder)?
    var persisting: Int?
    var checking: Int?
    var measuring: Int?
    var answering: Int?
    /// Commands and replies that wait for the disk.
    var disk = DiskWaits()
    var journalProblem: String?
    let started = HostClock.monotonic()

    init(
        _ keeper: SettingsKeeper, topics: Topics, boot: String, link: Link, log: Log, inbox: CommandInbox,
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
        self.topics = topics
        messenger = Messenger(topics: topics, boot: boot)
        keeper.writes = storage.files
        var journal = CommandJournal(directory: configuration.storage.directory)
        desk = CommandDesk(topics: topics, groups: configuration.station.groups, memory: journal.read())
        record = CommandRecord(journal)
    }

    /// Does all that can be done now; to be called when the inbox's descriptor is readable, and once a second.
    mutating func round(_ reporter: inout Reporter) -> Course {
        takeWrites(&reporter)
        if disk.arrived.isEmpty {
            let (messages, lost) = inbox.take()
            disk.arrived = messages[...]
            desk.lost(lost)
        }
        while disk.begun == nil, let verdict = nextVerdict(&reporter) { act(verdict, &reporter) }
        for (number, outcome) in (sampling?.takeOutcomes() ?? []) + storage.orders.takeOutcomes()
            + (alarm?.takeOutcomes() ?? [])
        {
            take(number, outcome, &reporter)
        }
        if let due = changes.due, HostClock.monotonic() >= due { follow(.time, &reporter) }
        lookAtPending(&reporter)
        if changing == nil { keeper.lookAtTrial(HostClock.monotonic()) }
        sendLog()
        reporter.rejectedCommands = desk.rejected
        // The reply to it leaves first, if the disk takes it down.
        return disk.replies.isEmpty || HostClock.monotonic() >= disk.patienceEnds ? course : .goOn
    }

    private mutating func nextVerdict(_ reporter: inout Reporter) -> CommandDesk.Verdict? {
        let (now, wall) = (HostClock.monotonic(), HostClock.wall())
        guard let message = disk.arrived.popFirst() else { return desk.next(now: now, wall: wall) }
        if reporter.isFromHomeAssistant(message) {
            reporter.take(fromHomeAssistant: message, random: random.next())
            return .nothing
        }
        return desk.take(message, connection: message.connection, now: now, wall: wall, random: &random)
    }

    /// When the next round is due even if nothing comes (ns of the monotonic clock).
    var due: Int64? {
        let reverts = changes.isIdle ? keeper.reverts : nil
        return [desk.nextDue, reverts, changes.due, disk.begun?.deadline].compactMap { $0 }.min()
    }

    // MARK: Replies

    private mutating func act(_ verdict: CommandDesk.Verdict, _ reporter: inout Reporter) {
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
            guard !request.command.onlyTells, let id = request.id, let entry = desk.memory.entry(id) else {
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
        if let entry = desk.said(request, reply, isFinal: phase != .accepted) {
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

    private func note(_ request: CommandRequest, _ phase: ReplyMessage.Phase, _ error: CodedError?) {
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

    func publish(
        _ reply: [UInt8], _ destination: ReplyDestination, priority: Priority = .essential, isCBOR: Bool = false
    ) {
        guard let (reply, isCBOR) = fitting(reply, destination, isCBOR: isCBOR) else { return }
        var header = Messenger.header(destination, isCBOR: isCBOR)
        header.priority = priority
        reply.withUnsafeBytes { link.publish(header, $0) }
    }

    /// (Mutating because Swift 6.0's verifier ends the compiler where a borrowed dispatcher is looked into like this.)
    private mutating func note(_ entry: CommandMemory.Entry, isDurable: Bool) -> Int {
        record.append(entry, isDurable: isDurable, desk.memory, to: storage.files)
    }

    private mutating func sendLog() {
        let link = self.link
        for line in log.control.take(now: HostClock.monotonic()) {
            messenger.send(line, to: { link.publish($0, $1) })
        }
    }
}
