import ArgumentParser
import Exchange
import Messages
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
                let found = DescribedStation(info: message, config: nil)
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
