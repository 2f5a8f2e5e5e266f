import ArgumentParser
import Glibc
import Instruments
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
