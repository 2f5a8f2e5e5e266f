import ArgumentParser
import Glibc
import Messages
import Platform
import Sensors
import ServerOptions
import Settings
import Values

/// A patch of the words `KEY=VALUE`; prints what is wrong with them, and ends with status 78 then.
func patchOrExit(_ words: [String]) throws -> Value {
    do { return try Settings.patch(words) } catch { throw failure(error.text(), .settings) }
}

/// Options of every command that works with settings.
struct SettingsOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("Settings file.", valueName: "file"))
    var config: String?

    @OptionGroup var below: LayerOptions

    /// The merged settings; when they are wrong, all errors go to standard error and the exit status is 78.
    func load(adding overrides: [String] = []) throws -> LoadedSettings {
        try below.load(path: config, adding: overrides)
    }

    /// The same with what was set remotely, as the agent takes it with this file.
    func inForce() throws -> LoadedSettings {
        do throws(CodedErrors) {
            let layers = try SettingsLayers(path: config, preset: below.preset, overrides: below.overrides)
            let now = Int64(time(nil)) * 1_000_000_000
            let (ledger, notes, _) = try SettingsLedger.stored(layers, now: now)
            for note in notes { printError(note.message) }
            return ledger.settings
        } catch { throw failure(error.text(fileName: config), .settings) }
    }
}

/// Settings below and above the settings file.
struct LayerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Settings below the file: \(Preset.all.map(\.name).joined(separator: ", ")), or a file.",
            valueName: "preset"))
    var preset: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Setting above the file, such as trace.rate_hz=10; may be repeated.", valueName: "key=value")
    )
    var overrides: [String] = []

    func load(path: String?, adding more: [String] = []) throws -> LoadedSettings {
        do {
            return try read(path: path, adding: more)
        } catch { throw failure(error.text(fileName: path), .settings) }
    }

    /// The same without a word to the terminal.
    func read(path: String?, adding more: [String] = []) throws(CodedErrors) -> LoadedSettings {
        try Settings.load(path: path, preset: preset, overrides: overrides + more)
    }
}

/// One or more lines to standard error.
func printError(_ text: String) { ProgramOutput.printError(text) }

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
