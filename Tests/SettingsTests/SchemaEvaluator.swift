import Foundation
import Messages

/// As much of JSON Schema 2020-12 as our schema uses, written from the standard and not from the codecs, so that the
/// two can be compared. A keyword that it does not know counts as a failure.
struct SchemaEvaluator {
    let root: Value

    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "$defs", "title", "description", "default", "x-apply", "x-remote", "x-secret",
        "x-unit", "x-advanced",
    ]

    func accepts(_ value: Value) -> Bool { accepts(value, root) }

    private func accepts(_ value: Value, _ schema: Value) -> Bool {
        guard case .object(let keywords) = schema else { return schema == true }
        return keywords.allSatisfy { Self.annotations.contains($0.key) || holds($0.key, $0.value, value, schema) }
    }

    private func holds(_ keyword: String, _ rule: Value, _ value: Value, _ schema: Value) -> Bool {
        switch keyword {
        case "$ref":
            guard case .string(let path) = rule, let name = path.split(separator: "/").last,
                let target = root["$defs"]?[String(name)]
            else { return false }
            return accepts(value, target)
        case "anyOf": return list(rule).contains { accepts(value, $0) }
        case "not": return !accepts(value, rule)
        case "type":
            let types = list(rule).isEmpty ? [rule] : list(rule)
            return types.contains { isType($0, value) }
        case "enum": return list(rule).contains { isEqual($0, value) }
        case "const": return isEqual(rule, value)
        case "minimum", "maximum", "exclusiveMinimum": return isWithin(keyword, rule, value)
        case "pattern":
            guard case .string(let text) = value else { return true }
            guard case .string(let pattern) = rule else { return false }
            let whole = NSRange(text.startIndex..., in: text)
            return (try? NSRegularExpression(pattern: pattern))?.firstMatch(in: text, range: whole) != nil
        case "maxLength":
            guard case .string(let text) = value else { return true }
            return text.unicodeScalars.count <= Int(number(rule) ?? -1)
        case "items": return list(value).allSatisfy { accepts($0, rule) }
        case "minItems": return !isArray(value) || list(value).count >= Int(number(rule) ?? 0)
        case "maxItems": return !isArray(value) || list(value).count <= Int(number(rule) ?? 0)
        case "uniqueItems":
            let all = list(value)
            return all.indices.allSatisfy { i in !all[..<i].contains { isEqual($0, all[i]) } }
        case "required":
            return !isObject(value)
                || list(rule).allSatisfy { key in
                    if case .string(let name) = key { return value[name] != nil }
                    return false
                }
        case "properties":
            return members(value).allSatisfy { member in rule[member.key].map { accepts(member.value, $0) } ?? true }
        case "additionalProperties":
            return members(value).allSatisfy { schema["properties"]?[$0.key] != nil }
        default: return false
        }
    }

    private func isType(_ type: Value, _ value: Value) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array), ("object", .object): true
        case ("number", .int), ("number", .double), ("integer", .int): true
        case ("integer", .double(let number)): number == number.rounded()
        default: false
        }
    }

    private func isWithin(_ keyword: String, _ rule: Value, _ value: Value) -> Bool {
        guard let value = number(value) else { return true }
        guard let bound = number(rule) else { return false }
        return keyword == "minimum" ? value >= bound : keyword == "maximum" ? value <= bound : value > bound
    }

    private func isEqual(_ a: Value, _ b: Value) -> Bool {
        if let a = number(a), let b = number(b) { return a == b }
        return a == b
    }

    private func number(_ value: Value) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    private func isArray(_ value: Value) -> Bool { if case .array = value { true } else { false } }
    private func isObject(_ value: Value) -> Bool { if case .object = value { true } else { false } }

    private func list(_ value: Value) -> [Value] {
        if case .array(let elements) = value { return elements }
        return []
    }

    private func members(_ value: Value) -> [Value.Member] {
        if case .object(let members) = value { return members }
        return []
    }
}
