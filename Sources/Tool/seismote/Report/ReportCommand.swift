import ArgumentParser
import Glibc
import MQTT
import Messages
import Platform
import ServerOptions
import Settings
import Values
import Vibration

/// `seismote report STATION`: a page about vibration for the owner of a building, from messages that were stored.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Make a report on vibration, of what a station has stored or of files.",
        discussion: """
            seismote report basement-north --from 2026-01-05 --to 2026-02-02 --output house.html

            Asks the station for the intervals and natural modes that it has stored (vibration.keep_days). With --messages they \
            come from files of messages of data/vibration and data/modes (and state/info and state/config, for the sensor and \
            its calibration), one a line: as seismote replay writes them, as mosquitto_sub -v prints them, or bare. The page \
            needs nothing else and prints on A4. Limit, warning share and local time are those of the station's settings, where \
            these are known, unless other ones are given.
            """)

    @Argument(help: "Id of the station.")
    var station: String

    @Option(
        name: .long, parsing: .upToNextOption,
        help: ArgumentHelp("Files of messages; - is standard input.", valueName: "file"))
    var messages: [String] = []

    @Option(
        help: ArgumentHelp(
            "Intervals that begin at this time or later; of a station else of the last 28 days.", valueName: "time"))
    var from: Moment?

    @Option(help: ArgumentHelp("Intervals that begin before this time.", valueName: "time"))
    var to: Moment?

    @Option(
        help: ArgumentHelp("Compare with this limit instead of the station's: table:line:place.", valueName: "limit"))
    var limit: LimitName?

    @Option(help: ArgumentHelp("List intervals from this share of the limit on; else 0.7.", valueName: "share"))
    var warnShare: Double?

    @Option(help: ArgumentHelp("Hours by which local time is ahead of UTC; else 0.", valueName: "hours"))
    var utcOffset: Double?

    @Option(name: .shortAndLong, help: ArgumentHelp("Write the page (HTML).", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Write the intervals as CSV.", valueName: "file"))
    var csv: String?

    @Option(help: ArgumentHelp("Maximum time for an answer of the station.", valueName: "s"))
    var timeout = 10.0

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    func validate() throws {
        guard output != nil || csv != nil else { throw ValidationError("Give --output for the page, or --csv.") }
        guard (-12...14).contains(utcOffset ?? 0) else { throw ValidationError("--utc-offset must be from -12 to 14") }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400")
        }
        if let problem = Topics.problem(inID: station) { throw ValidationError("station \(station): \(problem)") }
        guard (warnShare ?? 1) > 0, (warnShare ?? 1) <= 1 else {
            throw ValidationError("--warn-share must be above 0, at most 1")
        }
    }

    func run() throws {
        let now = HostClock.wall()
        let begin = from?.time ?? (messages.isEmpty ? (to?.time ?? now) - 28 * 86_400_000_000_000 : .min)
        let end = to?.time ?? .max
        var source = ReportSource(station: station, range: begin..<max(begin, end))
        if messages.isEmpty { try ask(&source, last: min(end, now)) }
        for path in messages {
            do throws(ReportSource.ReadError) { try source.read(path) } catch {
                throw failure("\(path): cannot be read: \(String(cString: strerror(error.code)))", .noInput)
            }
        }
        guard !source.isEmpty else {
            throw failure("There are no vibration messages of station \(station) in that time.", .data)
        }
        let report = VibrationReport(
            source, limit: limit?.limit ?? source.limit, offset: utcOffset ?? source.setting("utc_offset_h") ?? 0)
        let warning = warnShare ?? source.setting("warn_share") ?? 0.7
        try ending {
            if let output { try write(VibrationPage(report: report, warning: warning).text, to: output) }
            if let csv { try write(report.csv, to: csv) }
        }
    }

    /// All that the station has stored of the time, reply by reply, and what it says of itself.
    private func ask(_ source: inout ReportSource, last: Int64) throws {
        var found = source
        defer { source = found }
        try ctl {
            let access = try broker.access()
            let client = BrokerClient(access)
            Interrupt.listen()
            try client.connect()
            defer { client.disconnect() }
            var fleet = Fleet(root: access.mqtt.root)
            try fleet.look(
                client, filters: ["state/info", "state/config"], stations: [station], within: min(3, timeout))
            (found.info, found.settings) = (fleet.stations[station]?.info, fleet.stations[station]?.config?.settings)
            for kind in ["vibration", "modes"] {
                let status = try ask(client, kind, from: found.range.lowerBound, last: last) { result in
                    if let columns = VibrationColumns(result) {
                        found.take(columns)
                        return columns.next
                    }
                    guard let columns = ModesColumns(result) else { return nil }
                    found.take(columns)
                    return columns.next
                }
                if status != .done { return status }
            }
            return .done
        }
    }

    /// - Parameter take: is given each result, and says from when on there is more.
    private func ask(
        _ client: BrokerClient, _ kind: String, from: Int64, last: Int64, take: (Value) -> Int64?
    ) throws -> CtlStatus {
        var next: Int64? = from
        while let begin = next, begin < last, !Interrupt.came {
            next = nil
            let request: Value = ["kind": .string(kind), "from": begin.timeValue, "to": last.timeValue]
            var report = AnswerReport(json: false, toErrors: true) { _ in "" }
            var results: [Value] = []
            let exchange = Exchange(
                client, "history", request, .stations([station]), patience: timeout, line: WaitingLine(enabled: true))
            exchange.onAnswer = { answer in
                guard answer.outcome == .done else { return report.take(answer) }
                report.count(answer.station, isIncomplete: answer.reply?.isIncomplete == true)
                results.append(answer.reply?.result.tree ?? .null)
            }
            try exchange.run()
            // (Always forwards.)
            for result in results { next = take(result).flatMap { $0 > begin ? $0 : nil } }
            if report.status != .done { return report.end() }
        }
        return Interrupt.came ? .interrupted : .done
    }

    private func write(_ text: String, to path: String) throws(OutputError) {
        let file = try OutputFile(path: path)
        file.append(text)
        try file.finish()
    }
}

