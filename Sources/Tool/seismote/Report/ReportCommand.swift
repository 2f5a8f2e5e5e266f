import ArgumentParser
import Client
import Glibc
import Messages
import ServerOptions
import Settings
import Threads
import Vibration

/// `seismote report STATION`: a page about vibration for the owner of a building, from messages that were stored.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Make a report on vibration, of what a station has stored or of files.",
        discussion: """
            seismote report basement-north --from 2026-01-05 --to 2026-02-02 --output house.html

            Asks the station for the intervals that it has stored (vibration.keep_days). With --messages they come from files of \
            messages of data/vibration, one a line: as seismote replay writes them, as mosquitto_sub -v prints them, or bare. \
            The page needs nothing else and prints on A4.
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
        help: ArgumentHelp("Compare with this limit: table:line:place; without a place the first.", valueName: "limit"))
    var limit: LimitName?

    @Option(help: ArgumentHelp("List intervals from this share of the limit on.", valueName: "share"))
    var warnShare = 0.7

    @Option(help: ArgumentHelp("Hours by which local time is ahead of UTC.", valueName: "hours"))
    var utcOffset = 0.0

    @Option(help: ArgumentHelp("Write the page (HTML).", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Write the intervals as CSV.", valueName: "file"))
    var csv: String?

    @Option(help: ArgumentHelp("Maximum time for an answer of the station.", valueName: "s"))
    var timeout = 10.0

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    func validate() throws {
        guard output != nil || csv != nil else { throw ValidationError("Give --output for the page, or --csv.") }
        guard (-12...14).contains(utcOffset) else { throw ValidationError("--utc-offset must be from -12 to 14") }
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400")
        }
        if let problem = Topics.problem(inID: station) { throw ValidationError("station \(station): \(problem)") }
        guard warnShare > 0, warnShare <= 1 else { throw ValidationError("--warn-share must be above 0, at most 1") }
    }

    func run() throws {
        var records: [VibrationRecord] = []
        if messages.isEmpty { try ask(&records) }
        for path in messages {
            do throws(ReadError) { try read(path, &records) } catch {
                printError("\(path): cannot be read: \(String(cString: strerror(error.code)))")
                throw ExitCode(66)  // EX_NOINPUT
            }
        }
        guard !records.isEmpty else {
            printError("There are no vibration messages of station \(station) in that time.")
            throw ExitCode(65)  // EX_DATAERR
        }
        let report = VibrationReport(station: station, records, limit: limit?.limit, offset: utcOffset)
        do throws(OutputError) {
            if let output { try write(VibrationPage(report: report, warning: warnShare).text, to: output) }
            if let csv { try write(report.csv, to: csv) }
        } catch {
            printError(error.description)
            throw ExitCode(74)  // EX_IOERR
        }
    }

    /// All intervals that the station has stored of the time, reply by reply.
    private func ask(_ records: inout [VibrationRecord]) throws {
        var found: [VibrationRecord] = []
        defer { records += found }
        let now = HostClock.wall()
        let last = to.map { $0.time - 1 } ?? now
        var next: Int64? = from?.time ?? last - 28 * 86_400_000_000_000
        try ctl {
            let client = BrokerClient(try broker.access())
            Interrupt.listen()
            try client.connect()
            defer { client.disconnect() }
            while let begin = next, begin < last, !Interrupt.came {
                next = nil
                let request: Value = [
                    "kind": "vibration", "from": begin.timeValue, "to": last.timeValue,
                ]
                var report = AnswerReport(json: false, toErrors: true) { _ in "" }
                let exchange = Exchange(
                    client, "history", request, .stations([station]), patience: timeout,
                    line: WaitingLine(enabled: true))
                exchange.onAnswer = { answer in
                    guard answer.outcome == .done, let columns = VibrationColumns(answer.reply?.result ?? .null) else {
                        return report.take(answer)
                    }
                    report.count(answer.station, isIncomplete: answer.reply?.isIncomplete == true)
                    found += columns.records
                    // (Always forwards.)
                    next = columns.next.flatMap { $0 > begin ? $0 : nil }
                }
                try exchange.run()
                if report.status != .done { return report.end() }
            }
            return Interrupt.came ? .interrupted : .done
        }
    }

    private func write(_ text: String, to path: String) throws(OutputError) {
        let file = try OutputFile(path: path)
        file.append(text)
        try file.finish()
    }

    private struct ReadError: Error { var code: Int32 }

    private func read(_ path: String, _ records: inout [VibrationRecord]) throws(ReadError) {
        let file = fopen(path == "-" ? "/dev/stdin" : path, "re")
        guard let file else { throw ReadError(code: errno) }
        defer { fclose(file) }
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while true {
            let count = getline(&line, &capacity, file)
            guard count > 0, let line else { break }
            let bytes = UnsafeRawBufferPointer(start: line, count: count)
            if let record = Self.record(bytes, station: station), isWanted(record) { records.append(record) }
        }
    }

    private func isWanted(_ record: VibrationRecord) -> Bool {
        record.start >= from?.time ?? .min && record.start < to?.time ?? .max
    }

    /// The interval in a line, whichever of the three forms it has; nil: there is none of that station.
    static func record(_ line: UnsafeRawBufferPointer, station: String) -> VibrationRecord? {
        // (A day has millions of other messages.)
        guard let brace = line.firstIndex(of: UInt8(ascii: "{")) else { return nil }
        let topic = line[..<brace]
        guard topic.isEmpty || String(decoding: topic, as: UTF8.self).contains("/vibration") else { return nil }
        guard let value = try? JSONReader.read(Array(line[brace...])) else { return nil }
        let message = value["payload"] ?? value
        guard message["station"]?.rawText == station else { return nil }
        return VibrationRecord(message)
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
