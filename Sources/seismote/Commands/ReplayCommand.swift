import ArgumentParser
import Glibc
import Messages
import Sensors
import Settings
import SignalProcessing
import Station

/// `seismote replay FILE`: the agent's pipeline over a recording, as fast as it can, driven by sample time alone.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Run the station's pipeline on a recording.",
        discussion: """
            The recording is CSV (t,x,y,z in m/s² or g) or miniSEED 2 or 3 with three channels. The output depends on \
            the recording and the settings alone: the same bytes every time and for any block size. Without --output \
            and --series the messages go to standard output.
            """)

    @Argument(help: "The recording.")
    var file: String

    @OptionGroup var settings: SettingsOptions

    @Option(
        help: ArgumentHelp("Write every message that would be published, one JSON object a line.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Write all signals as CSV, one line a sample.", valueName: "file"))
    var series: String?

    @Option(
        help: ArgumentHelp(
            "m/s² per count, or per unit of a CSV file: one number, or three for x,y,z.", valueName: "number"))
    var scale: String?

    @Option(help: ArgumentHelp("Unit of a CSV file: m/s^2 or g.", valueName: "unit"))
    var unit: String?

    @Option(
        help: ArgumentHelp(
            "Samples that are handed to the pipeline at once; makes no difference to the output.", valueName: "samples")
    )
    var block = 1000

    @Flag(help: "No progress bar.")
    var quiet = false

    func validate() throws {
        guard (1...1_000_000).contains(block) else { throw ValidationError("--block is a number from 1 to 1000000") }
    }

    func run() throws {
        let loaded = try settings.load(adding: overrides())
        do {
            try replay(loaded)
        } catch let error as SensorError {
            printError(error.message)
            throw ExitCode(65)  // EX_DATAERR
        } catch let error as StationError {
            printError(error.description)
            throw exitBadSettings
        } catch let error as OutputError {
            printError(error.description)
            throw ExitCode(74)  // EX_IOERR
        }
    }

    private func overrides() -> [String] {
        var overrides = ["sensor.replay.file=\(Self.quoted(file))", "sensor.driver=replay"]
        if let scale {
            overrides.append("sensor.replay.scale=" + (scale.contains(",") ? "[\(scale)]" : scale))
        }
        if let unit { overrides.append("sensor.replay.unit=\(Self.quoted(unit))") }
        return overrides
    }

    /// A YAML double-quoted text.
    private static func quoted(_ text: String) -> String { String(decoding: Value.string(text).json(), as: UTF8.self) }

    private func replay(_ loaded: LoadedSettings) throws {
        var configuration = loaded.configuration
        var recording = ReplaySettings(configuration.sensor)
        // Irregular samples go onto the rate that the user asks for; without a word, onto the recording's own.
        if let source = loaded.sources["sensor.rate_hz"], source == .file || source == .commandLine {
            recording.rate = configuration.sensor.rate
        }
        var sensor = ReplaySensor(recording)
        let description = try sensor.open()
        if configuration.station.id.isEmpty { configuration.station.id = "replay" }
        var pipeline = try StationPipeline(
            configuration: configuration,
            sensor: StationSensor(
                rate: description.rate, range: description.range, resolution: description.resolution),
            boot: "00000000-0000-0000-0000-000000000000")
        let messages =
            output != nil || series == nil ? MessageLines(try OutputFile(path: output ?? "-")) : nil
        let ratioSignals = pipeline.ratioSignals
        let writer = try series.map { SeriesWriter(try OutputFile(path: $0), ratioSignals: ratioSignals) }
        if let writer { pipeline.onSeries = { writer.write($0) } }
        let progress = ProgressBar(enabled: !quiet && output != "-" && (output != nil || series != nil))
        let sink: PublicationSink = { header, bytes in messages?.write(header, bytes) }
        var samples = SampleBlock(capacity: block)
        while try sensor.read(into: &samples) == .samples {
            pipeline.process(samples, quality: .replay, to: sink)
            progress.show(sensor.progress.read, of: sensor.progress.total)
            try messages?.check()
            try writer?.check()
        }
        pipeline.finish(to: sink)
        progress.finish()
        try messages?.close()
        try writer?.close()
        if !quiet { report(pipeline.status, description.rate) }
    }

    private func report(_ status: StationStatus, _ rate: Double) {
        guard output != nil || series != nil, isatty(STDERR_FILENO) != 0 else { return }
        printError(
            "\(status.samples) samples at \(rate) Hz, \(status.gaps) gaps, \(status.invalidSamples) invalid, "
                + "\(status.clippedSamples) clipped")
    }
}

extension ReplaySettings {
    /// Those of a configuration, as fast as possible.
    init(_ sensor: SensorConfiguration) {
        self.init(file: sensor.replay.file)
        speed = 0
        scale = (sensor.replay.scale.x, sensor.replay.scale.y, sensor.replay.scale.z)
        unit = sensor.replay.unit == .g ? .g : .metresPerSecondSquared
    }
}
