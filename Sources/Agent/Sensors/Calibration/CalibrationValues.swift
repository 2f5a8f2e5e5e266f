import Values

// What is published and kept of a calibration.

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
