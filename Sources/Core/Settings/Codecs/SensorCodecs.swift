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