/// A time on the command line.
struct Moment: ExpressibleByArgument {
    /// Nanoseconds of UTC.
    var time: Int64

    /// RFC 3339, or a date alone.
    init?(argument: String) {
        let text = argument.utf8.count == 10 ? argument + "T00:00:00Z" : argument
        guard let moment = Timestamp(text) else { return nil }
        time = moment.nanoseconds
    }
}

/// A limit on the command line.
struct LimitName: ExpressibleByArgument {
    var limit: VibrationLimit

    init?(argument: String) {
        guard let found = VibrationLimit(argument) else { return nil }
        limit = found
    }

    static var allValueStrings: [String] { VibrationLimit.all.map(\.name) }
}

/// Data that a report is made of: intervals of vibration, natural modes, and what the station says of itself.
struct ReportSource {
    let station: String
    /// Nanoseconds of UTC.
    let range: Range<Int64>
    private(set) var records: [VibrationRecord] = []
    private(set) var modes: [ModesMessage] = []
    /// `state/info`, and the settings of `state/config`; nil: not known.
    var info: InfoReading?
    var settings: SettingsReading?
    /// The limit that the newest message names.
    private var named: (start: Int64, limit: VibrationLimit)?

    var isEmpty: Bool { records.isEmpty && modes.isEmpty }

    /// The limit that the station compares with; nil: none, or it is not known.
    var limit: VibrationLimit? {
        settings?.vibrationLimit.map { VibrationLimit($0) } ?? named?.limit
    }

    /// A number among the settings of vibration; nil: not known.
    func setting(_ name: String) -> Double? { settings?.vibration(name) }

    init(station: String, range: Range<Int64>) { (self.station, self.range) = (station, range) }

    /// Adds what the station has answered, as far as it belongs to the time.
    mutating func take(_ columns: VibrationColumns) { records += columns.records.filter { range.contains($0.start) } }

    mutating func take(_ columns: ModesColumns) { modes += columns.periods.filter { range.contains($0.start) } }

    struct ReadError: Error { var code: Int32 }

    /// Reads messages, one a line.
    mutating func read(_ path: String) throws(ReadError) {
        let file = fopen(path == "-" ? "/dev/stdin" : path, "re")
        guard let file else { throw ReadError(code: errno) }
        defer { fclose(file) }
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while true {
            let count = getline(&line, &capacity, file)
            guard count > 0, let line else { break }
            take(UnsafeRawBufferPointer(start: line, count: count))
        }
    }

    /// A line in whichever of the three forms it is; others than those of the station count for nothing.
    private mutating func take(_ line: UnsafeRawBufferPointer) {
        // (A day has millions of other messages.)
        guard let brace = line.firstIndex(of: UInt8(ascii: "{")) else { return }
        let topic = String(decoding: line[..<brace], as: UTF8.self)
        guard topic.isEmpty || ["/vibration", "/modes", "/info", "/config"].contains(where: topic.contains) else {
            return
        }
        guard let value = try? JSONReader.read(Array(line[brace...])) else { return }
        let message = value["payload"] ?? value
        let (info, config) = (InfoReading(message), ConfigReading(message))
        if info.station?.id == station, info.hasAgent {
            self.info = info
        } else if message["station"]?.rawText == station {
            if let record = VibrationRecord(message) {
                guard range.contains(record.start) else { return }
                records.append(record)
                if record.start >= named?.start ?? .min,
                    let limit = VibrationReading(message).limit.flatMap({ VibrationLimit($0) })
                {
                    named = (record.start, limit)
                }
            } else if let period = ModesMessage(message) {
                if range.contains(period.start) { modes.append(period) }
            } else if config.hasRevision, let all = config.settings {
                settings = all
            }
        }
    }
}
