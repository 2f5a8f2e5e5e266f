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

/// How quiet a place is, what the chip itself makes of it, and which preset suits. Pure.
struct NoiseReport: Equatable {
    var lines: [String]
    var preset: String
    var reason: String

    /// Typical noise of chips by their data sheets, µg/√Hz, of the noisiest axis.
    private static let sheets: [String: Double] = [
        "adxl345": 430, "adxl355": 25, "adxl357": 90, "adxl313": 250, "lis3dh": 220, "lis2dw12": 90, "lsm6dso": 70,
        "mpu6050": 400, "mpu6500": 300, "mma8451": 126, "bmi160": 180,
    ]

    /// - Returns: nil for a recording that is too short.
    init?(_ recording: RestRecording, chip: String) {
        guard recording.seconds >= RestRecording.shortest else { return nil }
        let axes = [recording.x, recording.y, recording.z]
        let density = axes.map { RestRecording.noise($0, rate: recording.rate).density / standardGravity * 1e6 }
        let worst = density.max() ?? 0
        // What the ground and the house do too, milli-g: the median second, so that one knock does not count.
        let shaking = axes.map { Self.medianDeviation($0, rate: recording.rate) }.max() ?? 0
        lines = [
            "Noise over \(fixed(recording.seconds, 0)) s: "
                + zip(["x", "y", "z"], density).map { "\($0) \(significant($1, 3))" }.joined(separator: ", ")
                + " µg/√Hz; the place moves by \(significant(shaking, 3)) mg (RMS)."
        ]
        if let sheet = Self.sheets[chip] {
            lines.append(
                worst > 2 * sheet
                    ? "The data sheet of the \(chip) says \(Int(sheet)) µg/√Hz: this is more. Look for a fan, a loose cable or a weak power supply."
                    : "The data sheet of the \(chip) says \(Int(sheet)) µg/√Hz: as it should be.")
        }
        // The preset's detection judges the RMS of each second behind its filter: the same of this place.
        let judged = Self.inBand(axes, rate: recording.rate) ?? shaking
        let times = Self.threshold / max(judged, 0.001)
        let moves = "\(significant(judged, 2)) mg (RMS) by which the place moves \(Self.band)"
        let told = "\(significant(times, 2)) times the \(moves)"
        if times < Self.margin {
            (preset, reason) = ("classroom", "the 5 mg at which seismology triggers are only \(told)")
        } else if worst <= 40, shaking <= 0.2 {
            (preset, reason) = ("quiet-vault", "sensor and place are quiet enough for 0.2 mg")
        } else {
            (preset, reason) = ("seismology", "the 5 mg at which it triggers are \(told)")
        }
    }

    /// Rule of the preset `seismology`: threshold in milli-g, filter, and the names of its corners.
    private static let threshold = 5.0
    private static let filter = ButterworthSpecification(band: .bandpass, corners: [0.5, 10], order: 2, start: .steady)
    private static let band = "from 0.5 to 10 Hz"
    /// Below this the noise alone, whose single seconds differ, may reach the threshold.
    private static let margin = 2.0

    /// Motion of the loudest axis behind the preset's filter, milli-g (the median second); nil where the rate is too
    /// low for the filter.
    private static func inBand(_ axes: [[Double]], rate: Double) -> Double? {
        guard let design = try? filter.design(rate: rate) else { return nil }
        var (x, y, z) = (axes[0], axes[1], axes[2])
        var cascade = AxisFilter(design, design, design)
        x.withUnsafeMutableBufferPointer { x in
            y.withUnsafeMutableBufferPointer { y in
                z.withUnsafeMutableBufferPointer { z in
                    guard let xs = x.baseAddress, let ys = y.baseAddress, let zs = z.baseAddress else { return }
                    cascade.process(xs, ys, zs, count: x.count)
                }
            }
        }
        return [x, y, z].map { medianDeviation($0, rate: rate) }.max()
    }

    /// RMS of the median second without its mean, milli-g.
    private static func medianDeviation(_ values: [Double], rate: Double) -> Double {
        let second = max(2, Int(rate.rounded()))
        var deviations: [Double] = []
        for number in 0..<values.count / second {
            let part = values[number * second..<(number + 1) * second]
            let mean = part.reduce(0, +) / Double(second)
            deviations.append((part.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(second)).squareRoot())
        }
        guard !deviations.isEmpty else { return 0 }
        return deviations.sorted()[deviations.count / 2] / standardGravity * 1000
    }
}
