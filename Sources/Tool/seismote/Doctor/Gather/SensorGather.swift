import Instruments
import MQTT
import Messages
import Sensors
import Settings
import SignalProcessing

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
