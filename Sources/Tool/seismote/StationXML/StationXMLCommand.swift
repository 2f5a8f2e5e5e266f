import ArgumentParser
import Exchange
import Messages
import Sensors
import ServerOptions
import Settings
import Values

/// `seismote stationxml`: what a station's data mean, for other programs.
struct StationXMLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stationxml", abstract: "Print the StationXML of a station: channels, orientation, response.",
        discussion: """
            The station, its mounting and its traces are those of the settings. What a count of its waveforms is depends \
            on the sensor that was found: give the station's message state/info, as in

              mosquitto_sub -h BROKER -t seismote/basement/state/info -C 1 > info.json
              seismote stationxml --config seismote.yaml --info info.json > basement.xml
            """)

    @OptionGroup var settings: SettingsOptions

    @Option(
        help: ArgumentHelp("The station's message state/info, for the sensor's rate and resolution.", valueName: "file")
    )
    var info: String?

    @Option(help: ArgumentHelp("Since when this holds, such as 2026-01-05T00:00:00Z.", valueName: "time"))
    var start: String = "1970-01-01T00:00:00Z"

    func run() throws {
        guard let begin = Timestamp(start) else {
            throw ValidationError("--start \(start): a time is needed, such as 2026-01-05T00:00:00Z")
        }
        var configuration = try settings.load().configuration
        var station = DescribedStation(configuration)
        if let info {
            guard let message = try? JSONReader.read(try SettingsFile.read(info)),
                let found = DescribedStation(info: InfoReading(message), config: nil)
            else {
                throw failure("\(info): this is no message state/info with a sensor in it", .data)
            }
            if configuration.station.id.isEmpty { configuration.station.id = found.identity.id }
            station = DescribedStation(configuration)
            (station.rate, station.unitPerCount) = (found.rate, found.unitPerCount)
            (station.chip, station.isCalibrated) = (found.chip, found.isCalibrated)
        } else {
            printError(
                "The sensor's resolution is not known here, so that a count of waveforms is taken as "
                    + "\(station.unitPerCount) m/s²; --info FILE tells it.")
        }
        station.begin = begin.nanoseconds
        print(StationXMLWriter.document([station], created: ToolSensor.now()), terminator: "")
    }
}

/// Reason why a StationXML file says nothing of a recording.
struct StationXMLError: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// One epoch of a channel, as a StationXML file has it.
struct StationXMLChannel {
    var network: String
    var station: String
    var location: String
    var code: String
    /// Whether a recording's channel is this one.
    func isOf(_ channel: RecordedChannel) -> Bool {
        let source = channel.source
        return source.network == network && source.station == station && source.channel == code
            && (source.location == "--" ? "" : source.location) == location
    }

    /// As they are written; empty: without a limit.
    var begin = ""
    var end = ""
    /// Counts per unit, of the whole way; and the product of the gains of its stages.
    var sensitivity: Double?
    var gain: Double?
    /// Input units of the whole way, and of the first stage.
    var units: String?
    var stageUnits: String?

    init(network: String, station: String, location: String, code: String) {
        (self.network, self.station, self.code) = (network, station, code)
        self.location = location == "--" ? "" : location
    }

    var name: String { safe("\(network).\(station).\(location).\(code)", limit: 60) }

    /// m/s² of the units in which an acceleration may be given.
    private static let accelerations = [
        "M/S**2": 1.0, "M/S^2": 1, "M/S2": 1, "M/S/S": 1, "M/S²": 1, "CM/S**2": 1e-2, "CM/S^2": 1e-2, "MM/S**2": 1e-3,
        "MM/S^2": 1e-3, "NM/S**2": 1e-9, "NM/S^2": 1e-9,
    ]

    /// m/s² per count.
    func scale() throws(StationXMLError) -> Double {
        let isWhole = (sensitivity ?? 0) != 0
        guard let counts = isWhole ? sensitivity : gain, let unit = (isWhole ? units : nil) ?? stageUnits ?? units
        else {
            throw StationXMLError("\(name) has neither an InstrumentSensitivity nor gains of stages, with their units")
        }
        guard let one = Self.accelerations[unit.uppercased()] else {
            throw StationXMLError(
                "\(name) measures \(safe(unit, limit: 30)), and the agent's samples are accelerations (M/S**2)")
        }
        let scale = one / counts
        guard scale.isFinite, scale != 0, abs(scale) <= 1e12 else {
            throw StationXMLError("\(name) has a sensitivity of \(counts) counts per \(safe(unit, limit: 30))")
        }
        return scale
    }

    /// Nanoseconds of UTC; open where nothing is written.
    func span() throws(StationXMLError) -> (begin: Int64, end: Int64) {
        (try Self.time(begin, open: .min, name), try Self.time(end, open: .max, name))
    }

    private static func time(_ text: String, open: Int64, _ name: String) throws(StationXMLError) -> Int64 {
        if text.isEmpty { return open }
        // Far in the future stands for never ("2599-12-31T23:59:59").
        if let year = Int(text.prefix(4)), year >= 2262 { return .max }
        if let year = Int(text.prefix(4)), year < 1678 { return .min }
        let hasZone = text.hasSuffix("Z") || text.dropFirst(10).contains("+") || text.dropFirst(10).contains("-")
        guard let time = Timestamp(hasZone ? text : text + "Z") else {
            throw StationXMLError("\(name): \(safe(text, limit: 40)) is not a valid time of an epoch")
        }
        return time.nanoseconds
    }
}

/// How much one count is, of the three channels of a recording, by a StationXML file.
enum StationXML {
    /// m/s² per count of x, y and z.
    static func scale(of recording: String, by file: String) throws -> [Double] {
        guard let channels = try ReplaySensor.channels(of: recording) else {
            throw StationXMLError("\(recording) is CSV, which names no channels: give --scale or --unit")
        }
        let known = try StationXMLReader.read(file) { one in channels.contains { one.isOf($0) } }
        return try channels.map { channel in
            do throws(StationXMLError) {
                return try scale(of: channel, in: known.filter { $0.isOf(channel) })
            } catch {
                throw StationXMLError("\(file): \(error.message)")
            }
        }
    }

    /// Scale of the epochs that the recording lies in; all of them must say the same.
    private static func scale(
        of channel: RecordedChannel, in epochs: [StationXMLChannel]
    ) throws(StationXMLError) -> Double {
        guard let first = epochs.first else {
            let source = channel.source
            throw StationXMLError(
                "no channel \(source.network).\(source.station).\(source.location).\(source.channel)")
        }
        var scales: [Double] = []
        var (hasStart, hasEnd) = (false, false)
        for epoch in epochs {
            let span = try epoch.span()
            guard span.begin <= channel.end, channel.start <= span.end else { continue }
            scales.append(try epoch.scale())
            hasStart = hasStart || span.begin <= channel.start
            hasEnd = hasEnd || channel.end <= span.end
        }
        let time = "\(Timestamp(nanoseconds: channel.start)) to \(Timestamp(nanoseconds: channel.end))"
        guard let scale = scales.first, hasStart, hasEnd else {
            throw StationXMLError("\(first.name) has no epoch that holds \(time)")
        }
        guard scales.allSatisfy({ $0 == scale }) else {
            throw StationXMLError("\(first.name) has epochs of different sensitivity within \(time): give --scale")
        }
        return scale
    }
}
