import Instruments
import SignalProcessing
import Values

extension Codec where T == MountingConfiguration.Source {
    /// Axis and sign: `+x`, `-y` and so on; `x` is `+x`.
    static let mountingSource = Codec(
        type: "one of", unit: nil, allowed: axisWords.joined(separator: ", "),
        schema: ["enum": .array((axisWords + axisLetters).map { .string($0) })],
        decode: { value, path, findings in
            let allowed = axisWords.joined(separator: ", ")
            guard case .string(let word) = value else {
                findings.wrongType(path, "an axis with its sign", got: value, allowed: allowed)
                return nil
            }
            let letter = word.hasPrefix("+") || word.hasPrefix("-") ? String(word.dropFirst()) : word
            guard let axis = axisLetters.firstIndex(of: letter) else {
                findings.add(path, .range, "There is no such axis.", got: value, allowed: allowed)
                return nil
            }
            return .init(axis: axis, sign: word.hasPrefix("-") ? -1 : 1)
        },
        encode: { source in
            .string((source.sign < 0 ? "-" : "+") + axisLetters[min(2, max(0, source.axis))])
        })
}

private let axisLetters = ["x", "y", "z"]
private let axisWords = ["+x", "-x", "+y", "-y", "+z", "-z"]

extension Codec where T == PerAxis<Double> {
    /// One number for all axes, or `[x, y, z]`; not 0, negative turns an axis round.
    static let scale = Codec(
        type: "number or list of three", unit: nil, allowed: scaleAllowed,
        schema: ["anyOf": [scaleSchema, ["type": "array", "items": scaleSchema, "minItems": 3, "maxItems": 3]]],
        decode: { value, path, findings in
            guard case .array(let values) = value else {
                return decodeScale(value, path, &findings).map { PerAxis($0) }
            }
            guard values.count == 3 else {
                findings.add(
                    path, .range, "The list has \(values.count) elements.", got: .int(Int64(values.count)),
                    allowed: "three numbers")
                return nil
            }
            let numbers = values.enumerated().compactMap { decodeScale($1, "\(path)/\($0)", &findings) }
            guard numbers.count == 3 else { return nil }
            var scale = PerAxis(numbers[0])
            scale.y = numbers[1]
            scale.z = numbers[2]
            return scale
        },
        encode: { scale in
            scale.x == scale.y && scale.y == scale.z
                ? .shortest(scale.x) : [.shortest(scale.x), .shortest(scale.y), .shortest(scale.z)]
        })
}

private let scaleAllowed = "a number other than 0 between -1e12 and 1e12, or three of them"
private let scaleSchema: Value = [
    "type": "number", "minimum": -1_000_000_000_000, "maximum": 1_000_000_000_000, "not": ["const": 0],
]

private func decodeScale(_ value: Value, _ path: String, _ findings: inout Findings) -> Double? {
    guard let number = value.number else {
        findings.wrongType(path, "a number", got: value, allowed: scaleAllowed)
        return nil
    }
    guard number != 0, abs(number) <= 1e12 else {
        findings.add(path, .range, "The scale is zero or out of range.", got: value, allowed: scaleAllowed)
        return nil
    }
    return number
}

extension Codec where T == PerAxis<Double> {
    /// Roll, pitch and yaw.
    static let rotation = three(Interval.from(-360, to: 360), unit: "degrees")
    /// An offset of each axis.
    static let offset = three(Interval.from(-200, to: 200), unit: "m/s^2")

    /// Three numbers of an interval.
    private static func three(_ interval: Interval, unit: String) -> Codec {
        let list = Codec<[Double]>.numbers(3, interval, unit: unit)
        return Codec(
            type: list.type, unit: unit, allowed: list.allowed, schema: list.schema,
            decode: { value, path, findings in
                guard let numbers = list.decode(value, path, &findings) else { return nil }
                var result = PerAxis(numbers[0])
                result.y = numbers[1]
                result.z = numbers[2]
                return result
            },
            encode: { list.encode([$0.x, $0.y, $0.z]) })
    }
}

extension Codec where T == [Double] {
    /// Rows of a 3×3 matrix.
    static let matrix = numbers(9, .from(-4, to: 4), unit: nil)

