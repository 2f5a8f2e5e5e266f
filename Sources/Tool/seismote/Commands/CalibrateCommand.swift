import ArgumentParser
import Glibc
import Instruments
import Messages
import Platform
import Sensors
import ServerOptions
import Settings
import SignalProcessing
import Values

/// `seismote calibrate`: offset and noise at rest, or offset, scale and cross-axis from six positions.
struct CalibrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate", abstract: "Find the sensor's offset, scale and noise.",
        discussion: """
            sudo seismote calibrate -o calibration.yaml

            By default the sensor lies level and still; use --tilted if it may not be level. With --six-positions the \
            sensor is turned so that each axis points up and down once, in any order; the command asks for each \
            position, or finds them in a recording. Prints the lines for the settings file. The agent has to be \
            stopped. The exit status is 1 when the samples do not allow a calibration.
            """)

    @Argument(help: "A recording instead of the sensor.")
    var file: String?

    @OptionGroup var settings: SettingsOptions
    @OptionGroup var recording: RecordingOptions

    @Option(help: ArgumentHelp("Measuring time, for each position.", valueName: "s"))
    var seconds: Double?

    @Flag(help: "Calibrate from six positions.")
    var sixPositions = false

    @Option(
        help: ArgumentHelp(
            "Six positions: axes, along which the sensor was put within a degree, or norm: roughly, only the length of gravity counts.",
            valueName: "axes|norm"))
    var method = "axes"

    @Flag(help: "The sensor is not known to be level: only the length of gravity counts.")
    var tilted = false

    @Flag(help: "Print JSON.")
    var json = false

    @Option(name: .shortAndLong, help: ArgumentHelp("Write the lines for the settings into a file.", valueName: "file"))
    var output: String?

    func validate() throws {
        guard PositionCalibration.Method(rawValue: method) != nil else {
            throw ValidationError("--method \(method): must be axes or norm")
        }
        if let seconds, !(seconds >= RestRecording.shortest && seconds <= 3600) {
            throw ValidationError("--seconds must be from 2 to 3600")
        }
    }

    func run() throws {
        let loaded = try settings.load(adding: try file.map { try recording.overrides($0) } ?? [])
        var sensor = try ToolSensor(loaded)
        defer { sensor.close() }
        try ending { try sixPositions ? positions(&sensor, loaded) : rest(&sensor, loaded) }
    }

    private func rest(_ sensor: inout ToolSensor, _ loaded: LoadedSettings) throws {
        let up = loaded.configuration.sensor.mounting.sources.z
        let all = try sensor.record(seconds: seconds ?? (file == nil ? 20 : 3600))
        let result = try RestCalibration(all, vertical: tilted ? nil : (axis: up.axis, sign: up.sign))
        let value = result.value(time: ToolSensor.now())
        sensor.keep(.calibration, value, loaded)
        var table = Table(["axis", "mean m/s²", "offset m/s²", "noise m/s²", "µg/√Hz"], left: [0])
        for (name, axis) in [("x", result.x), ("y", result.y), ("z", result.z)] {
            table.add([
                name, fixed(axis.mean, 5), fixed(axis.offset, 5), fixed(axis.noise, 6), significant(axis.microG, 4),
            ])
        }
        let verdict =
            result.isPlausible
            ? "within 10 % of 1 g" : "NOT within 10 % of 1 g: the scale is wrong, which an offset cannot correct"
        try tell(
            value, result.correction,
            """
            \(sensor.description.chip): \(fixed(result.seconds, 1)) s at rest at \(fixed(sensor.description.rate, 2)) Hz
            \(table.text)
            gravity \(fixed(result.magnitude, 4)) m/s², \(verdict)
            """)
        if !result.isPlausible { throw ExitStatus.fault.code }
    }

    private func positions(_ sensor: inout ToolSensor, _ loaded: LoadedSettings) throws {
        let means =
            file == nil ? try ask(&sensor) : PositionFinder.positions(try sensor.record(seconds: 86_400))
        let result = try PositionCalibration(means, method: .init(rawValue: method) ?? .axes)
        let value = result.value(time: ToolSensor.now())
        sensor.keep(.calibration, value, loaded)
        try tell(
            value, result.correction,
            """
            \(sensor.description.chip): \(result.positions) positions
            left over \(significant(result.residual, 3)) m/s² (RMS), at most \(significant(result.worst, 3)) m/s²; \
            before \(significant(result.before, 3)) m/s²
            """)
    }

    /// Asks for one position after the other until all six are there.
    private func ask(_ sensor: inout ToolSensor) throws -> [[Double]] {
        var means = [[Double]?](repeating: nil, count: 6)
        while means.contains(where: { $0 == nil }) {
            let missing = (0..<6).filter { means[$0] == nil }.map { PositionCalibration.names[$0] }
            printError(
                "Turn the sensor so that one of \(missing.joined(separator: ", ")) points up, let go, and press Enter.")
            guard readLine() != nil else { throw CalibrationError("stopped before all six positions were measured") }
            try sensor.restart()
            // The hand lets go.
            _ = try sensor.record(seconds: 0.5)
            let part = try sensor.record(seconds: seconds ?? 5)
            if let movement = part.movement() {
                printError("  not at rest: \(movement)")
            } else if let direction = PositionCalibration.direction(part.mean) {
                means[direction] = part.mean
                printError("  \(PositionCalibration.names[direction]) up: measured")
            } else {
                printError("  no axis points up or down within 20 degrees")
            }
        }
        return means.compactMap { $0 }
    }

    /// Prints the report and the lines for the settings.
    private func tell(_ value: Value, _ correction: Correction, _ text: String) throws {
        func list(_ numbers: [Double]) -> String {
            "["
                + numbers.map { String(decoding: Value.double(rounded($0)).json(), as: UTF8.self) }.joined(
                    separator: ", ")
                + "]"
        }
        let lines = """
            sensor:
              calibration:
                offset: \(list(correction.offset))
                matrix: \(list(correction.matrix))
            """
        print(json ? String(decoding: value.json(), as: UTF8.self) : text + "\n\n" + lines)
        guard let output else { return }
        let file = try OutputFile(path: output)
        file.append(lines + "\n")
        try file.finish()
    }

    /// Seven decimals: a tenth of a µg.
    private func rounded(_ number: Double) -> Double { (number * 1e7).rounded() / 1e7 }
}

