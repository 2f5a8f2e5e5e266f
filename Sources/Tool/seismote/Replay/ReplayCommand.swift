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
            seismote replay quake.mseed --scale 1e-6 -o messages.jsonl

            The recording is CSV (columns t, x, y, z by their names, in the unit of the header, else m/s²) or miniSEED 2 \
            or 3 with three channels. Counts of miniSEED need \
            a scale: --scale, --stationxml, sensor.replay.scale in the settings, or the recording's own (waveforms of \
            the agent in miniSEED 3). The output depends on the recording and the settings alone: the same bytes every time and for any block size. Without --output \
            and --series the messages go to standard output.
            """)

    @Argument(help: "The recording.")
    var file: String

    @OptionGroup var settings: SettingsOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write every message that would be published, one JSON object a line.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Write all signals as CSV, one line a sample.", valueName: "file"))
    var series: String?

    @OptionGroup var recording: RecordingOptions

    @Option(
        help: ArgumentHelp(
            "Samples that are handed to the pipeline at once; makes no difference to the output.", valueName: "samples")
    )
    var block = 1000

    @Flag(help: "Do not show a progress bar.")
    var quiet = false

    func validate() throws {
        guard (1...1_000_000).contains(block) else { throw ValidationError("--block must be from 1 to 1000000") }
    }

    func run() throws {
        let loaded = try settings.load(adding: try recording.overrides(file))
        try ending { try replay(loaded) }
    }

    private func replay(_ loaded: LoadedSettings) throws {
        var configuration = loaded.configuration
        var sensor = ReplaySensor(loaded)
        let description = try sensor.open()
        sensor.tellNotes(file)
        if configuration.station.id.isEmpty { configuration.station.id = "replay" }
        var pipeline = try StationPipeline(
            configuration: configuration,
            sensor: StationSensor(
                rate: description.rate, range: description.range, resolution: description.resolution),
            boot: "00000000-0000-0000-0000-000000000000")
        let messages =
            output != nil || series == nil ? MessageLines(try OutputFile(path: output ?? "-")) : nil
        let ratios = pipeline.ratioColumns
        let writer = try series.map { SeriesWriter(try OutputFile(path: $0), ratios: ratios) }
        if let writer { pipeline.onSeries = { writer.write($0) } }
        let progress = ProgressBar(enabled: !quiet && output != "-" && (output != nil || series != nil))
        let sink: PublicationSink = { header, bytes in messages?.write(header, bytes) }
        var modes = try ModesTracker(
            configuration.vibration, topics: Topics(root: configuration.mqtt.root, id: configuration.station.id),
            boot: "00000000-0000-0000-0000-000000000000")
        if configuration.vibration.modes {
            pipeline.onMotion = { modes.take($0, temperature: nil, quality: .replay, to: sink) }
        }
        var samples = SampleBlock(capacity: block)
        while try sensor.read(into: &samples) == .samples {
            pipeline.process(samples, quality: .replay, to: sink)
            progress.show(sensor.progress.read, of: sensor.progress.total)
            try messages?.check()
            try writer?.check()
        }
        pipeline.finish(to: sink)
        modes.finish(quality: .replay, to: sink)
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
