import ArgumentParser
import Commands
import Messages

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
        let csv = self.csv
        if csv {
            let names = ["x", "y", "z"].flatMap { axis in ["min", "max", "rms"].map { "\(axis)_\($0)_m_s2" } }
            print((["station", "time_utc"] + names).joined(separator: ","))
        }
        try options.run("history", request, try targets.targets(), isBare: csv) { reply in
            let rows = Self.rows(reply.result)
            if csv {
                let station = reply.station
                return rows.map { row in
                    ([station, row.time] + row.numbers.map { $0.map { "\($0)" } ?? "" }).joined(separator: ",")
                }.joined(separator: "\n")
            }
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
    }

    private static func rows(_ result: Value) -> [(time: String, numbers: [Double?])] {
        let start = result["from"]?.rawText.flatMap { Timestamp($0) }?.nanoseconds ?? 0
        let step = Int64(result["step_s"]?.whole ?? 0) * 1_000_000_000
        let columns = ["x", "y", "z"].flatMap { axis in
            ["min", "max", "rms"].map { result[axis, $0]?.list ?? [] }
        }
        return (0..<(columns.map(\.count).min() ?? 0)).map { i in
            (Timestamp(nanoseconds: start &+ step &* Int64(i)).description, columns.map { $0[i].number })
        }
    }
}
