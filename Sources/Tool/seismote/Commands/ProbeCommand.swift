import ArgumentParser
import Instruments
import Messages
import Platform
import Sensors
import ServerOptions
import Settings

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
