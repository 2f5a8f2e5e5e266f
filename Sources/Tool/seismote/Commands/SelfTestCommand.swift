import ArgumentParser
import Instruments
import Messages
import Sensors
import ServerOptions
import Settings
import Threads

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
