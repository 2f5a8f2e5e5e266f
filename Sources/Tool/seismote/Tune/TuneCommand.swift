import ArgumentParser
import Glibc
import Messages
import Sensors
import Settings
import SignalProcessing
import Station
import Values

/// `seismote tune RECORDING...`: detector settings tried on recordings.
struct TuneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tune", abstract: "Try detector settings on recordings and rank them.",
        discussion: """
            seismote tune quake.mseed --scale 1e-6 --pick 30.2,33.9

            Each recording is read once, goes the agent's way as far as the filters, and then through the agent's own \
            detectors and rule of events with every combination of the values below. Says for each setting what it \
            would have caught, how soon, and how often it would have fired in the quiet parts. Without --pick or \
            --picks the events are detected automatically: \(Shaking.rule). All else (offset removal, filters of the axes, events) \
            is as the settings say.
            """)

    @Argument(help: "Recordings, CSV or miniSEED as for `seismote replay`.")
    var files: [String]

    @OptionGroup(title: "Values to try") var grid: TuneGrid

    @OptionGroup var settings: SettingsOptions

    @OptionGroup var recording: RecordingOptions

    @Option(
        help: ArgumentHelp(
            "Arrival of P, or of P and S, in seconds from the first sample; for one recording.", valueName: "p[,s]"))
    var pick: String?

    @Option(
        help: ArgumentHelp(
            "CSV with lines `file,p_s,s_s`; a recording without times has nothing to catch.", valueName: "file"))
    var picks: String?

    @Option(help: "Number of rows in the table.")
    var top = 20

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Do not show a progress bar.")
    var quiet = false

    func validate() throws {
        guard !files.isEmpty else { throw ValidationError("no recording given: name one or more files") }
        guard top > 0 else { throw ValidationError("--top must be at least 1") }
        guard pick == nil || picks == nil else { throw ValidationError("--pick and --picks exclude each other") }
        guard pick == nil || files.count == 1 else {
            throw ValidationError("--pick works with one recording; use --picks for several")
        }
        _ = try onePick()
    }

    private func onePick() throws -> [Pick]? {
        guard let pick else { return nil }
        let times = pick.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard (1...2).contains(times.count), let p = times[0], p.isFinite else {
            throw ValidationError("--pick \(pick): must be P in seconds, or P,S")
        }
        guard times.count == 1 || (times[1].map { $0.isFinite && $0 >= p } ?? false) else {
            throw ValidationError("--pick \(pick): S must be a number, and after P")
        }
        return [Pick(p: p, s: times.count == 2 ? times[1] : nil)]
    }

    func run() throws {
        try ending { try tune() }
    }

    private func tune() throws {
        let loaded = try files.map { try settings.load(adding: try recording.overrides($0)) }
        var tried = try grid.settings(settings, base: loaded[0].configuration)
        let given = try picks.map { path throws(TuneError) in try Picks(path: path) }
        try fit(&tried, try rates(loaded))
        let progress = ProgressBar(enabled: !quiet)
        var tuned: [TunedRecording] = []
        for (number, one) in loaded.enumerated() {
            let file = files[number]
            var known = try onePick()
            if let given {
                known = given.of(file)
                if known == nil {
                    printError("\(file): not in \(picks ?? ""), so its events are detected automatically")
                }
            }
            tuned.append(
                try TunedRecording(one, settings: tried.map(\.setting), picks: known) { done, total in
                    progress.show(1000 * number + 1000 * done / max(1, total), of: 1000 * files.count)
                })
        }
        progress.finish()
        let assessed = try zip(loaded, files).map { try AssessedEvents($0, file: $1) }
        let report = TuneReport(tried, tuned)
        if json {
            guard case .object(let members) = report.value else { return }
            let value = Value.object(members + [.init("assessed", .array(assessed.map(\.value)))])
            return print(String(decoding: value.json(), as: UTF8.self))
        }
        let lines = assessed.flatMap(\.lines)
        print(report.text(top: top))
        print("\nWith the settings as they are, and the alarm on, the station takes what it finds for:\n")
        print(lines.isEmpty ? "  nothing found" : lines.joined(separator: "\n"))
    }

    /// The rate of every recording; all that cannot be read are named.
    private func rates(_ loaded: [LoadedSettings]) throws(TuneError) -> [Double] {
        var errors: [String] = []
        var rates: [Double] = []
        for one in loaded {
            do throws(SensorError) {
                var sensor = ReplaySensor(one)
                rates.append(try sensor.open().rate)
                sensor.tellNotes(one.configuration.sensor.replay.file)
            } catch {
                errors.append(error.message)
            }
        }
        guard errors.isEmpty else { throw TuneError(status: .data, lines: errors) }
        return rates
    }

    /// Leaves out the bands that do not fit the slowest recording.
    private func fit(
        _ settings: inout [(setting: TuneSetting, present: Bool)], _ rates: [Double]
    ) throws(TuneError) {
        guard let slowest = rates.min() else { return }
        var said: [FilterSpecification] = []
        var errors: [String] = []
        settings.removeAll { one in
            guard case .ratio(let s) = one.setting, let filter = s.filter else { return false }
            do throws(FilterDesignError) {
                _ = try filter.design(rate: slowest)
                return false
            } catch {
                if !said.contains(filter) {
                    said.append(filter)
                    errors.append("band \(one.setting.band) left out: \(error)")
                }
                return true
            }
        }
        if settings.isEmpty { throw TuneError(status: .settings, lines: errors) }
        for line in errors { printError(line) }
    }
}
