import Instruments
import Messages
import Sensors
import Settings
import SignalProcessing

/// The orders that the sampling thread is busy with for longer than a block.
struct SamplingDuties {
    struct Calibration {
        var number: Int
        var rest: RestRecording
        /// Samples that it takes.
        var wanted: Int
    }
    struct Stream {
        var number: Int
        /// In the time of the samples, ns of UTC; and of the monotonic clock, for samples that do not come.
        var until: Int64
        var deadline: Int64
    }

    /// More would take memory and, at the end, time from the samples: two minutes at 1000 Hz.
    static let mostSamples = 120_000

    var calibration: Calibration?
    var stream: Stream?
    /// The number of the order.
    var testEvent: Int?

    var isIdle: Bool { calibration == nil && stream == nil && testEvent == nil }
}

extension SamplingDuties.Calibration {
    init(number: Int, seconds: Double, rate: Double) {
        let samples = max(RestRecording.shortest, min(seconds, 1e6)) * rate
        self.init(
            number: number, rest: RestRecording(rate: rate),
            wanted: max(1, min(SamplingDuties.mostSamples, Int(samples.rounded(.up)))))
    }

    /// The outcome, with one member more than is kept: `noise`, the RMS of each axis in m/s².
    func outcome(_ mounting: MountingConfiguration, time: Int64) -> OrderOutcome {
        // A station that levels itself, or is turned, need not be level.
        let isLevel = !mounting.level && mounting.rotation == PerAxis(0)
        let up = mounting.sources.z
        do throws(CalibrationError) {
            let result = try RestCalibration(rest, vertical: isLevel ? (axis: up.axis, sign: up.sign) : nil)
            let value = result.value(time: time)
            guard case .object(let members) = value, let noise = value["noise_rms"] else { return .done(value) }
            return .done(.object(members + [.init("noise", noise)]))
        } catch { return .failed(CodedError("", .unavailable, error.message)) }
    }
}
