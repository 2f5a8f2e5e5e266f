import ArgumentParser
import Exchange
import Glibc
import Messages
import MiniSEED
import Platform
import Sensors
import Settings

/// `seismote convert`: recordings from one form into another.
struct ConvertCommand: ParsableCommand {
    enum Form: String, CaseIterable, ExpressibleByArgument {
        case csv, mseed2, mseed3, sds2, sds3
        var format: MiniSEEDFormat { self == .mseed3 || self == .sds3 ? .v3 : .v2 }
    }

    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Convert recordings: CSV, miniSEED 2 and 3, SDS archives, recorded messages.",
        discussion: """
            seismote convert quake.csv -o quake.mseed

            Input is a CSV file (t,x,y,z), miniSEED, a folder with miniSEED such as an SDS archive, or messages that were \
            recorded with

              mosquitto_sub -h BROKER -t 'seismote/basement/#' -F '%t %x' > messages.txt

            (-F '%j' is fit for JSON messages alone). Pieces may come in any order and twice. miniSEED stays what it is, \
            count for count; m/s² become counts of --count.
            """)

    @Argument(help: ArgumentHelp("Files and folders.", valueName: "input"))
    var inputs: [String]

    @Option(name: .shortAndLong, help: ArgumentHelp("File, or folder of an SDS archive.", valueName: "path"))
    var output: String

    @Option(
        name: .customLong("to"),
        help: "What to write; otherwise by the name of the output: .csv, .mseed (2), .mseed3; a folder: sds2.")
    var form: Form?

    @OptionGroup var recording: RecordingOptions

    @Option(help: "Of recorded traces: raw, filtered or rms.")
    var signal = TraceConfiguration.Signal.raw

    @Option(help: "Of recorded messages: traces or waveforms alone.")
    var only: Kind?

    @Option(help: ArgumentHelp("Of recorded messages: those of this station alone.", valueName: "id"))
    var station: String?

    @Option(help: ArgumentHelp("Channels whose code begins so, such as HN.", valueName: "code"))
    var channels: String?

    @Option(help: ArgumentHelp("Codes of what had none: network.station.location.", valueName: "codes"))
    var codes: String?

    @Option(help: ArgumentHelp("m/s² of a count where m/s² become counts.", valueName: "number"))
    var count = CountScale.defaultUnit

    enum Kind: String, CaseIterable, ExpressibleByArgument { case traces, waveforms }

    func validate() throws {
        guard signal != .triggered else { throw ValidationError("--signal triggered: there are raw, filtered and rms") }
        guard count.isFinite, count > 0 else { throw ValidationError("--count \(count): a number above 0 is needed") }
        if let codes, codes.split(separator: ".", omittingEmptySubsequences: false).count != 3 {
            throw ValidationError("--codes \(codes): network.station.location is needed, such as XX.BASE.00")
        }
        if form == nil, Self.form(of: output) == nil {
            throw ValidationError("--output \(output): what to write does not follow from this name; give --to")
        }
    }

    static func form(of output: String) -> Form? {
        if output.hasSuffix("/") || SystemFiles().isFolder(output) { return .sds2 }
        let endings: [(String, Form)] = [
            (".csv", .csv), (".mseed3", .mseed3), (".ms3", .mseed3), (".mseed", .mseed2), (".mseed2", .mseed2),
            (".ms", .mseed2), (".miniseed", .mseed2),
        ]
        return endings.first { output.hasSuffix($0.0) }?.1
    }

    func run() throws {
        try ending {
            let form = form ?? Self.form(of: output) ?? .mseed2
            var input = ConversionInput(
                RecordedMessages(
                    signal: signal, traces: only != .waveforms, waveforms: only != .traces, station: station))
            for path in inputs { try input.read(path, recording) }
            try input.finish()
            if let scale = recording.scales { input.setUnits(scale) }
            if let channels { input.records.removeAll { !$0.name.channel.hasPrefix(channels) } }
            try write(input, form)
        }
    }

    private func write(_ input: ConversionInput, _ form: Form) throws {
        let ground = Runs.joined(input.ground)
        if form == .csv {
            guard ground.runs.isEmpty || input.records.isEmpty else {
                throw ConversionError(
                    "there are traces and waveforms (or CSV and miniSEED): a CSV file has one of both: give --only")
            }
            let names = Set(ground.runs.map(\.name)).sorted()
            guard names.count < 2 else {
                throw ConversionError("there are several stations: \(names.joined(separator: ", ")): give --station")
            }
            let (runs, duplicates) =
                input.records.isEmpty ? ground : (try ConversionOutput.ground(input.records, recording), 0)
            try ConversionOutput.csv(runs, output)
            return tell(runs.reduce(0) { $0 + $1.count }, columns: 3, runs: runs.count, duplicates)
        }
        let made = try ConversionOutput.channels(of: ground.runs, codes: codes, stations: input.stations, unit: count)
        let (runs, duplicates) = Runs.joined(input.records + made)
        guard !runs.isEmpty else { throw ConversionError("there are no samples in \(inputs.joined(separator: ", "))") }
        if form == .sds2 || form == .sds3 {
            try ConversionOutput.archive(runs, folder: output, form.format)
        } else {
            try ConversionOutput.records(runs, output, form.format)
        }
        let channels = Set(runs.map(\.name)).count
        tell(runs.reduce(0) { $0 + $1.count }, columns: channels, runs: runs.count, duplicates + ground.duplicates)
    }

    private func tell(_ samples: Int, columns: Int, runs: Int, _ duplicates: Int) {
        printError(
            "\(samples) samples of \(columns) channels in \(runs) stretches"
                + (duplicates > 0 ? "; \(duplicates) that were there twice were taken once" : ""))
    }
}

extension TraceConfiguration.Signal: ExpressibleByArgument {}
