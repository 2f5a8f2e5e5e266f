import Messages
import Values

// Kinds of values that only programs beside the agent have.

extension Codec where T == Double {
    /// A time in seconds, or text with a unit.
    package static func duration(_ range: ClosedRange<Double>) -> Codec {
        quantity(.time, .from(range.lowerBound, to: range.upperBound))
    }

    package static func number(_ range: ClosedRange<Double>, unit: String? = nil) -> Codec {
        number(.from(range.lowerBound, to: range.upperBound), unit: unit)
    }
}

extension Codec where T == [Double] {
    /// A list with a number for each range.
    package static func numbers(_ ranges: [ClosedRange<Double>], _ allowed: String) -> Codec {
        let elements = ranges.map { Codec<Double>.number($0) }
        let count = Value.int(Int64(ranges.count))
        return Codec(
            type: "list of numbers", unit: nil, allowed: allowed,
            schema: [
                "type": "array", "prefixItems": .array(elements.map(\.schema)), "minItems": count, "maxItems": count,
            ],
            decode: { value, path, findings in
                guard case .array(let values) = value, values.count == elements.count else {
                    findings.wrongType(path, "a list of \(elements.count) numbers", got: value, allowed: allowed)
                    return nil
                }
                let numbers = elements.indices.compactMap {
                    elements[$0].decode(values[$0], "\(path)/\($0)", &findings)
                }
                return numbers.count == elements.count ? numbers : nil
            },
            encode: { .array($0.map { .shortest($0) }) })
    }
}

extension Codec where T == String {
    /// A path that must not be empty.
    package static let neededPath = text(.line(4096, atLeast: 1))

    /// The name of a session at the broker, or of a station.
    package static let id = text(.id(1...64))

    /// The id of a station that there can be.
    package static let stationID = text(.id(1...64), reserved: Topics.reserved)

    /// Text by a rule of its own.
    package static func text(_ allowed: String, _ isGood: @escaping @Sendable (String) -> Bool) -> Codec {
        parsed(allowed, { isGood($0) ? $0 : nil }, { $0 })
    }
}

extension Codec {
    /// Text that stands for a value.
    /// - Parameters:
    ///   - read: nil for what is not allowed.
    ///   - write: its text.
    package static func parsed(
        _ allowed: String, _ read: @escaping @Sendable (String) -> T?, _ write: @escaping @Sendable (T) -> String
    ) -> Codec {
        Codec(
            type: "text", unit: nil, allowed: allowed, schema: ["type": "string"],
            decode: { value, path, findings in
                guard let text = decodeText(value, path, allowed, &findings) else { return nil }
                if let found = read(text) { return found }
                findings.add(path, .range, "This text is not allowed here.", got: value, allowed: allowed)
                return nil
            },
            encode: { .string(write($0)) })
    }

    /// A setting without a default, which may be left out. Null is refused: a key without a value is a mistake.
    package static func ifGiven<Wrapped: Sendable>(_ codec: Codec<Wrapped>) -> Codec where T == Wrapped? {
        Codec(
            type: codec.type, unit: codec.unit, allowed: codec.allowed, schema: codec.schema,
            decode: { value, path, findings in codec.decode(value, path, &findings).map { .some($0) } },
            encode: { $0.map(codec.encode) ?? .null })
    }

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
    package static func byStation<Kind: Sendable>(_ element: Codec<Kind>) -> Codec where T == [String: Kind] {
        let (id, allowed) = (TextRule.id(1...64), "id: \(element.allowed)")
        return Codec(
            type: "object", unit: nil, allowed: allowed,
            schema: [
                "type": "object", "maxProperties": 1000, "propertyNames": ["pattern": .string(id.pattern)],
                "additionalProperties": element.schema,
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
                    all[member.key] = element.decode(member.value, here, &findings)
                }
                return findings.errors.count == start ? all : nil
            },
            encode: { all in
                .object(all.sorted { $0.key < $1.key }.map { .init($0.key, element.encode($0.value)) })
            })
    }

    /// Objects that have a table of their own. Each needs a `name`, which no other has.
    package static func objects<Element: TableSettings>(
        _ allowed: String, atMost most: Int, name: @escaping @Sendable (Element) -> String
    ) -> Codec where T == [Element] {
        let element = Codec<Element>(
            type: "object", unit: nil, allowed: allowed,
            schema: SettingsSchema.object(by: Element.table).with("required", ["name"]),
            decode: { value, path, findings in
                let start = findings.errors.count
                var one = Element()
                one.read(value, at: path, &findings)
                guard findings.errors.count == start else { return nil }
                if value["name"] == nil { findings.add(path, .type, "The key `name` is missing.") }
                for problem in one.problems {
                    findings.add(path + problem.path, problem.code, problem.message, allowed: problem.allowed)
                }
                return findings.errors.count == start ? one : nil
            },
            encode: { one in
                let values = Element.table.map { (row: $0, value: $0.write(one, 0)) }
                return SettingsTree.build(
                    values.filter { $0.row.takesNull || $0.value != .null }.map { ($0.row.key, $0.value) })
            })
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
