import ArgumentParser
import Commands
import Glibc
import MQTT
import Messages
import Platform
import Values

/// `seismote ctl snapshot`
struct SnapshotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot", abstract: Command.snapshot.help,
        discussion: """
            seismote ctl snapshot basement-north --last 60 -o shake.mseed

            The file is written only if it is complete: its size and digest must match the station's. For several stations \
            --output is a folder.
            """)

    @OptionGroup var targets: TargetOptions

    @Option(help: ArgumentHelp("The last seconds before now.", valueName: "s"))
    var last: Double?

    @Option(help: ArgumentHelp("From this time, such as 2026-01-05T10:20:00Z.", valueName: "time"))
    var from: String?

    @Option(help: ArgumentHelp("To this time.", valueName: "time"))
    var to: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("File, or folder for several stations.", valueName: "file"))
    var output: String

    @OptionGroup var options: RequestOptions

    func validate() throws {
        if let last {
            guard from == nil, to == nil else { throw ValidationError("--last excludes --from and --to") }
            try Command.snapshot.check("last_s", last, option: "last")
        } else {
            guard let from, let to else { throw ValidationError("no time given: add --last, or --from and --to") }
            for time in [from, to] where Timestamp(time) == nil {
                throw ValidationError("\(time) is not a time such as 2026-01-05T10:20:00Z")
            }
        }
    }

    func run() throws {
        let targets = try targets.targets()
        var isFolder = false
        var status = stat()
        if stat(output, &status) == 0 { isFolder = status.st_mode & S_IFMT == S_IFDIR }
        if case .stations(let one) = targets, one.count == 1 {
        } else if !isFolder {
            throw ValidationError("--output must be an existing folder when there are several stations")
        }
        var request: Value = ["from": .string(from ?? ""), "to": .string(to ?? "")]
        if let last { request = ["last_s": .double(last)] }
        try ctl {
            let fetch = WaveformFetch(
                verb: "snapshot", request: request, targets: targets, output: output, isFolder: isFolder,
                options: options, nothing: "no data was recorded in that interval")
            return try fetch.run()
        }
    }
}

/// A request whose answer is a waveform: its pieces come on a topic of their own, and become a file when they are complete.
struct WaveformFetch {
    let verb: String
    let request: Value
    let targets: Targets
    let output: String
    let isFolder: Bool
    let options: RequestOptions
    /// Message where there is none.
    let nothing: String

    func run() throws -> CtlStatus {
        let client = try options.common.connect()
        defer { client.disconnect() }
        let root = client.options.mqtt.root
        let line = WaitingLine(enabled: !options.common.json)
        let exchange = Exchange(client, verb, request, targets, patience: options.timeout, line: line)
        let rest = "data/history/waveform/\(exchange.id)"
        if case .stations(let stations) = targets {
            exchange.filters = stations.map { "\(root)/\($0)/\(rest)" }
        } else {
            exchange.filters = ["\(root)/+/\(rest)"]
        }
        var parts: [String: WaveformParts] = [:]
        var ends: [Answer] = []
        var newest = monotonicSeconds()
        exchange.onMessage = { message in
            guard let (station, topic) = Topics.split(message.topic, root: root), topic == rest else { return }
            parts[station, default: WaveformParts()].take(message.payload)
            newest = monotonicSeconds()
            let bytes = parts.values.reduce(0) { $0 + $1.bytes.count }
            line.show("\(verb): \(bytes / 1024) KiB received")
        }
        exchange.onAccepted = { _, _ in 60 }
        exchange.onAnswer = { answer in
            ends.append(answer)
            newest = monotonicSeconds()
        }
        // Pieces may come after the reply that counts them.
        exchange.isIncomplete = {
            monotonicSeconds() - newest < options.timeout
                && ends.contains { end in
                    guard end.outcome == .done, let bytes = end.reply?.result.bytes else { return false }
                    return parts[end.station]?.bytes.count ?? 0 < bytes
                }
        }
        try exchange.run()
        return try write(ends, parts)
    }

    private func write(
        _ ends: [Answer], _ parts: [String: WaveformParts]
    ) throws(OutputError) -> CtlStatus {
        var incomplete = false
        var written: [String: String] = [:]
        for end in ends where end.outcome == .done {
            let part = parts[end.station] ?? WaveformParts()
            if let problem = part.problem(end.reply?.result ?? ResultReading(.null)) {
                printError("\(end.station): the waveform is incomplete: \(problem)")
                incomplete = true
                continue
            }
            if part.bytes.isEmpty {
                written[end.station] = nothing
                continue
            }
            let path = isFolder ? "\(output)/\(end.station).mseed" : output
            let file = try OutputFile(path: path)
            part.bytes.withUnsafeBytes { file.append($0) }
            try file.finish()
            written[end.station] = "\(part.bytes.count) bytes in \(path)"
        }
        var report = AnswerReport(json: options.common.json) { reply in
            var parts: [String] = []
            if let samples = reply.result.samples { parts.append("\(samples) samples") }
            if let records = reply.result.records { parts.append("\(records) records") }
            if let gaps = reply.result.gaps { parts.append("\(gaps) gaps") }
            let span = "\(dateAndTime(reply.result.from)) to \(dateAndTime(reply.result.to))"
            return "\(span), \(parts.joined(separator: ", "))"
        }
        for end in ends {
            report.take(end)
            if !options.common.json, let words = written[end.station] { print("  \(words)") }
        }
        let status = report.end()
        return status == .done && incomplete ? .silent : status
    }
}

/// The pieces of one waveform as they come, put together.
struct WaveformParts {
    /// Bytes that are kept at most.
    private static let limit = 1 << 30

    private(set) var bytes: [UInt8] = []
    private var seen: Set<[UInt8]> = []
    private(set) var overflows = false

    /// A piece that came before comes again with QoS 1 sometimes; records of miniSEED begin at a time, so that none is the
    /// same as another.
    mutating func take(_ piece: [UInt8]) {
        var digest = SHA256()
        digest.update(piece)
        guard seen.insert(digest.digest()).inserted else { return }
        if bytes.count + piece.count > Self.limit {
            overflows = true
        } else {
            bytes += piece
        }
    }

    /// Reason why these are not the bytes that a station said it sent; nil when they are.
    func problem(_ result: ResultReading) -> String? {
        if overflows { return "larger than \(Self.limit) bytes" }
        if let wanted = result.bytes, wanted != bytes.count {
            return "\(bytes.count) of \(wanted) bytes received"
        }
        if let wanted = result.digest, wanted != SHA256.hexDigest(of: bytes) {
            return "the digest does not match"
        }
        return nil
    }
}
