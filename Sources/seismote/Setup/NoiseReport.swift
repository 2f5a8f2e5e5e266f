import Sensors
import SignalProcessing

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
        if shaking > 5 {
            (preset, reason) = ("classroom", "the place moves by more than 5 mg all the time")
        } else if worst <= 40, shaking <= 0.2 {
            (preset, reason) = ("quiet-vault", "sensor and place are quiet enough for 0.2 mg")
        } else {
            (preset, reason) = ("seismology", "it triggers at 5 mg and by STA/LTA, well above this noise")
        }
    }

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
