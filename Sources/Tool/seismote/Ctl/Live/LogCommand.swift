import ArgumentParser
import Commands
import MQTT
import Messages
import Platform
import Settings
import Values

/// `seismote ctl log`
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: Command.log.help,
        discussion: "seismote ctl log basement --level debug --duration 30")

    private static let levels = Command.log.member("level")?.words ?? []

    @OptionGroup var targets: TargetOptions

    @Option(
        help: ArgumentHelp("From this level on: \(levels.joined(separator: ", ")).", valueName: "level"),
        completion: .list(levels))
    var level = "info"

    @Option(help: ArgumentHelp("Duration.", valueName: "s"))
    var duration = 60.0

    @OptionGroup var options: RequestOptions

    func validate() throws {
        try Command.log.check("duration_s", duration, option: "duration", endsAtZero: true)
    }

    func run() throws {
        let request: Value = ["level": .string(level), "duration_s": .double(duration)]
        let targets = try targets.targets()
        try ctl {
            let client = try options.common.connect()
            defer { client.disconnect() }
            let root = client.options.mqtt.root
            let json = options.common.json
            var report = AnswerReport(json: json, toErrors: true) { reply in
                "log until \(timeOfDay(reply.result["until"]?.rawText)) UTC"
            }
            let exchange = Exchange(
                client, "log", request, targets, patience: options.timeout, line: WaitingLine(enabled: !json))
            if case .stations(let stations) = targets {
                exchange.filters = stations.map { "\(root)/\($0)/event/log/+" }
            } else {
                exchange.filters = ["\(root)/+/event/log/+"]
            }
            // Replies of `done` come at the end of the time, or at once: the lines go on all the same.
            let end = monotonicSeconds() + duration
            exchange.onAccepted = { _, _ in duration }
            exchange.isIncomplete = { report.done > 0 && monotonicSeconds() < end }
            exchange.onAnswer = { report.take($0) }
            exchange.onMessage = { message in
                guard let (station, rest) = Topics.split(message.topic, root: root), rest.hasPrefix("event/log/") else {
                    return
                }
                exchange.line.clear()
                Self.show(station, String(rest.dropFirst(10)), message.payload, json: json)
            }
            try exchange.run()
            // Ctrl-C is how a log is left.
            return Interrupt.came ? .done : report.status
        }
    }

    private static func show(_ station: String, _ level: String, _ payload: [UInt8], json: Bool) {
        let value = (try? JSONReader.read(payload)) ?? .string(String(decoding: payload, as: UTF8.self))
        defer { flushOutput() }
        if json {
            return print(Value.object([.init("station", .string(station)), .init("log", value)]).jsonText)
        }
        guard let members = value.members else { return print("\(station)  \(safe(level))  \(value.text ?? "")") }
        let known = ["v", "boot", "seq", "t", "level", "message", "text", "fields"]
        let fields = members.filter { !known.contains($0.key) } + (value["fields"]?.members ?? [])
        let rest = fields.map { " \(safe($0.key))=\($0.value.text ?? safe($0.value.jsonText))" }
        let words = (value["message"] ?? value["text"])?.text ?? ""
        print("\(timeOfDay(value["t"]?.rawText))  \(station)  \(safe(level))  \(words)\(rest.joined())")
    }
}
