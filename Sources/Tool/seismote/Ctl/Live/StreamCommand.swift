import ArgumentParser
import Commands
import MQTT
import Messages
import Platform
import Settings
import Values

/// `seismote ctl stream`
struct StreamCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stream", abstract: Command.stream.help,
        discussion: """
            seismote ctl stream basement --duration 30 --encoding mseed2 -o live.mseed

            The traces that are configured continue unchanged. Prints one line of JSON for each block; \
            miniSEED and CBOR go into a file, with --encoding mseed2 -o FILE.
            """)

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("Duration.", valueName: "s"))
    var duration = 60.0

    @Option(help: ArgumentHelp("Samples per second (default: the sensor's).", valueName: "Hz"))
    var rate: Double?

    @Option(help: ArgumentHelp("Signals, such as raw,filtered.", valueName: "list"))
    var signals: String?

    @Option(
        help: ArgumentHelp("json, cbor, mseed2 or mseed3.", valueName: "encoding"),
        completion: .list(["json", "cbor", "mseed2", "mseed3"]))
    var encoding: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Write to a file (default: standard output).", valueName: "file"))
    var output: String?

    @OptionGroup var options: RequestOptions

    func validate() throws {
        try Command.stream.check("duration_s", duration, option: "duration", endsAtZero: true)
        if let encoding, encoding != "json", output == nil {
            throw ValidationError("\(encoding) is binary: write it to a file with -o FILE")
        }
    }

    func run() throws {
        let targets = try targets.targets()
        var members: [Value.Member] = [.init("duration_s", .double(duration))]
        if let rate { members.append(.init("rate_hz", .double(rate))) }
        if let signals {
            members.append(.init("signals", .array(signals.split(separator: ",").map { .string(String($0)) })))
        }
        if let encoding { members.append(.init("encoding", .string(encoding))) }
        try ctl { try stream(.object(members), targets) }
    }

    private func stream(_ request: Value, _ targets: Targets) throws -> CtlStatus {
        let client = try options.common.connect()
        defer { client.disconnect() }
        let root = client.options.mqtt.root
        let file = try OutputFile(path: output ?? "-")
        let line = WaitingLine(enabled: output != nil)
        let exchange = Exchange(client, "stream", request, targets, patience: options.timeout, line: line)
        let rest = "data/stream"
        if case .stations(let stations) = targets {
            exchange.filters = stations.map { "\(root)/\($0)/\(rest)" }
        } else {
            exchange.filters = ["\(root)/+/\(rest)"]
        }
        var blocks = 0
        var problem: OutputError?
        exchange.onMessage = { message in
            guard let (station, topic) = Topics.split(message.topic, root: root), topic == rest else { return }
            blocks += 1
            if let block = try? JSONReader.read(message.payload) {
                file.append(Value.object([.init("station", .string(station)), .init("block", block)]).jsonText)
                file.endLine()
                if output == nil { file.flush() }
            } else if output != nil {
                message.payload.withUnsafeBytes { file.append($0) }
            }
            line.show("stream: \(blocks) blocks")
            do throws(OutputError) { try file.check() } catch { problem = error }
        }
        // The last block may come after the reply that ends the stream.
        var ended = [String: Double]()
        var wanted = 0
        exchange.onAccepted = { _, _ in duration }
        // The answers must not be mixed with what may be piped on.
        var report = AnswerReport(json: false, toErrors: true) { reply in
            wanted += reply.result.blocks ?? 0
            return reply.result.blocks.map { "\($0) blocks sent" } ?? "end of the stream"
        }
        exchange.onAnswer = { answer in
            report.take(answer)
            ended[answer.station] = monotonicSeconds()
        }
        exchange.isIncomplete = {
            problem == nil && blocks < wanted && monotonicSeconds() - (ended.values.max() ?? 0) < 3
        }
        try exchange.run()
        try file.finish()
        printError("\(blocks) blocks")
        return Interrupt.came ? .done : report.status
    }
}

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
                "log until \(timeOfDay(reply.result.until)) UTC"
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
        guard value.members != nil else { return print("\(station)  \(safe(level))  \(value.text ?? "")") }
        let line = LogReading(value)
        let rest = line.fields.map { " \(safe($0.key))=\($0.value.text ?? safe($0.value.jsonText))" }
        let words = (line.words ?? "").printable
        print("\(timeOfDay(line.time))  \(station)  \(safe(level))  \(words)\(rest.joined())")
    }
}