/// `seismote probe`: which accelerometers there are, which of them would be used, and what prevents it.
struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Find accelerometers.",
        discussion: """
            sudo seismote probe

            Lists the devices of the kernel's IIO subsystem and the I2C buses, what was recognised and how surely, what \
            `driver: auto` would use, and the commands that grant what is missing. It only reads: of chips nothing but \
            the identity registers, at addresses where a known chip may be and no driver of the kernel is. Exit status \
            1 when there is nothing to use.
            """)

    @Option(help: ArgumentHelp("IIO context: local:, ip:host, usb:.", valueName: "uri"))
    var uri = "local:"

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let survey = Survey.ofThisMachine(uri: uri, everything: true)
        print(json ? String(decoding: survey.value.json(), as: UTF8.self) : survey.text)
        if survey.choice == nil { throw ExitStatus.fault.code }
    }
}

/// `seismote selftest`: the chip's own test, by its maker's procedure.
struct SelfTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "selftest", abstract: "Run the sensor's self-test.",
        discussion: """
            sudo seismote selftest

            The chip moves its own mass by a known force; the sensor has to be at rest, and the agent has to be stopped. Exit \
            status 0 when it has passed, 1 when not, 69 when there is no sensor or it has no self-test.
            """)

    @OptionGroup var settings: SettingsOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let loaded = try settings.load()
        var sensor = try ToolSensor(loaded)
        defer { sensor.close() }
        let report = try sensor.selfTest()
        let value = report.value(time: ToolSensor.now())
        sensor.keep(.selfTest, value, loaded)
        print(json ? String(decoding: value.json(), as: UTF8.self) : text(report, sensor.description))
        if !report.passed { throw ExitStatus.fault.code }
    }

    private func text(_ report: SelfTestReport, _ sensor: SensorDescription) -> String {
        var table = Table(["axis", "change", "least", "most", ""], left: [0, 4])
        for (name, axis) in [("x", report.x), ("y", report.y), ("z", report.z)] {
            table.add([
                name, fixed(axis.change, 3), fixed(axis.minimum, 3), fixed(axis.maximum, 3),
                axis.passed ? "ok" : "FAILED",
            ])
        }
        return """
            \(sensor.chip): self-test \(report.passed ? "passed" : "FAILED"), in \(report.unit)
            \(table.text)
            by \(report.source)
            """
    }
}