    /// So many numbers of an interval.
    static func numbers(_ count: Int, _ interval: Interval, unit: String?) -> Codec {
        let one = Codec<Double>.number(interval, unit: unit)
        let allowed = "\(count) numbers, each \(one.allowed)"
        return Codec(
            type: "list of numbers", unit: unit, allowed: allowed,
            schema: [
                "type": "array", "items": one.schema, "minItems": .int(Int64(count)), "maxItems": .int(Int64(count)),
            ],
            decode: { value, path, findings in
                guard case .array(let values) = value else {
                    findings.wrongType(path, "a list", got: value, allowed: allowed)
                    return nil
                }
                guard values.count == count else {
                    findings.add(
                        path, .range, "The list has \(values.count) elements.", got: .int(Int64(values.count)),
                        allowed: allowed)
                    return nil
                }
                let numbers = values.enumerated().compactMap { one.decode($1, "\(path)/\($0)", &findings) }
                return numbers.count == count ? numbers : nil
            },
            encode: { .array($0.map { .shortest($0) }) })
    }
}

extension Codec where T == OffsetSpecification {
    /// `{mode: none | mean_first | ema | highpass, ...}`.
    static let offset = Codec(
        type: "offset removal", unit: nil, allowed: offsetForms,
        schema: [
            "anyOf": [
                mode("none", [:], required: []),
                mode("mean_first", ["seconds": seconds.schema], required: ["seconds"]),
                mode("ema", ["alpha": alpha.schema], required: ["alpha"]),
                mode("ema", ["corner_hz": corner.schema], required: ["corner_hz"]),
                mode("highpass", ["corner_hz": corner.schema, "order": order.schema], required: ["corner_hz"]),
            ]
        ],
        decode: decodeOffset,
        encode: { offset in
            switch offset {
            case .none: ["mode": "none"]
            case .meanFirst(let seconds): ["mode": "mean_first", "seconds": .shortest(seconds)]
            case .ema(.alpha(let alpha)): ["mode": "ema", "alpha": .shortest(alpha)]
            case .ema(.corner(let corner)): ["mode": "ema", "corner_hz": .shortest(corner)]
            case .highpass(let corner, let order):
                ["mode": "highpass", "corner_hz": .shortest(corner), "order": .int(Int64(order))]
            }
        })
}

private enum Mode: String, CaseIterable, Sendable {
    case none, ema, highpass
    case meanFirst = "mean_first"
}

private let offsetForms =
    "{mode: none}, {mode: mean_first, seconds}, {mode: ema, alpha or corner_hz} or {mode: highpass, corner_hz, order}"
private let seconds = Codec<Double>.time(.above(0, to: 600))
private let alpha = Codec<Double>.number(.above(0, to: 1))
private let corner = Codec<Double>.frequency(.above(0, to: 5000))
private let order = Codec<Int>.integer(1...10)

private func mode(_ name: String, _ properties: Value, required: [Value]) -> Value {
    guard case .object(let members) = properties else { return properties }
    return [
        "type": "object", "additionalProperties": false, "required": .array(["mode"] + required),
        "properties": .object([.init("mode", ["const": .string(name)])] + members),
    ]
}

private func decodeOffset(_ value: Value, _ path: String, _ findings: inout Findings) -> OffsetSpecification? {
    let keys = ["mode", "seconds", "alpha", "corner_hz", "order"]
    guard let fields = Fields(value, at: path, keys: keys, &findings),
        let mode = fields.read("mode", Codec<Mode>.choice(), &findings)
    else { return nil }
    let belonging: [String]
    switch mode {
    case .none: belonging = []
    case .meanFirst: belonging = ["seconds"]
    case .ema: belonging = ["alpha", "corner_hz"]
    case .highpass: belonging = ["corner_hz", "order"]
    }
    var isClean = true
    for key in keys.dropFirst() where fields.has(key) && !belonging.contains(key) {
        isClean = false
        findings.add(
            JSONPointer.appending(key, to: path), .crossField, "The mode \(mode.rawValue) has no `\(key)`.",
            allowed: offsetForms)
    }
    guard isClean else { return nil }
    switch mode {
    case .none: return OffsetSpecification.none
    case .meanFirst: return fields.read("seconds", seconds, &findings).map { .meanFirst(seconds: $0) }
    case .highpass:
        let frequency = fields.read("corner_hz", corner, &findings)
        let poles = fields.read("order", order, default: 2, &findings)
        guard let frequency, let poles else { return nil }
        return .highpass(corner: frequency, order: poles)
    case .ema:
        guard fields.has("alpha") != fields.has("corner_hz") else {
            findings.add(
                path, .crossField, "The mode ema has either `alpha` or `corner_hz`.",
                allowed: "{mode: ema, alpha} or {mode: ema, corner_hz}")
            return nil
        }
        if fields.has("alpha") { return fields.read("alpha", alpha, &findings).map { .ema(.alpha($0)) } }
        return fields.read("corner_hz", corner, &findings).map { .ema(.corner($0)) }
    }
}

