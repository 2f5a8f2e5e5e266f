import Glibc
import Instruments
import MQTT
import Messages
import Sensors
import Settings
import SignalProcessing

/// The sensor while it is set up: bars that move when somebody taps the table, and a recording of the quiet.
struct SetupSensor {
    private let configuration: SensorConfiguration

    init(_ configuration: SensorConfiguration) { self.configuration = configuration }

    /// Reads so many seconds.
    /// - Parameter each: takes each block; false ends it.
    func record(
        seconds: Double, each: (SampleBlock, RestRecording) -> Bool = { _, _ in true }
    ) throws(SensorError) -> (recording: RestRecording, chip: String) {
        var driver = SensorChoice.driver(configuration)
        let description = try driver.open()
        defer { driver.close() }
        var recording = RestRecording(rate: description.rate)
        var block = SampleBlock(capacity: max(1, Int((description.rate * 0.1).rounded())))
        while recording.seconds < seconds, !Interrupt.came {
            guard try driver.read(into: &block) == .samples else { break }
            recording.append(block)
            if !each(block, recording) { break }
        }
        return (recording, description.chip)
    }

    /// Three bars that follow the motion, until Enter.
    func tap(seconds: Double) throws(SensorError) -> RestRecording {
        var mean: [Double]?
        var isDrawn = false
        // Enter must not move the bars.
        let hidden = HiddenInput()
        defer { hidden.end() }
        print("Tap the table: the bars must jump. Turn the sensor: gravity must wander. Enter goes on.")
        let result = try record(seconds: seconds) { block, _ in
            var (sum, peak) = ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
            for axis in 0..<3 { for i in 0..<block.count { sum[axis] += block[axis, i] / Double(block.count) } }
            let rest = mean ?? sum
            for axis in 0..<3 {
                for i in 0..<block.count { peak[axis] = max(peak[axis], (block[axis, i] - rest[axis]).magnitude) }
            }
            mean = zip(rest, sum).map { $0 * 0.9 + $1 * 0.1 }
            if isDrawn { print("\u{1b}[3A", terminator: "") }
            isDrawn = true
            for (axis, name) in ["x", "y", "z"].enumerated() {
                print(
                    "\u{1b}[2K  \(name) \(Self.bar(peak[axis])) \(fixed(peak[axis], 3)) m/s²   mean \(fixed(sum[axis], 2))"
                )
            }
            flushOutput()
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 0) > 0 else { return true }
            _ = Keyboard.line()
            return false
        }
        return result.recording
    }

    /// Result of the survey, with remedies where nothing can be used. Pure.
    static func event(_ survey: Survey) -> SetupEvent {
        var lines = survey.text.split(separator: "\n").map { safe(String($0)) }
        // The remedies say these.
        lines.removeAll { $0 == Survey.obstaclesTitle || survey.commands.contains(String($0.dropFirst(2))) }
        // That nothing was found is said next.
        if survey.choice == nil { lines.removeAll { $0.hasPrefix(Survey.choiceTitle) } }
        var remedies = survey.commands
        if survey.choice == nil, survey.buses.contains(where: \.obstacles.isEmpty) { remedies.append(wiring) }
        if survey.choice == nil, survey.findings.contains(where: { $0.chip.isEmpty && !$0.obstacles.isEmpty }) {
            remedies.append(held)
        }
        return .survey(chip: survey.choice?.chip, lines: lines, remedies: remedies)
    }

    private static let wiring =
        "Wiring: VCC to 3.3 V (pin 1), GND to GND (pin 6), SDA to pin 3, SCL to pin 5; an ADXL345 also needs CS at 3.3 V, and SDO at GND for address 0x53"

    private static let held =
        "The bus does not work: SDA or SCL is at GND, or both are exchanged, or a chip holds them. Check these two wires, and take the power away for ten seconds"

    /// A logarithmic bar from 1 mm/s² to 10 m/s².
    static func bar(_ value: Double, width: Int = 32) -> String {
        let share = value > 0 ? (log10(value) + 3) / 4 : 0
        let count = max(0, min(width, Int((share * Double(width)).rounded())))
        return String(repeating: "█", count: count) + String(repeating: "·", count: width - count)
    }
}
