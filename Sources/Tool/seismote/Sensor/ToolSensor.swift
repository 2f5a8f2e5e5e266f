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

/// The sensor of the settings in the hands of the tool.
struct ToolSensor {
    private var driver: any SensorDriver
    let description: SensorDescription
    private var block: SampleBlock

    /// - Throws: exit status 69 after a word why, also when the agent has the sensor.
    init(_ loaded: LoadedSettings) throws {
        let sensor = loaded.configuration.sensor
        // An agent that makes its samples up, or plays a recording, does not have the sensor.
        if SensorChoice.isHardware(sensor), let process = AgentProcesses.all.first(where: Self.hasSensor) {
            throw failure(
                "the agent (seismoted, process \(process)) is using the sensor; stop it with: systemctl stop seismote",
                .unavailable)
        }
        var driver = sensor.driver == .replay ? ReplaySensor(loaded) : SensorChoice.driver(sensor)
        do {
            description = try driver.open()
            (driver as? ReplaySensor)?.tellNotes(sensor.replay.file)
        } catch {
            throw Self.ended(error, error.code == .format ? .data : .unavailable)
        }
        self.driver = driver
        block = SampleBlock(capacity: max(1, Int((description.rate * 0.16).rounded())))
    }

    /// Reads so many seconds, or to the end of a recording; gaps are passed over.
    mutating func record(seconds: Double) throws -> RestRecording {
        var recording = RestRecording(rate: description.rate)
        do {
            while recording.seconds < seconds, try driver.read(into: &block) == .samples { recording.append(block) }
        } catch { throw Self.ended(error) }
        return recording
    }

    /// Begins anew, so that nothing is read that came before.
    mutating func restart() throws {
        driver.close()
        do { _ = try driver.open() } catch { throw Self.ended(error) }
    }

    /// - Throws: exit status 69 when it cannot be made.
    mutating func selfTest() throws -> SelfTestReport {
        do { return try driver.selfTest() } catch { throw Self.ended(error) }
    }

    mutating func close() { driver.close() }

    private static func ended(_ error: SensorError, _ status: ExitStatus = .unavailable) -> ExitCode {
        failure(error.message + (error.code == .busy ? " (in use by the agent or another program)" : ""), status)
    }

    /// Whether a process has a sensor's device open. What may not be looked at counts as having it.
    static func hasSensor(_ process: Int) -> Bool {
        let folder = "/proc/\(process)/fd"
        guard access(folder, R_OK) == 0 else { return errno != ENOENT }
        return SmallFiles.names(in: folder).compactMap { SmallFiles.link("\(folder)/\($0)") }.contains {
            $0.hasPrefix("/dev/i2c-") || $0.hasPrefix("/dev/iio:") || $0.contains("/iio:device")
        }
    }

    /// Saves a report for the agent to publish; a failure is only printed.
    func keep(_ report: SensorMemory.Report, _ value: Value, _ loaded: LoadedSettings) {
        guard description.clock == .host, description.driver != "simulate" else { return }
        do {
            try SensorMemory.keep(
                report, of: description.chip, value, directory: loaded.configuration.storage.directory)
        } catch { printError("the result could not be saved for the agent to publish: \(error.message)") }
    }

    static func now() -> Int64 { HostClock.wall() }
}

extension Survey {
    static let obstaclesTitle = "To fix:"
    static let choiceTitle = "driver: auto would use"

    /// For people.
    var text: String {
        var lines = ["Devices of the kernel (IIO):"]
        lines += Self.lines(findings.filter(\.place.isIIO))
        lines.append("I2C buses:")
        for bus in buses {
            lines.append("  /dev/i2c-\(bus.number)  \(bus.name)")
            lines += bus.obstacles.map { "    \($0.error.message)" }
        }
        if buses.isEmpty { lines.append("  none") }
        lines.append("On the buses:")
        lines += Self.lines(findings.filter { !$0.place.isIIO })
        for obstacle in obstacles { lines.append("Missing: \(obstacle.error.message)") }
        if let choice {
            lines.append("\(Self.choiceTitle) \(choice.chip) (\(choice.placeName)).")
        } else {
            lines.append("\(Self.choiceTitle) nothing: \(problem.message).")
        }
        if !commands.isEmpty {
            lines.append(Self.obstaclesTitle)
            lines += commands.map { "  \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    private static func lines(_ findings: [Finding]) -> [String] {
        guard !findings.isEmpty else { return ["  none"] }
        return findings.flatMap { finding -> [String] in
            var line = "  \(finding.placeName)  \(finding.chip.isEmpty ? "?" : finding.chip)  \(finding.certainty.name)"
            if !finding.kernelDriver.isEmpty { line += "  driver \(finding.kernelDriver)" }
            if !finding.note.isEmpty { line += "  (\(finding.note))" }
            return [line] + finding.obstacles.map { "    \($0.error.message)" }
        }
    }

    /// For programs.
    var value: Value {
        .object([
            .init("findings", .array(findings.map(\.value))),
            .init(
                "buses",
                .array(
                    buses.map { bus in
                        .object([
                            .init("bus", .int(Int64(bus.number))), .init("name", .string(bus.name)),
                            .init("obstacles", .array(bus.obstacles.map(\.value))),
                        ])
                    })),
            .init("obstacles", .array(obstacles.map(\.value))), .init("use", choice?.value ?? .null),
            .init("problem", choice == nil ? .string(problem.message) : .null),
            .init("commands", .array(commands.map { .string($0) })),
        ])
    }
}

extension Finding.Certainty {
    fileprivate var name: String {
        switch self {
        case .unknown: "unknown"
        case .named: "named"
        case .certain: "certain"
        }
    }
}

extension Finding {
    fileprivate var value: Value {
        var members: [Value.Member] = []
        switch place {
        case .iio(let device):
            members = [.init("driver", .string("iio")), .init("device", .string(device))]
        case .i2c(let bus, let address):
            members = [
                .init("driver", .string("i2c")), .init("bus", .int(Int64(bus))), .init("address", .int(Int64(address))),
            ]
        }
        members += [
            .init("chip", .string(chip)), .init("certainty", .string(certainty.name)),
            .init("kernel_driver", .string(kernelDriver)), .init("note", .string(note)),
            .init("obstacles", .array(obstacles.map(\.value))),
        ]
        return .object(members)
    }
}

extension Obstacle {
    fileprivate var value: Value {
        .object([
            .init("code", .string(error.code.rawValue)), .init("message", .string(error.message)),
            .init("command", .string(command)), .init("fatal", .bool(isFatal)),
        ])
    }
}
