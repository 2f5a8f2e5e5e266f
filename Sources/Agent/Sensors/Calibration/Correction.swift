import Values

/// Result of a calibration: true = matrix · (measured − offset), in the sensor's own axes, as `sensor.calibration` has
/// it.
public struct Correction: Sendable, Equatable {
    /// m/s², x, y, z.
    public var offset: [Double]
    /// Nine numbers by rows.
    public var matrix: [Double]

    public init(offset: [Double] = [0, 0, 0], matrix: [Double] = [1, 0, 0, 0, 1, 0, 0, 0, 1]) {
        self.offset = offset
        self.matrix = matrix
    }

    /// The true value of a measured one.
    public func apply(_ v: [Double]) -> [Double] {
        var result = [0.0, 0, 0]
        for row in 0..<3 {
            for column in 0..<3 { result[row] += matrix[3 * row + column] * (v[column] - offset[column]) }
        }
        return result
    }
}

/// Reason why a calibration was refused: a sentence that says what to do about it.
public struct CalibrationError: Error, Sendable, Equatable, CustomStringConvertible {
    public var message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}

// A calibration, as it is published and kept.

extension Correction {
    /// The part of `sensor.calibration` in `state/info` that every method has.
    public func members(method: String, time: Int64) -> [Value.Member] {
        [
            .init("t", .string(Timestamp(nanoseconds: time).description)), .init("method", .string(method)),
            .init("offset", .array(offset.map { .double($0) })), .init("matrix", .array(matrix.map { .double($0) })),
        ]
    }
}

extension RestCalibration {
    /// As `sensor.calibration` in `state/info`.
    public func value(time: Int64) -> Value {
        func numbers(_ number: (Axis) -> Double) -> Value { .array([x, y, z].map { .double(number($0)) }) }
        return .object(
            correction.members(method: "rest", time: time) + [
                .init("mean", numbers(\.mean)), .init("noise_rms", numbers(\.noise)),
                .init("noise_ug_per_sqrt_hz", numbers(\.microG)), .init("magnitude", .double(magnitude)),
                .init("plausible", .bool(isPlausible)), .init("seconds", .double(seconds)),
            ])
    }
}

extension PositionCalibration {
    /// As `sensor.calibration` in `state/info`.
    public func value(time: Int64) -> Value {
        .object(
            correction.members(method: method.rawValue, time: time) + [
                .init("positions", .int(Int64(positions))), .init("residual_before", .double(before)),
                .init("residual", .double(residual)), .init("worst", .double(worst)),
            ])
    }
}
