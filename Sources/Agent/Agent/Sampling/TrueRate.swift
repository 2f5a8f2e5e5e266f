import Messages
import Sensors

/// What follows from a sensor's measured rate.
enum TrueRate {
    /// Relative deviation from which on filters for another rate are wrong.
    static let tolerance = 0.005

    /// The rate that the pipeline is to be made for, when the present one is wrong and the true one is certain.
    static func change(_ measured: MeasuredRate?, from present: Double) -> Double? {
        guard let measured, measured.isGood,
            abs(measured.rate / present - 1) > tolerance
        else { return nil }
        return measured.rate
    }

    /// The alert of a rate that is off its nominal one; nil when it is not, or not surely.
    /// - Parameter isActive: it has been raised; it is then cleared only well inside.
    static func fault(_ measured: MeasuredRate?, nominal: Double, isActive: Bool) -> (message: String, details: Value)?
    {
        guard let measured else { return nil }
        let deviation = abs(measured.rate / nominal - 1)
        let limit = isActive ? 0.9 * tolerance : tolerance + 3 * measured.uncertainty / nominal
        guard deviation > limit else { return nil }
        return (
            "the sensor's true rate is more than 0.5 % off its nominal one: filters are made for the true one",
            .object([.init("rate_hz", .double(measured.rate)), .init("nominal_hz", .double(nominal))])
        )
    }
}

extension MeasuredRate {
    /// Known to 0.03 %, as it is after some seconds.
    var isGood: Bool { rate > 0 && uncertainty < 3e-4 * rate }
}
