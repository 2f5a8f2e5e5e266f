import Checking
import Commands
import Glibc
import LibFuzzer
import Messages
import Settings
import Values

/// Any bytes as a command: they are refused with at least one error that has words, or read whole; nothing is remembered
/// of what was not carried out; and of the configuration nothing changes but by a proposal that was adopted, which gives
/// the same settings after a restart.
private func commands(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let first = bytes.first, let topics = try? Topics(id: "board") else { return 0 }
    let verbs = Command.all
    // Four of the five bits choose a verb that is there, and the configuration more often than others.
    let index = Int(first & 31)
    let verb = index < verbs.count ? verbs[index].name : index < 28 ? Command.config.name : "verb\(index)"
    let payload = wrapped(Array(bytes.dropFirst()), verb: verb, bare: first & 32 != 0)

    var gate = CommandGate(topics: topics, groups: ["north"])
    var message = InboundMessage(topic: topics.command(verb), payload: payload)
    message.isRetained = first & 192 == 192
    if first & 64 != 0 { message.responseTopic = "replies/me" }
    var random = SystemRandomNumberGenerator()
    let verdict = gate.take(message, connection: 1, now: 1, wall: 1_767_608_430_000_000_000, random: &random)
    switch verdict {
    case .nothing: check(message.isRetained && payload.isEmpty, "no answer to \(verb)")
    case .again: check(false, "an id was known that nobody had used")
    case .refuse(let refusal):
        check(!refusal.errors.isEmpty, "no reason")
        for error in refusal.errors { check(!error.message.isEmpty, "a reason without words") }
        check(gate.rejected == 1 && gate.memory.entries.isEmpty, "a refused command is remembered")
        let reply = ReplyMessage(
            id: refusal.id, command: refusal.command, phase: .failed, revision: 0, errors: refusal.errors)
        var messenger = Messenger(topics: topics, boot: "")
        let text = messenger.reply(reply, time: 0)
        check(text.count < 200_000, "a reply of \(text.count) bytes")
        check((try? JSONReader.read(text)) != nil, "a reply that is no JSON: \(String(decoding: text, as: UTF8.self))")
    case .carryOut(let request):
        check(!message.isRetained && gate.rejected == 0, "refused and carried out")
        // (What only reads the storage may be asked again.)
        if request.command.isRemembered, let id = request.id {
            check(
                gate.take(message, connection: 1, now: 2, wall: 1_767_608_430_000_000_000, random: &random) == .nothing,
                id)
        }
        let context = CommandContext(
            revision: 0, boot: "b", uptime: 1, wall: 1_767_608_430_000_000_000, topics: topics, rate: 100,
            takesConfirmations: true, alerts: [],
            clock: { (.replay, nil) }, status: { [:] })
        switch request.decision(context) {
        case .effect(.settings(.change(let change))): apply(change)
        case .refuse(let errors): check(!errors.isEmpty, "no reason")
        default: break
        }
    }
    return 0
}

/// Most bytes are no JSON: some are put where a setting's value goes.
private func wrapped(_ bytes: [UInt8], verb: String, bare: Bool) -> [UInt8] {
    guard !bare, verb == Command.config.name, let key = bytes.first else { return bytes }
    let keys = SettingsTable.writableKeys
    let parts = keys[Int(key) * keys.count / 256].split(separator: ".")
    var text = Array("{\"set\":".utf8)
    for part in parts { text += Array("{\"\(part)\":".utf8) }
    text += bytes.dropFirst()
    text += Array(String(repeating: "}", count: parts.count + 1).utf8)
    return text
}

private let base: SettingsLedger? = try? SettingsLedger.open(layers, document: nil, now: 0).ledger
private let layers = SettingsLayers(
    file: Array("{locked: [station.latitude], trace: {qos: 0}}".utf8), stationID: "board")

private func apply(_ change: ConfigChange) {
    guard var ledger = base else { return check(false, "no ledger") }
    let before = ledger.document
    do throws(CodedErrors) {
        let proposal = try ledger.propose(change.kind, ifRevision: change.ifRevision, confirm: change.confirm)
        check(ledger.document == before, "a proposal has changed the ledger")
        check(proposal.settings.configuration.station.latitude == nil, "a locked key was set")
        let revision = ledger.adopt(
            proposal, confirm: change.confirm, source: "fuzz", now: 1_000_000_000, monotonic: 1, connection: 1)
        check(revision == (ledger.document == before ? 0 : 1), "revision \(revision)")
        let opened = try SettingsLedger.open(layers, document: ledger.document, now: 1_000_000_000)
        check(opened.notes.isEmpty, "after a restart: \(opened.notes)")
        check(opened.ledger.settings.effective == ledger.settings.effective, "other settings after a restart")
    } catch {
        check(!error.errors.isEmpty, "no reason")
        check(ledger.document == before, "a refused change has changed the ledger")
    }
}

@main enum Fuzzer {
    static func main() {
        var (count, words) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(LLVMFuzzerRunDriver(&count, &words, commands))
    }
}
