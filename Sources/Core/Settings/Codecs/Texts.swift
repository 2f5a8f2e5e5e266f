import Messages
import Values

/// After the `$` of a pattern: in some languages that stands also before a line feed at the end.
let endOfText = "(?!\\n)"

/// A rule for text that a JSON Schema can say too: characters, length, nothing else.
struct TextRule: Sendable {
    var count: ClosedRange<Int>
    /// The same as `isAllowed` and `count`, as a regular expression (ECMA 262, anchored).
    var pattern: String
    var allowed: String
    /// Which characters.
    var isAllowed: @Sendable (Unicode.Scalar) -> Bool

    func matches(_ text: String) -> Bool {
        count.contains(text.unicodeScalars.count) && text.unicodeScalars.allSatisfy(isAllowed)
    }

    private static func isAlphanumeric(_ c: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(c) || ("A"..."Z").contains(c) || ("0"..."9").contains(c)
    }

    /// Station and group ids, which become topic levels.
    static func id(_ count: ClosedRange<Int>) -> TextRule {
        TextRule(
            count: count, pattern: "^[A-Za-z0-9_-]{\(count.lowerBound),\(count.upperBound)}$" + endOfText,
            allowed: "\(count.lowerBound) to \(count.upperBound) of letters A-Z a-z, digits, _ and -",
            isAllowed: { isAlphanumeric($0) || $0 == "_" || $0 == "-" })
    }

    /// FDSN source identifier codes.
    static func fdsn(_ count: ClosedRange<Int>) -> TextRule {
        TextRule(
            count: count, pattern: "^[A-Z0-9-]{\(count.lowerBound),\(count.upperBound)}$" + endOfText,
            allowed: "\(count.lowerBound) to \(count.upperBound) of letters A-Z, digits and -",
            isAllowed: { ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "-" })
    }

    /// A topic that does not belong to the station.
    static let topic = TextRule(
        count: 1...128, pattern: "^[A-Za-z0-9_./-]{1,128}$" + endOfText,
        allowed: "1 to 128 of letters A-Z a-z, digits, _, ., - and /",
        isAllowed: { isAlphanumeric($0) || $0 == "_" || $0 == "-" || $0 == "." || $0 == "/" })

    /// Anything printable on one line.
    static func line(_ maximum: Int, atLeast least: Int = 0) -> TextRule {
        TextRule(
            count: least...maximum,
            pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]{\(least),\(maximum)}$" + endOfText,
            allowed: "\(least == 0 ? "at most" : "\(least) to") \(maximum) printable characters",
            isAllowed: { c in
                !(c.value < 0x20 || (0x7F...0x9F).contains(c.value) || c.value == 0x2028 || c.value == 0x2029)
            })
    }
}

extension Codec where T == String {
    /// Text by a rule; `reserved` words are refused.
    static func text(_ rule: TextRule, reserved: [String] = []) -> Codec {
        let taken = reserved.isEmpty ? "" : ", not " + reserved.map { "`\($0)`" }.joined(separator: " or ")
        let allowed = rule.allowed + taken
        var schema: Value = ["type": "string", "pattern": .string(rule.pattern)]
        if !reserved.isEmpty { schema = schema.with("not", ["enum": .array(reserved.map { .string($0) })]) }
        return Codec(
            type: "text", unit: nil, allowed: allowed, schema: schema,
            decode: { value, path, findings in
                guard let text = decodeText(value, path, allowed, &findings) else { return nil }
                guard rule.matches(text), !reserved.contains(text) else {
                    findings.add(
                        path, .range, "This text is too long or has characters that are not allowed.", got: value,
                        allowed: allowed)
                    return nil
                }
                return text
            },
            encode: { .string($0) })
    }

    /// A path in the file system; empty for none.
    package static let path = text(.line(4096))

    /// The first levels of all topics. No dots or spaces: some brokers map `/` to `.`.
    static let topicRoot = Codec(
        type: "text", unit: nil, allowed: topicRootAllowed,
        schema: [
            "type": "string", "pattern": .string("^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*$" + endOfText), "maxLength": 128,
        ],
        decode: { value, path, findings in
            guard let text = decodeText(value, path, topicRootAllowed, &findings) else { return nil }
            let rule = TextRule.id(1...128)
            let levels = text.split(separator: "/", omittingEmptySubsequences: false)
            guard text.utf8.count <= 128, levels.allSatisfy({ rule.matches(String($0)) }) else {
                findings.add(path, .range, "This cannot begin a topic.", got: value, allowed: topicRootAllowed)
                return nil
            }
            return text
        },
        encode: { .string($0) })
}

extension Codec where T == String {
    /// Of a page that people open; empty: none.
    package static let webAddress = Codec(
        type: "text", unit: nil, allowed: webAddressAllowed,
        schema: ["type": "string", "pattern": .string("^(https?://[!-~]{1,240})?$" + endOfText)],
        decode: { value, path, findings in
            guard let text = decodeText(value, path, webAddressAllowed, &findings) else { return nil }
            let rest = ["http://", "https://"].first { text.hasPrefix($0) }.map { text.utf8.dropFirst($0.utf8.count) }
            let isGood = rest.map { (1...240).contains($0.count) && $0.allSatisfy { (0x21...0x7e).contains($0) } }
            guard text.isEmpty || isGood == true else {
                findings.add(path, .range, "This is no address of a page.", got: value, allowed: webAddressAllowed)
                return nil
            }
            return text
        },
        encode: { .string($0) })
}

private let webAddressAllowed = "http:// or https://, then at most 240 visible ASCII characters; or empty"
private let topicRootAllowed = "topic levels of letters A-Z a-z, digits, _ and - with / between them, at most 128"

/// Text, with a hint where YAML made something else of it.
func decodeText(_ value: Value, _ path: String, _ allowed: String, _ findings: inout Findings) -> String? {
    switch value {
    case .string(let text): return text
    case .int, .double, .bool:
        findings.add(
            path, .type, "This must be text, not \(value.kind): put it in quotes.", got: value, allowed: allowed)
    default: findings.wrongType(path, "text", got: value, allowed: allowed)
    }
    return nil
}
