import Messages
import SignalProcessing
import Values

extension Codec where T == Bool {
    package static let bool = Codec(
        type: "true or false", unit: nil, allowed: "true or false", schema: ["type": "boolean"],
        decode: { value, path, findings in
            if case .bool(let flag) = value { return flag }
            findings.wrongType(path, "true or false", got: value, allowed: "true or false")
            return nil
        },
        encode: { .bool($0) })
}

extension Codec where T == Int {
    package static func integer(_ range: ClosedRange<Int>, unit: String? = nil) -> Codec {
        let allowed = "\(range.lowerBound)…\(range.upperBound)" + (unit.map { " \($0)" } ?? "")
        return Codec(
            type: "whole number", unit: unit, allowed: allowed,
            schema: [
                "type": "integer", "minimum": .int(Int64(range.lowerBound)), "maximum": .int(Int64(range.upperBound)),
            ],
            decode: { value, path, findings in
                if value.number != nil, value.integer == nil {
                    findings.add(path, .type, "This must be a whole number.", got: value, allowed: allowed)
                    return nil
                }
                let number = findings.bounded(value.integer, "a whole number", path, got: value, allowed: allowed) {
                    Int(exactly: $0).map(range.contains) == true
                }
                return number.map { Int($0) }
            },
            encode: { .int(Int64($0)) })
    }
}

extension Codec where T == String {
    /// One of these words.
    package static func word(_ words: [String]) -> Codec {
        word(words, decode: { words.contains($0) ? $0 : nil }, encode: { $0 })
    }
}

extension Codec where T == UInt64 {
    /// Whole numbers that every JSON reader keeps exactly.
    static let seed = Codec(
        type: "whole number", unit: nil, allowed: Codec<Int>.seedRange.allowed, schema: Codec<Int>.seedRange.schema,
        decode: { value, path, findings in
            Codec<Int>.seedRange.decode(value, path, &findings).map(UInt64.init)
        },
        encode: { .int(Int64($0)) })
}

extension Codec where T == Int {
    fileprivate static let seedRange = integer(0...((1 << 53) - 1))
}

extension Codec where T == Double {
    /// A bare number within an interval.
    static func number(_ interval: Interval, unit: String? = nil) -> Codec {
        let allowed = interval.description(unit: unit)
        return Codec(
            type: "number", unit: unit, allowed: allowed, schema: interval.schema,
            decode: { value, path, findings in
                findings.bounded(value.number, "a number", path, got: value, allowed: allowed, interval.contains)
            },
            encode: { .shortest($0) })
    }
}

extension Codec {
    /// Null for nothing given.
    static func optional<Wrapped: Sendable>(_ codec: Codec<Wrapped>, none: String) -> Codec
    where T == Wrapped? {
        var schema: Value = ["anyOf": [codec.schema, ["type": "null"]]]
        if case .string(let type) = codec.schema["type"] {
            schema = codec.schema.with("type", [.string(type), "null"])
        }
        return Codec(
            type: codec.type, unit: codec.unit, allowed: "\(codec.allowed), or null: \(none)", schema: schema,
            takesNull: true,
            decode: { value, path, findings in
                if case .null = value { return .some(.none) }
                return codec.decode(value, path, &findings).map { .some($0) }
            },
            encode: { $0.map(codec.encode) ?? .null })
    }

    /// One word out of several.
    /// - Parameter former: words of earlier versions, which files may still have; see ``LoadedSettings/renamed``.
    package static func choice(former: [String: T] = [:]) -> Codec where T: CaseIterable & RawRepresentable<String> {
        word(T.allCases.map(\.rawValue), decode: { T(rawValue: $0) ?? former[$0] }, encode: \.rawValue)
    }

    fileprivate static func word(
        _ words: [String], decode: @escaping @Sendable (String) -> T?, encode: @escaping @Sendable (T) -> String
    ) -> Codec {
        let allowed = words.joined(separator: ", ")
        return Codec(
            type: "one of", unit: nil, allowed: allowed, schema: ["enum": .array(words.map { .string($0) })],
            decode: { value, path, findings in
                guard case .string(let word) = value else {
                    findings.wrongType(path, "one of these words", got: value, allowed: allowed)
                    return nil
                }
                if let found = decode(word) { return found }
                findings.add(path, .range, "This is not one of the allowed words.", got: value, allowed: allowed)
                return nil
            },
            encode: { .string(encode($0)) })
    }

    /// A list of different words out of several, in the order given; not empty.
    static func choices<Word: CaseIterable & RawRepresentable<String> & Sendable>() -> Codec where T == [Word] {
        let one = Codec<Word>.choice()
        return list(of: one, count: 1...Word.allCases.count, allowed: "a list of one or more of \(one.allowed)") {
            $0.rawValue
        }
    }

    /// A list whose elements differ.
    static func list<Element: Sendable>(
        of element: Codec<Element>, count: ClosedRange<Int>, allowed: String,
        identity: @escaping @Sendable (Element) -> String
    ) -> Codec where T == [Element] {
        Codec(
            type: "list", unit: element.unit, allowed: allowed,
            schema: [
                "type": "array", "items": element.schema, "uniqueItems": true,
                "minItems": .int(Int64(count.lowerBound)), "maxItems": .int(Int64(count.upperBound)),
            ],
            decode: { value, path, findings in
                guard case .array(let values) = value else {
                    findings.wrongType(path, "a list", got: value, allowed: allowed)
                    return nil
                }
                guard count.contains(values.count) else {
                    findings.add(
                        path, .range, "The list has \(values.count) elements.", got: .int(Int64(values.count)),
                        allowed: "\(count.lowerBound)…\(count.upperBound) elements")
                    return nil
                }
                var seen: Set<String> = []
                var elements: [Element] = []
                for (i, one) in values.enumerated() {
                    guard let decoded = element.decode(one, "\(path)/\(i)", &findings) else { continue }
                    if !seen.insert(identity(decoded)).inserted {
                        findings.add("\(path)/\(i)", .range, "This element occurs twice in the list.", got: one)
                    }
                    elements.append(decoded)
                }
                return elements.count == values.count && seen.count == values.count ? elements : nil
            },
            encode: { .array($0.map(element.encode)) })
    }
}

extension Findings {
    /// A number that is within its range; nil after a finding.
    /// - Parameter name: what there should be, where there is no number.
    mutating func bounded<Number>(
        _ number: Number?, _ name: String, _ path: String, got value: Value, allowed: String,
        _ isWithin: (Number) -> Bool
    ) -> Number? {
        guard let number else {
            wrongType(path, name, got: value, allowed: allowed)
            return nil
        }
        if isWithin(number) { return number }
        add(path, .range, "This value is out of range.", got: value, allowed: allowed)
        return nil
    }
}

extension Interval {
    func description(unit: String?) -> String {
        let tail = unit.map { " \($0)" } ?? ""
        let (a, b) = (shortText(lower), shortText(upper))
        return isOpen ? "above \(a), at most \(b)\(tail)" : "\(a)…\(b)\(tail)"
    }

    var schema: Value {
        [
            "type": "number", isOpen ? "exclusiveMinimum" : "minimum": .shortest(lower), "maximum": .shortest(upper),
        ]
    }
}

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
