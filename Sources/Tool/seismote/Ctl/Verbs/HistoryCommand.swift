import ArgumentParser
import Commands
import MQTT
import Messages
import Values

/// `seismote ctl history`
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: Command.history.help,
        discussion: """
            seismote ctl history basement-north --since 1d --step 600 --csv > day.csv

            Minimum and maximum have gravity in them, the RMS is about the mean of its step. Without --step: 1, 10, 60, 600 or \
            3600 s, so that there are at most 300 lines.
            """)

    @OptionGroup var targets: TargetOptions

    @OptionGroup var past: PastOptions

    @Option(help: ArgumentHelp("Length of a step, up to 60 s or a multiple of it.", valueName: "s"))
    var step: Int?

    @Flag(help: "As CSV, times in UTC, units in the header.")
    var csv = false

    @OptionGroup var options: RequestOptions

    func validate() throws {
        if csv, options.common.json { throw ValidationError("--csv and --json exclude each other") }
        let (from, to) = past.range(standard: 3_600_000_000_000)
        guard to > from else { throw ValidationError("--until must be later than --since") }
        guard let step else { return }
        guard (1...86_400).contains(step), step <= 60 || step % 60 == 0 else {
            throw ValidationError("--step \(step): must be 1 to 60, or a multiple of 60 up to 86400")
        }
        let steps = (to - from) / 1_000_000_000 / Int64(step)
        if steps > 5000 {
            throw ValidationError("--step \(step): these are \(steps) steps, a station gives 5000 at most")
        }
    }

    func run() throws {
        let (from, to) = past.range(standard: 3_600_000_000_000)
        let seconds = Int((to - from) / 1_000_000_000)
        let step = step ?? [1, 10, 60, 600, 3600].first { seconds / $0 <= 300 } ?? 86_400
        let request: Value = ["from": from.timeValue, "to": to.timeValue, "step_s": .int(Int64(step))]
        if csv {
            let names = ["x", "y", "z"].flatMap { axis in ["min", "max", "rms"].map { "\(axis)_\($0)_m_s2" } }
            print((["station", "time_utc"] + names).joined(separator: ","))
        }
        try ctl {
            let client = try options.common.connect()
            defer { client.disconnect() }
            var (report, answers) = (AnswerReport(json: options.common.json, isBare: csv) { _ in "" }, [Answer]())
            try ask(client, request, try targets.targets()) { answer in
                if answer.outcome == .done { answers.append(answer) } else { report.take(answer) }
            }
            for first in answers where !Interrupt.came {
                let (rows, isIncomplete) = try pages(after: first, client, request, &report)
                report.count(first.station, isIncomplete: isIncomplete)
                guard !options.common.json else { continue }
                print(csv ? Self.lines(first.station, rows) : "\(first.station): " + Self.table(rows, step: step))
                flushOutput()
            }
            return report.end()
        }
    }

    private typealias Row = (time: String, numbers: [Double?])

    private func ask(
        _ client: BrokerClient, _ request: Value, _ targets: Targets, _ take: @escaping (Answer) -> Void
    ) throws(ClientError) {
        let line = WaitingLine(enabled: !options.common.json)
        let exchange = Exchange(client, "history", request, targets, patience: options.timeout, line: line)
        exchange.onAnswer = take
        try exchange.run()
    }

    /// All rows of a station. A reply that the broker's largest packet cannot hold as a whole says where the rest begins.
    private func pages(
        after first: Answer, _ client: BrokerClient, _ request: Value, _ report: inout AnswerReport
    ) throws(ClientError) -> (rows: [Row], isIncomplete: Bool) {
        var (rows, isIncomplete, page) = ([Row](), false, first as Answer?)
        while let answer = page, let reply = answer.reply, answer.outcome == .done {
            if options.common.json { print(answer.value.jsonText) }
            rows += Self.rows(reply.result)
            isIncomplete = isIncomplete || reply.isIncomplete
            page = nil
            guard let next = reply.result.nextTime, rows.count < 5000, !Interrupt.came else { break }
            let members = (request.members ?? []).filter { $0.key != "from" } + [.init("from", .string(next))]
            try ask(client, .object(members), .stations([first.station])) { page = $0 }
            if let page, page.outcome != .done { report.take(page) }
        }
        return (rows, isIncomplete)
    }

    private static func lines(_ station: String, _ rows: [Row]) -> String {
        rows.map { row in
            ([station, row.time] + row.numbers.map { $0.map { "\($0)" } ?? "" }).joined(separator: ",")
        }.joined(separator: "\n")
    }

    private static func table(_ rows: [Row], step: Int) -> String {
        var table = Table(
            ["time (UTC)", "x rms", "y rms", "z rms", "x max-min", "y max-min", "z max-min"], left: [0])
        for row in rows {
            let n = row.numbers
            func shown(_ number: Double?) -> String { number.map { significant($0, 3) } ?? "-" }
            func width(_ k: Int) -> Double? { n[k].flatMap { low in n[k + 1].map { $0 - low } } }
            table.add([dateAndTime(row.time)] + [n[2], n[5], n[8], width(0), width(3), width(6)].map(shown))
        }
        return "\(rows.count) steps of \(step) s, m/s²\n" + table.text
    }

    private static func rows(_ result: ResultReading) -> [Row] {
        let start = result.begin ?? 0
        let step = Int64(result.step ?? 0) * 1_000_000_000
        let columns = ["x", "y", "z"].flatMap { axis in
            ["min", "max", "rms"].map { result.column(axis, $0) }
        }
        let count: Int = columns.map(\.count).min() ?? 0
        return (0..<count).map { (i: Int) -> Row in
            let time = Timestamp(nanoseconds: start &+ step &* Int64(i))
            return (time.description, columns.map { $0[i].number })
        }
    }
}
