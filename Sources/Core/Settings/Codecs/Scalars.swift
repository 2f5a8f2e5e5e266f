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
