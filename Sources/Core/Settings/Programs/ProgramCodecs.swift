import Messages
import Values

// Kinds of values that only programs beside the agent have.

extension Codec where T == Double {
    /// A time in seconds, or text with a unit.
    package static func duration(_ range: ClosedRange<Double>) -> Codec {
        quantity(.time, .from(range.lowerBound, to: range.upperBound))
    }

    package static func number(_ range: ClosedRange<Double>, unit: String) -> Codec {
        number(.from(range.lowerBound, to: range.upperBound), unit: unit)
    }
}

extension Codec where T == String {
    /// A path that must not be empty.
    package static let neededPath = text(.line(4096, atLeast: 1))

    /// The name of a session at the broker, or of a station.
    package static let id = text(.id(1...64))

    /// Text by a rule of its own.
    /// - Parameters:
    ///   - pattern: as much of the rule as a regular expression (ECMA 262, anchored) can say; nil: nothing.
    package static func text(
        _ allowed: String, pattern: String? = nil, _ isGood: @escaping @Sendable (String) -> Bool
    ) -> Codec {
        var schema: Value = ["type": "string"]
        if let pattern { schema = schema.with("pattern", .string(pattern)) }
        return Codec(
            type: "text", unit: nil, allowed: allowed, schema: schema,
            decode: { value, path, findings in
                guard let text = decodeText(value, path, allowed, &findings) else { return nil }
                if isGood(text) { return text }
                findings.add(path, .range, "This text is not allowed here.", got: value, allowed: allowed)
                return nil
            },
            encode: { .string($0) })
    }
}

extension Codec {
    /// At most so many elements, in their order; unlike those of a station's lists they may be there twice.
    package static func many<Element: Sendable>(
        _ element: Codec<Element>, atMost most: Int = 1000
    ) -> Codec where T == [Element] {
        let allowed = "a list of at most \(most): \(element.allowed)"
        return Codec(
            type: "list", unit: element.unit, allowed: allowed,
            schema: ["type": "array", "items": element.schema, "maxItems": .int(Int64(most))],
            decode: { value, path, findings in
                guard case .array(let values) = value else {
                    findings.wrongType(path, "a list", got: value, allowed: allowed)
                    return nil
                }
                guard values.count <= most else {
                    findings.add(
                        path, .range, "The list has \(values.count) elements.", got: .int(Int64(values.count)),
                        allowed: "at most \(most) elements")
                    return nil
                }
                let start = findings.errors.count
                let read = values.enumerated().compactMap { element.decode($1, "\(path)/\($0)", &findings) }
                return findings.errors.count == start ? read : nil
            },
            encode: { .array($0.map(element.encode)) })
    }

    /// An object whose members have names that are ids of stations: at most 1000.
    /// - Parameters:
    ///   - read: what stands at an id; nil for what is not allowed there.
    ///   - write: its text.
    package static func byStation<Kind: Sendable>(
        _ allowed: String, _ read: @escaping @Sendable (String) -> Kind?, _ write: @escaping @Sendable (Kind) -> String
    ) -> Codec where T == [String: Kind] {
        let id = TextRule.id(1...64)
        return Codec(
            type: "object", unit: nil, allowed: allowed,
            schema: [
                "type": "object", "maxProperties": 1000, "propertyNames": ["pattern": .string(id.pattern)],
                "additionalProperties": ["type": "string"],
            ],
            decode: { value, path, findings in
                guard case .object(let members) = value, members.count <= 1000 else {
                    findings.wrongType(path, "an object of at most 1000 stations", got: value, allowed: allowed)
                    return nil
                }
                let start = findings.errors.count
                var all: [String: Kind] = [:]
                for member in members {
                    let here = JSONPointer.appending(member.key, to: path)
                    guard Topics.problem(inID: member.key) == nil else {
                        findings.add(here, .range, "This is not the id of a station.", allowed: id.allowed)
                        continue
                    }
                    guard let text = decodeText(member.value, here, allowed, &findings) else { continue }
                    guard let one = read(text) else {
                        findings.add(
                            here, .range, "This text is not allowed here.", got: member.value, allowed: allowed)
                        continue
                    }
                    all[member.key] = one
                }
                return findings.errors.count == start ? all : nil
            },
            encode: { all in .object(all.sorted { $0.key < $1.key }.map { .init($0.key, .string(write($0.value))) }) })
    }

    /// Objects that read themselves and have names.
    /// - Parameters:
    ///   - schema: JSON Schema of one.
    ///   - read: throws what is wrong and what is allowed.
    package static func objects<Element: Sendable>(
        _ allowed: String, atMost most: Int, schema: Value, name: @escaping @Sendable (Element) -> String,
        read: @escaping @Sendable (Value) throws(CodedError) -> Element
    ) -> Codec where T == [Element] {
        let element = Codec<Element>(
            type: "object", unit: nil, allowed: allowed, schema: schema,
            decode: { value, path, findings in
                do throws(CodedError) { return try read(value) } catch {
                    findings.add(path + error.path, error.code, error.message, allowed: error.allowed)
                    return nil
                }
            },
            // (Only an empty list is ever written.)
            encode: { _ in [:] })
        let list = many(element, atMost: most)
        return Codec(
            type: "list", unit: nil, allowed: list.allowed, schema: list.schema,
            decode: { value, path, findings in
                guard let all = list.decode(value, path, &findings) else { return nil }
                var names: Set<String> = []
                for (i, one) in all.enumerated() where !names.insert(name(one)).inserted {
                    findings.add("\(path)/\(i)", .range, "The name `\(name(one).prefix(80))` is there twice.")
                }
                return names.count == all.count ? all : nil
            },
            encode: list.encode)
    }
}
