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

    /// - Parameter set: the bytes that are allowed, as patterns write them.
    private static func ascii(
        _ count: ClosedRange<Int>, _ set: String, _ words: String, _ isAllowed: @escaping @Sendable (UInt8) -> Bool
    ) -> TextRule {
        let (least, most) = (count.lowerBound, count.upperBound)
        return TextRule(
            count: count, pattern: "^[\(set)]{\(least),\(most)}$" + endOfText,
            allowed: "\(least) to \(most) of \(words)", isAllowed: { $0.isASCII && isAllowed(UInt8($0.value)) })
    }

    /// Station and group ids, which become topic levels.
    static func id(_ count: ClosedRange<Int>) -> TextRule {
        ascii(count, "A-Za-z0-9_-", "letters A-Z a-z, digits, _ and -") { $0.isOfID }
    }

    /// FDSN source identifier codes.
    static func fdsn(_ count: ClosedRange<Int>) -> TextRule {
        ascii(count, "A-Z0-9-", "letters A-Z, digits and -") { $0.isCapital || $0.isDigit || $0 == 0x2D }
    }

    /// A topic that does not belong to the station.
    /// - Parameter count: from 0 where there may be none.
    static func topic(_ count: ClosedRange<Int> = 1...128) -> TextRule {
        var rule = ascii(count, "A-Za-z0-9_./-", "letters A-Z a-z, digits, _, ., - and /") {
            $0.isOfID || $0 == 0x2E || $0 == 0x2F
        }
        if count.lowerBound == 0 { rule.allowed = "at most" + rule.allowed.dropFirst(4) }
        return rule
    }

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
    /// Address of a page that people open; empty: none.
    package static let webAddress = Codec(
        type: "text", unit: nil, allowed: webAddressAllowed,
        schema: ["type": "string", "maxLength": 248, "pattern": .string(webPattern)],
        decode: { value, path, findings in
            guard let text = decodeText(value, path, webAddressAllowed, &findings) else { return nil }
            if let problem = webProblem(text) {
                findings.add(path, .range, problem, got: value, allowed: webAddressAllowed)
                return nil
            }
            return text
        },
        encode: { .string($0) })
}

private let webAddressAllowed =
    "http:// or https://, host (IPv6 in brackets), :port, path of visible ASCII, at most 248 in all; or empty"

/// `{id}` may stand in it, also in the host.
private let webPattern =
    "^(https?://([A-Za-z0-9._~!$&'()*+,;=:%-]*@)?"
    + NetworkAddressPattern.address(allowsZone: false, placeholder: true) + "([/?#][!-~]*)?)?$" + endOfText

/// Fault of the address of a page; nil when it is right.
private func webProblem(_ text: String) -> String? {
    if text.isEmpty { return nil }
    guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else {
        return "The address of a page begins with http:// or https://."
    }
    guard text.isMade(0...248, of: { $0.isVisible }) else {
        return "The address is too long, or has a character that is not visible ASCII."
    }
    var authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    if let end = authority.lastIndex(of: "@") {
        guard authority[..<end].utf8.allSatisfy({ $0.isAlphanumeric || "._~!$&'()*+,;=:%-".utf8.contains($0) }) else {
            return "The user name in the address has a character that is not allowed there."
        }
        authority = authority[authority.index(after: end)...]
    }
    let named = Substring(String(authority).naming("x"))
    do throws(NetworkAddress.Problem) {
        _ = try NetworkAddress(named, allowsZone: false)
        return nil
    } catch { return error.message }
}

private let topicRootAllowed = "topic levels of letters A-Z a-z, digits, _ and - with / between them, at most 128"

/// Text, with a hint where YAML made something else of it.
func decodeText(_ value: Value, _ path: String, _ allowed: String, _ findings: inout Findings) -> String? {
    switch value {
    case .string(let text):
        guard let name = variable(in: text) else { return text }
        findings.add(
            path, .range,
            "`${\(name)}` is not replaced by a variable of the environment: write the value itself, or give it with --set; for a secret name a file.",
            got: value, allowed: allowed)
    case .int, .double, .bool:
        findings.add(
            path, .type, "This must be text, not \(value.kind): put it in quotes.", got: value, allowed: allowed)
    default: findings.wrongType(path, "text", got: value, allowed: allowed)
    }
    return nil
}

/// The name in a `${NAME}`, or `${NAME:-…}`, of a text, which somebody expects to be replaced; nil: there is none.
private func variable(in text: String) -> String? {
    let bytes = Array(text.utf8)
    for start in bytes.indices.dropLast()
    where bytes[start] == UInt8(ascii: "$") && bytes[start + 1] == UInt8(ascii: "{") {
        let name = bytes[(start + 2)...].prefix { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
        guard let first = name.first, !first.isDigit, name.endIndex < bytes.count else { continue }
        let next = bytes[name.endIndex]
        if next == UInt8(ascii: "}") || next == UInt8(ascii: ":") { return String(decoding: name, as: UTF8.self) }
    }
    return nil
}
