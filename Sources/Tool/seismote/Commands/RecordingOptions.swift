import ArgumentParser
import Messages
import Sensors
import Settings
import Values

/// Options of every command that reads recordings.
struct RecordingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "m/s² per count, or per unit of the file: one number, or three for x,y,z.", valueName: "number"))
    var scale: String?

    @Option(
        name: .customLong("stationxml"),
        help: ArgumentHelp(
            "Take the scale from this StationXML file, by the channels' codes and the time.", valueName: "file"))
    var stationXML: String?

    @Option(help: ArgumentHelp("Unit of a CSV file whose header says none: m/s^2 or g.", valueName: "unit"))
    var unit: String?

    func validate() throws {
        if scale != nil, stationXML != nil { throw ValidationError("--scale and --stationxml exclude each other") }
    }

    /// The numbers of `--scale`, one or three.
    var scales: [Double]? {
        let numbers = scale?.split(separator: ",").compactMap { Double($0.filter { $0 != " " }) } ?? []
        return numbers.count == 1 || numbers.count == 3 ? numbers : nil
    }

    /// The settings that say the same.
    /// - Throws: exit status 65 after a word why, when the StationXML file says nothing of the recording.
    func overrides(_ file: String) throws -> [String] {
        var overrides = ["sensor.replay.file=\(Self.quoted(file))", "sensor.driver=replay"]
        if let scale {
            overrides.append("sensor.replay.scale=" + (scale.contains(",") ? "[\(scale)]" : scale))
        }
        if let stationXML {
            let scale = try ending { try StationXML.scale(of: file, by: stationXML) }
            overrides.append(
                "sensor.replay.scale=\(String(decoding: Value.array(scale.map { .double($0) }).json(), as: UTF8.self))")
        }
        if let unit { overrides.append("sensor.replay.unit=\(Self.quoted(unit))") }
        return overrides
    }

    /// A YAML double-quoted text.
    private static func quoted(_ text: String) -> String { String(decoding: Value.string(text).json(), as: UTF8.self) }
}

extension ReplaySensor {
    /// The recording that settings name, once and as fast as possible.
    init(_ loaded: LoadedSettings) {
        var settings = loaded.configuration.sensor.replay
        (settings.speed, settings.loop) = (0, false)
        // Irregular samples go onto the rate that the user asks for; without one, onto the recording's own.
        let source = loaded.sources["sensor.rate_hz"]
        let isAsked = source == .file || source == .commandLine
        let unit = loaded.sources["sensor.replay.unit"]
        self.init(
            settings, irregularRate: isAsked ? loaded.configuration.sensor.rate : nil,
            isUnitGiven: unit == .file || unit == .commandLine)
    }

    /// Tells what the user should know of the recording that has been opened.
    func tellNotes(_ file: String) {
        for note in notes { printError("\(file): \(note)") }
    }
}
