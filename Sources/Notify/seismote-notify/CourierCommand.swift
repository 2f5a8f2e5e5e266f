import Messages
import Values

/// The program that brings a message to its recipient, and what it is given. No secret is among the arguments, which every
/// user of a machine can read.
public struct CourierCommand: Sendable, Equatable {
    /// The program, by its name, and its arguments.
    public var arguments: [String]
    /// Written to its standard input.
    public var input: [UInt8]

    /// - Parameter token: for ntfy; empty: none.
    public init(_ delivery: Notice, to service: Recipient.Service, token: String) {
        switch service {
        case .ntfy(let base, let topic, let updates):
            arguments = ["curl", "-q", "--silent", "--show-error", "--fail", "--max-time", "20", "--config", "-"]
            var members: [Value.Member] = [
                .init("topic", .string(topic)), .init("title", .string(delivery.title)),
                .init("message", .string(delivery.text.isEmpty ? delivery.title : delivery.text)),
                .init("priority", .int(Int64(delivery.priority.rawValue))),
            ]
            if updates { members.append(.init("sequence_id", .string(Self.identifier(delivery.key)))) }
            if !delivery.click.isEmpty { members.append(.init("click", .string(delivery.click))) }
            var lines = ["url = \(Self.quoted(base + "/"))", "header = \"Content-Type: application/json\""]
            if !token.isEmpty { lines.append("header = \(Self.quoted("Authorization: Bearer \(token)"))") }
            lines.append("data-raw = \(Self.quoted(String(decoding: Value.object(members).json(), as: UTF8.self)))")
            input = Array((lines.joined(separator: "\n") + "\n").utf8)
        case .apprise(let file):
            let type = delivery.priority.rawValue >= Notice.Priority.high.rawValue ? "warning" : "info"
            arguments = ["apprise", "--title", delivery.title, "--notification-type", type, "--config", file]
            input = Array(Self.withLink(delivery).utf8)
        case .mail(let address):
            arguments = ["sendmail", "-i", "-t"]
            var head = "To: \(address)\nSubject: \(Self.subject(delivery.title))\nAuto-Submitted: auto-generated\n"
            if delivery.priority == .urgent { head += "Importance: high\n" }
            head += "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
            input = Array((head + Self.withLink(delivery) + "\n").utf8)
        }
    }

    private static func withLink(_ delivery: Notice) -> String {
        let text = delivery.text.isEmpty ? delivery.title : delivery.text
        return delivery.click.isEmpty ? text : "\(text)\n\(delivery.click)"
    }

    /// As curl reads a value of its configuration file.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default: result.unicodeScalars.append(character)
            }
        }
        return result + "\""
    }

    /// The same for all editions of a message, without a name in it.
    private static func identifier(_ key: String) -> String {
        var hash = FNV1a()
        hash.add(key)
        return "seismote-\(String(hash.value, radix: 16))"
    }

    /// A subject of a mail (RFC 2047 where it is not ASCII).
    private static func subject(_ title: String) -> String {
        if title.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return title }
        return "=?utf-8?q?"
            + title.utf8.map { byte in
                if byte.isAlphanumeric { return String(UnicodeScalar(byte)) }
                return "=" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined() + "?="
    }
}
