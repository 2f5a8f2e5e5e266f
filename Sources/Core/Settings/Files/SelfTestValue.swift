import Instruments
import Values

extension SelfTestReport {
    /// As `sensor.self_test` in `state/info`.
    /// - Parameter time: nanoseconds of UTC.
    public func value(time: Int64) -> Value {
        func one(_ axis: Axis) -> Value {
            .object([
                .init("change", .double(axis.change)), .init("min", .double(axis.minimum)),
                .init("max", .double(axis.maximum)),
            ])
        }
        return .object([
            .init("t", .string(Timestamp(nanoseconds: time).description)), .init("passed", .bool(passed)),
            .init("unit", .string(unit)), .init("source", .string(source)), .init("x", one(x)), .init("y", one(y)),
            .init("z", one(z)),
        ])
    }
}