extension Codec where T == AxisConfiguration.Signal {
    /// `sensor`, `step`, `impulse`, `{sine: {amplitude, frequency_hz}}`, `{step: {amplitude}}`,
    /// `{impulse: {amplitude}}`.
    static let signal = Codec(
        type: "signal", unit: nil, allowed: signalForms,
        schema: [
            "anyOf": [
                ["enum": ["sensor", "step", "impulse"]],
                variant(
                    "sine",
                    body(
                        ["amplitude": amplitude.schema, "frequency_hz": sineFrequency.schema],
                        required: ["frequency_hz"])),
                variant("step", body(["amplitude": amplitude.schema])),
                variant("impulse", body(["amplitude": amplitude.schema])),
            ]
        ],
        decode: decodeSignal,
        encode: { signal in
            switch signal {
            case .sensor: "sensor"
            case .sine(let amplitude, let frequency):
                ["sine": ["amplitude": .shortest(amplitude), "frequency_hz": .shortest(frequency)]]
            case .step(let amplitude): ["step": ["amplitude": .shortest(amplitude)]]
            case .impulse(let amplitude): ["impulse": ["amplitude": .shortest(amplitude)]]
            }
        })
}

private let signalForms =
    "sensor, step, impulse, {sine: {amplitude, frequency_hz}}, {step: {amplitude}} or {impulse: {amplitude}}"
private let kinds = ["sine", "step", "impulse"]
/// Shake's limit.
private let amplitude = Codec<Double>.acceleration(.from(0, to: 2 * standardGravity))
private let sineFrequency = Codec<Double>.frequency(.above(0, to: 5000))

private func body(_ properties: Value, required: [Value] = []) -> Value {
    ["type": "object", "additionalProperties": false, "required": .array(required), "properties": properties]
}

private func decodeSignal(_ value: Value, _ path: String, _ findings: inout Findings) -> AxisConfiguration.Signal? {
    if case .string(let word) = value {
        switch word {
        case "sensor": return .sensor
        case "step": return .step(amplitude: standardGravity)
        case "impulse": return .impulse(amplitude: standardGravity)
        default:
            findings.add(path, .range, "There is no such signal.", got: value, allowed: signalForms)
            return nil
        }
    }
    guard case .object = value else {
        findings.wrongType(path, "a signal", got: value, allowed: signalForms)
        return nil
    }
    guard let outer = Fields(value, at: path, keys: kinds, &findings) else { return nil }
    guard outer.members.count == 1, let kind = outer.members.first else {
        findings.add(path, .type, "A signal is one thing, not \(outer.members.count).", allowed: signalForms)
        return nil
    }
    let keys = kind.key == "sine" ? ["amplitude", "frequency_hz"] : ["amplitude"]
    guard let fields = Fields(kind.value, at: JSONPointer.appending(kind.key, to: path), keys: keys, &findings) else {
        return nil
    }
    let size = fields.read("amplitude", amplitude, default: standardGravity, &findings)
    switch kind.key {
    case "step": return size.map { .step(amplitude: $0) }
    case "impulse": return size.map { .impulse(amplitude: $0) }
    default:
        let rate = fields.read("frequency_hz", sineFrequency, &findings)
        guard let size, let rate else { return nil }
        return .sine(amplitude: size, frequency: rate)
    }
}
