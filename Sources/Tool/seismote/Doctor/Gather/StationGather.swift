import Glibc
import Instruments
import MQTT
import Messages
import Platform
import Sensors
import Settings
import SignalProcessing
import Values

/// Reads what the agent on this machine says of itself (`AgentState`).
enum StateGather {
    /// Seconds that an agent that has just begun is given to write it.
    private static let patience = 3.0

    /// - Returns: the state, and whether it should be there and is not.
    static func look(_ agent: AgentFacts?) -> (state: Known<StateFacts>, isMissing: Bool) {
        guard let agent else { return (.unknown("no agent with these settings runs"), false) }
        let environment = SmallFiles.text("/proc/\(agent.process)/environ")
        var path = AgentState.usualPath
        if let environment {
            guard let folder = Self.folder(environment) else {
                return (.unknown("the agent was started without a folder for its state (RUNTIME_DIRECTORY)"), true)
            }
            path = "\(folder)/\(AgentState.fileName)"
        }
        let end = monotonicSeconds() + patience
        while true {
            if let text = SmallFiles.text(path) {
                if let facts = facts(text, of: agent.process, path: path, now: monotonicSeconds()) {
                    return (.known(facts), false)
                }
            } else if errno == EACCES {
                return (.unknown("\(path) may be read by root and the agent's group only: use sudo"), false)
            } else if environment == nil {
                return (.unknown("\(path): \(String(cString: strerror(errno)))"), false)
            }
            guard monotonicSeconds() < end, !Interrupt.came else { break }
            usleep(100_000)
        }
        return (.unknown("\(path) has no state of the agent (process \(agent.process))"), true)
    }

    /// The first folder that systemd has made for the agent, from its environment.
    static func folder(_ environment: String) -> String? {
        let key = "RUNTIME_DIRECTORY="
        let value = environment.split(separator: "\0").first { $0.hasPrefix(key) }?.dropFirst(key.count)
        return value?.split(separator: ":").first.map(String.init)
    }

    /// Nil: nothing that this process has written. Pure.
    /// - Parameter now: seconds of the monotonic clock.
    static func facts(_ text: String, of process: Int, path: String, now: Double) -> StateFacts? {
        guard let state = (try? JSONReader.read(Array(text.utf8))).map(AgentStateReading.init),
            state.process == process, let written = state.written
        else { return nil }
        var facts = StateFacts(path: path, age: max(0, now - written / 1e9), broker: (state.broker ?? "").printable)
        facts.view.isOnline = state.isConnected
        facts.view.info = state.info
        facts.view.health = state.health
        for alert in state.alerts {
            if let code = alert.code?.printable { facts.view.alerts[code] = alert }
        }
        (facts.isWaiting, facts.isEnded) = (state.isWaiting, state.isEnded)
        if let mean = state.mean { facts.gravity = mean }
        facts.mqtt = state.mqtt
        return facts
    }
}

/// Opens the sensor for a moment, where no agent has it.
enum SensorGather {
    private static let seconds = 2.2

    static func look(_ configuration: SensorConfiguration) -> Known<SensorFacts> {
        guard configuration.driver != .replay else { return .unknown("a recording is played, there is no sensor") }
        var driver = SensorChoice.driver(configuration)
        var facts = SensorFacts()
        do throws(SensorError) {
            let description = try driver.open()
            defer { driver.close() }
            facts.chip = description.chip
            var watch = SampleWatch(
                rate: description.rate, range: description.range, resolution: description.resolution)
            var recording = RestRecording(rate: description.rate)
            var block = SampleBlock(capacity: max(1, Int((description.rate * 0.1).rounded())))
            while recording.seconds < seconds, !Interrupt.came, try driver.read(into: &block) == .samples {
                recording.append(block)
                _ = watch.take(block)
            }
            facts.isStuck = watch.faults.contains(.stuck)
            facts.stuckAxes = "x, y, z"
            facts.gravity = mapped(recording.mean, configuration.mounting)
        } catch {
            (facts.problem, facts.code) = (error.message, error.code.rawValue)
            if SensorChoice.isHardware(configuration) {
                facts.remedies = Survey.ofThisMachine(everything: true).commands
            }
        }
        return .known(facts)
    }

    /// Along the station's axes.
    static func mapped(_ mean: [Double], _ mounting: MountingConfiguration) -> [Double] {
        [mounting.sources.x, mounting.sources.y, mounting.sources.z].map { $0.sign * mean[$0.axis] }
    }
}
