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
