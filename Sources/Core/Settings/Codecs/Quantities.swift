import Messages
import SignalProcessing

/// A kind of physical quantity: the SI unit of a bare number, and the units that text may name.
struct Quantity: Sendable {
    /// A unit is 10^exponent × factor in SI; the power of ten goes into the number's own exponent, so that `4.9 gal`
    /// is exactly what 0.049 is.
    struct Unit: Sendable {
        var name: String
        var exponent = 0
        var factor = 1.0
    }

    var name: String
    var si: String
    var units: [Unit]
    var example: String

    static let acceleration = Quantity(
        name: "an acceleration", si: "m/s^2",
        units: [
            Unit(name: "m/s^2"), Unit(name: "m/s²"), Unit(name: "mm/s^2", exponent: -3),
            Unit(name: "g", factor: standardGravity), Unit(name: "mg", exponent: -3, factor: standardGravity),
            Unit(name: "ug", exponent: -6, factor: standardGravity), Unit(name: "gal", exponent: -2),
        ], example: "5 mg")
    static let velocity = Quantity(
        name: "a velocity", si: "m/s",
        units: [Unit(name: "m/s"), Unit(name: "cm/s", exponent: -2), Unit(name: "mm/s", exponent: -3)],
        example: "0.5 cm/s")
    static let time = Quantity(
        name: "a time", si: "s",
        units: [
            Unit(name: "s"), Unit(name: "ms", exponent: -3), Unit(name: "min", factor: 60),
            Unit(name: "h", factor: 3600),
        ], example: "200 ms")
    static let frequency = Quantity(
        name: "a frequency", si: "Hz",
        units: [Unit(name: "Hz"), Unit(name: "mHz", exponent: -3), Unit(name: "kHz", exponent: 3)],
        example: "0.5 Hz")

    /// Units for sentences.
    var unitList: String { units.map(\.name).joined(separator: ", ") }

    /// The SI value of text such as `5 mg`; nil when it is not a finite number with a unit of this kind.
    func parse(_ text: String) -> Double? {
        guard text.unicodeScalars.count <= 64, let (number, rest) = DecimalNumber.prefix(of: Substring(text)) else {
            return nil
        }
        let name = rest.drop { $0 == " " }
        guard let unit = units.first(where: { $0.name == name }) else { return nil }
        guard let exponent = number.exponent, abs(exponent) < 100,
            let value = Double("\(number.mantissa)e\(exponent + unit.exponent)"), (value * unit.factor).isFinite
        else { return nil }
        return value * unit.factor
    }

    /// Regular expression of the text forms.
    var pattern: String {
        let names = units.map { $0.name.map { $0 == "^" ? "\\^" : String($0) }.joined() }
        return "^[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?0*[0-9]{1,2})? *(\(names.joined(separator: "|")))$"
            + endOfText
    }
}

extension Codec where T == Double {
    /// A quantity: a bare number in SI, or text with a unit.
    static func quantity(_ quantity: Quantity, _ interval: Interval) -> Codec {
        let allowed = interval.description(unit: quantity.si)
        return Codec(
            type: "number or text with unit", unit: quantity.si, allowed: allowed,
            schema: [
                "anyOf": [interval.schema, ["type": "string", "pattern": .string(quantity.pattern), "maxLength": 64]]
            ],
            decode: { value, path, findings in
                var number = value.number
                if case .string(let text) = value {
                    number = quantity.parse(text)
                    guard number != nil else {
                        findings.add(
                            path, .type, "This is not \(quantity.name).", got: value,
                            allowed: "a number in \(quantity.si), or text such as `\(quantity.example)` with one of "
                                + quantity.unitList)
                        return nil
                    }
                }
                return findings.bounded(
                    number, quantity.name, path, got: value, allowed: allowed, interval.contains)
            },
            encode: { .shortest($0) })
    }

    static func acceleration(_ interval: Interval) -> Codec { quantity(.acceleration, interval) }
    static func time(_ interval: Interval) -> Codec { quantity(.time, interval) }
    static func frequency(_ interval: Interval) -> Codec { quantity(.frequency, interval) }
}

extension Codec where T == Int {
    /// A time of whole seconds.
    static func wholeSeconds(_ range: ClosedRange<Int>) -> Codec {
        let time = Codec<Double>.time(.from(Double(range.lowerBound), to: Double(range.upperBound)))
        let allowed = "\(range.lowerBound)…\(range.upperBound) s, whole seconds"
        return Codec(
            type: time.type, unit: "s", allowed: allowed,
            schema: [
                "anyOf": [
                    integer(range).schema,
                    ["type": "string", "pattern": .string(Quantity.time.pattern), "maxLength": 64],
                ]
            ],
            decode: { value, path, findings in
                guard let seconds = time.decode(value, path, &findings) else { return nil }
                guard let whole = Int(exactly: seconds) else {
                    findings.add(path, .type, "This must be whole seconds.", got: value, allowed: allowed)
                    return nil
                }
                return whole
            },
            encode: { .int(Int64($0)) })
    }
}

extension Codec where T == WindowLength {
    /// Largest window in samples.
    static var maximumSamples: Int { 65536 }

    /// A length of time: text with a unit, or a bare number of samples.
    static let window = Codec(
        type: "text with unit, or number of samples", unit: "samples",
        allowed: "1…\(maximumSamples) samples, or text above 0 s, at most 3600 s",
        schema: [
            "anyOf": [
                ["type": "integer", "minimum": 1, "maximum": .int(Int64(maximumSamples))],
                ["type": "string", "pattern": .string(Quantity.time.pattern), "maxLength": 64],
            ]
        ],
        decode: { value, path, findings in
            if case .string = value {
                let codec = Codec<Double>.time(.above(0, to: 3600))
                return codec.decode(value, path, &findings).map { .seconds($0) }
            }
            guard value.number != nil else {
                findings.wrongType(
                    path, "a number of samples or text such as `1 s`", got: value,
                    allowed: "1…\(maximumSamples) samples, or text above 0 s, at most 3600 s")
                return nil
            }
            return Codec<Int>.integer(1...maximumSamples).decode(value, path, &findings).map { .samples($0) }
        },
        encode: { length in
            switch length {
            case .seconds(let seconds): .string("\(shortText(seconds)) s")
            case .samples(let count): .int(Int64(count))
            }
        })
}
