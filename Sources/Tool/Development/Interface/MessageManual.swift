import Messages

/// The documentation of the messages' fields (Markdown), made from their declarations.
package enum MessageManual {
    package static func text(_ messages: [DescribedMessage]) -> String {
        var text = """
            # Fields of messages

            Made from the declarations by `seismote interface manual`; [the interface for programs](interface.md) has the same as JSON Schema and AsyncAPI. [Messages](messages.md) tells the topics, [Measures](../understand/measures.md) how the numbers are computed. Times are RFC 3339 in UTC with nanoseconds. Readers ignore fields that they do not know.

            `*` marks a field that is left out when there is nothing to say; `{x,y,z}` stands for one object each.

            ## Envelope

            Every object begins with these; those with samples also have `tq`.


            """
        text += table(DescribedMessage.envelope(isSampled: true))
        for message in messages {
            guard case .object(let fields, let isSampled) = message.content else { continue }
            let title = message.name.prefix(1).uppercased() + message.name.dropFirst()
            text += "\n## \(title)\n\n\(message.help) On \(topics(of: message))\(isSampled ? ", with `tq`" : "").\n\n"
            text += table(fields)
        }
        return text
    }

    /// Below `<root>/<id>/`, without those of the history.
    private static func topics(of message: DescribedMessage) -> String {
        let channels = (InterfaceChannel.own + InterfaceChannel.network).filter { $0.messages.contains(message.name) }
        return channels.map { $0.address == nil ? "the request's response topic" : "`\($0.path)`" }.joined(
            separator: ", ")
    }

    private static func table(_ fields: [DescribedField]) -> String {
        "| Field | Type | Unit | What |\n|---|---|---|---|\n" + rows(fields, below: "")
    }

    /// Neighbours that have the same members share their rows.
    private static func rows(_ fields: [DescribedField], below path: String) -> String {
        var text = ""
        var index = 0
        while index < fields.count {
            let field = fields[index]
            let alike = fields[index...].prefix { $0.kind == field.kind && members(field.kind) != nil }
            for one in alike.isEmpty ? fields[index...index] : alike {
                let mark = one.presence == .optional ? " *" : ""
                let kind = name(of: one.kind) + (one.presence == .nullable ? " or null" : "")
                text += "| `\(path)\(one.name)`\(mark) | \(kind) | \(one.unit == "1" ? "" : one.unit) | \(one.help) |\n"
            }
            if let (members, mark) = members(field.kind) {
                let names = alike.map(\.name)
                let name = names.count == 1 ? names[0] : "{\(names.joined(separator: ","))}"
                text += rows(members, below: "\(path)\(name)\(mark).")
            }
            index += max(1, alike.count)
        }
        return text
    }

    private static func members(_ kind: DescribedField.Kind) -> ([DescribedField], String)? {
        switch kind {
        case .object(let fields): (fields, "")
        case .list(.object(let fields)): (fields, "[]")
        default: nil
        }
    }

    private static func name(of kind: DescribedField.Kind) -> String {
        switch kind {
        case .number: "number"
        case .integer, .constant: "integer"
        case .flag: "boolean"
        case .time: "time"
        case .uuid: "text"
        case .text(let allowed):
            allowed.isEmpty ? "text" : allowed.map { "`\($0)`" }.joined(separator: ", ")
        case .tree, .object: "object"
        case .any: "any value"
        case .counts: "object of integers"
        case .list(.number): "numbers"
        case .list(.integer): "integers"
        case .list(.object): "objects"
        case .list: "texts"
        }
    }
}
