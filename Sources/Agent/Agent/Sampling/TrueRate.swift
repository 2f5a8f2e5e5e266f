import Alerts
import Instruments
import Sensors

/// Consequences of a sensor's measured rate.
enum TrueRate {
    /// The rate that the pipeline is to be made for, when the present one is wrong and the true one is certain.
    static func change(_ measured: MeasuredRate?, from present: Double) -> Double? {
        guard let measured, measured.isGood,
            abs(measured.rate / present - 1) > SensorRate.tolerance
        else { return nil }
        return measured.rate
    }
}

extension MeasuredRate {
    /// Known to 0.03 %, as it is after some seconds.
    var isGood: Bool { rate > 0 && uncertainty < 3e-4 * rate }
}
