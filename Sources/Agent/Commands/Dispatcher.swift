import Commands
import Glibc
import Link
import Messages
import Settings

/// Carries commands out, one after the other, on the main thread: what they ask of other threads goes there as an order,
/// and its outcome comes back here.
struct Dispatcher {
    /// What the process is to do after a round.
    enum Course: Equatable { case goOn, restart }

    /// A command that another thread carries out.
    struct Ordered {
        /// Nil: nobody waits for a reply.
        var request: CommandRequest?
        /// The order is that of the change under way.
        var isChange = false
    }

    let keeper: SettingsKeeper
    let link: Link
    let log: Log
    let inbox: CommandInbox
    let status: SamplingStatus
    /// Nil: nobody takes orders.
    let sampling: OrderBook?
    let storage: StorageThread
    let boot: String
    var topics: Topics
    var messenger: Messenger
    var desk: CommandDesk
    var journal: CommandJournal
    var random = SystemRandomNumberGenerator()
    var ordered: [Int: Ordered] = [:]
    var lastOrder = 0
    var course = Course.goOn
    /// A change that is being applied; the verbs of the configuration wait for it, few of them.
    var changing: Changing?
    var held: [CommandRequest] = []
    static let heldLimit = 8
    static let heldBytes = 65_536
    private var journalProblem: String?
    let started = HostClock.monotonic()
    /// What the process was started with.
    private let atStart: LoadedSettings

    init(
        _ keeper: SettingsKeeper, topics: Topics, boot: String, link: Link, log: Log, inbox: CommandInbox,
        status: SamplingStatus, sampling: OrderBook?, storage: StorageThread
    ) {
        let configuration = keeper.settings.configuration
        atStart = keeper.settings
        self.keeper = keeper
        self.link = link
        self.log = log
        self.inbox = inbox
        self.status = status
        self.sampling = sampling
        self.storage = storage
        self.boot = boot
        self.topics = topics
        messenger = Messenger(topics: topics, boot: boot)
        journal = CommandJournal(directory: configuration.storage.directory)
        desk = CommandDesk(topics: topics, groups: configuration.station.groups, memory: journal.read())
    }

    /// Does all that can be done now; to be called when the inbox's descriptor is readable, and once a second.
    mutating func round(_ reporter: inout Reporter) -> Course {
        let (messages, lost) = inbox.take()
        desk.lost(lost)
        for message in messages {
            if reporter.isFromHomeAssistant(message) {
                reporter.take(fromHomeAssistant: message, random: random.next())
                continue
            }
            let verdict = desk.take(
                message, connection: message.connection, now: HostClock.monotonic(), wall: HostClock.wall(),
                random: &random)
            act(verdict, &reporter)
        }
        while let verdict = desk.next(now: HostClock.monotonic(), wall: HostClock.wall()) { act(verdict, &reporter) }
        for (number, outcome) in (sampling?.takeOutcomes() ?? []) + storage.orders.takeOutcomes() {
            take(number, outcome, &reporter)
        }
        lookAtPending(&reporter)
        sendLog()
        reporter.rejectedCommands = desk.rejected
        return course
    }

    /// When the next round is due even if nothing comes (ns of the monotonic clock).
    var due: Int64? {
        guard let pending = keeper.ledger.pending, changing == nil else { return desk.nextDue }
        return min(desk.nextDue ?? .max, pending.deadlineMonotonic)
    }

    /// Settings as this process can put them into force: those that need a restart stay as they are, and what the station
    /// gets in with goes to no broker that it is not for.
    func inForce(_ settings: LoadedSettings) -> Configuration {
        Settings.withoutRestart(keeper.ledger.guarded(settings), running: atStart.configuration)
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
            if !request.command.onlyTells, let id = request.id, let entry = desk.memory.entry(id) {
                note(entry, isDurable: true)
            }
            carryOut(request, &reporter)
        }
    }

    /// Says what became of a command, when it is on the disk that it was carried out.
    mutating func say(
        _ request: CommandRequest, _ phase: ReplyMessage.Phase, revision: Int, errors: [CodedError] = [],
        result: Value = .object([])
    ) {
        let message = ReplyMessage(
            id: request.id, command: request.command.name, phase: phase, revision: revision, errors: errors,
            result: result)
        let reply = messenger.reply(message, time: HostClock.wall())
        if let entry = desk.said(request, reply, isFinal: phase != .accepted) {
            note(entry, isDurable: !request.command.onlyTells)
        }
        note(request, phase, errors.first)
        if let destination = request.destination { publish(reply, destination) }
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

    private func publish(_ reply: [UInt8], _ destination: ReplyDestination, priority: Priority = .essential) {
        var header = Messenger.header(destination)
        header.priority = priority
        reply.withUnsafeBytes { link.publish(header, $0) }
    }

    private mutating func note(_ entry: CommandMemory.Entry, isDurable: Bool) {
        journal.append(entry, isDurable: isDurable, desk.memory)
        if let problem = journal.problem, problem != journalProblem {
            log.error("commands cannot be remembered: \(problem)")
        }
        journalProblem = journal.problem
    }

    private mutating func sendLog() {
        let link = self.link
        for line in log.control.take(now: HostClock.monotonic()) {
            messenger.send(line, to: { link.publish($0, $1) })
        }
    }
}
