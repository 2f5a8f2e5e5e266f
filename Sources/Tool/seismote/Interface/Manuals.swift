import Alerts
import Messages

/// The documentation of the messages' fields (Markdown), made from their declarations.
enum MessageManual {
    static func text(_ messages: [DescribedMessage]) -> String {
        var text = """
            # Fields of messages

            Made from the declarations by `seismote interface manual`; [the interface for programs](interface.md) has the same as JSON Schema and AsyncAPI. [Messages](messages.md) tells the topics, [Measures](../understand/measures.md) how the numbers are computed. Times are RFC 3339 in UTC with nanoseconds. Readers ignore fields that they do not know.

            `*` marks a field that is left out when there is nothing to say; `{x,y,z}` stands for one field each. A unit alone as the type means a number. `x`, `y` and `z` are the axes, `h` is the horizontal vector √(x² + y²), `v3` the 3-D vector.

            ## Envelope

            Every object begins with these; those with samples also have `tq`.


            """
        var tables = FieldTables()
        text += tables.table(DescribedMessage.envelope(isSampled: true), under: "Envelope")
        for message in messages {
            guard case .object(let fields, let isSampled) = message.content else { continue }
            let title = message.name.prefix(1).uppercased() + message.name.dropFirst()
            text += "\n## \(title)\n\n\(message.help) On \(topics(of: message))\(isSampled ? ", with `tq`" : "")."
            if let earlier = tables.title(of: fields) {
                text += " Fields as in \(FieldTables.link(earlier)).\n"
            } else {
                text += "\n\n" + tables.table(fields, under: title)
            }
        }
        return text
    }

    /// Below `<root>/<id>/`, without those of the history.
    private static func topics(of message: DescribedMessage) -> String {
        let channels = (InterfaceChannel.own + InterfaceChannel.network).filter { $0.messages.contains(message.name) }
        return channels.map { $0.address == nil ? "the request's response topic" : "`\($0.path)`" }.joined(
            separator: ", ")
    }
}

/// Tables of fields, one after the other. Members that an earlier table has in several rows are a link to it.
private struct FieldTables {
    /// The members of the objects in the tables so far, and the heading above each.
    private var shown: [(members: [DescribedField], title: String)] = []

    mutating func table(_ fields: [DescribedField], under title: String) -> String {
        shown.append((fields, title))
        return "| Field | Type | What |\n|---|---|---|\n" + rows(fields, below: "", under: title)
    }

    /// Returns the heading above the first table that has these members in an object.
    func title(of members: [DescribedField]) -> String? { shown.first { $0.members == members }?.title }

    static func link(_ title: String) -> String { "[\(title)](#\(title.lowercased()))" }

    /// Neighbours that have the same members share their rows; axes and vectors share one.
    private mutating func rows(_ fields: [DescribedField], below path: String, under title: String) -> String {
        var text = ""
        var index = 0
        while index < fields.count {
            let field = fields[index]
            let members = Self.members(field.kind)
            var alike = fields[index...].prefix { $0.kind == field.kind && members != nil }
            if alike.isEmpty { alike = fields[index...].prefix { Self.areDirections(field, $0) } }
            if alike.isEmpty { alike = fields[index...index] }
            let earlier = members.flatMap { self.title(of: $0.0) }
            let remark = earlier.map { "Members as in \(Self.link($0))." } ?? ""
            var row = alike.startIndex
            while row < alike.endIndex {
                let directions = alike[row...].prefix { Self.areDirections(alike[row], $0) }
                let isJoined = directions.count > 1
                let name = isJoined ? Self.joined(directions.map(\.name)) : alike[row].name
                let help = [isJoined ? "" : alike[row].help, remark].filter { !$0.isEmpty }.joined(separator: " ")
                // (Rows of members show the object as well.)
                if !help.isEmpty || members == nil || alike[row].presence == .optional {
                    text += Self.row(alike[row], as: path + name, help)
                }
                row += max(1, directions.count)
            }
            if let (members, mark) = members, earlier == nil {
                let inner = rows(members, below: "\(path)\(Self.joined(alike.map(\.name)))\(mark).", under: title)
                let lines = inner.utf8.filter { $0 == 10 }
                if lines.count > 2 { shown.append((members, title)) }
                text += inner
            }
            index += alike.count
        }
        return text
    }

    private static func joined(_ names: [String]) -> String {
        names.count == 1 ? names[0] : "{\(names.joined(separator: ","))}"
    }

    /// Whether both are an axis or a vector, and nothing else is to say of them.
    private static func areDirections(_ one: DescribedField, _ other: DescribedField) -> Bool {
        func isDirection(_ field: DescribedField) -> Bool {
            switch field.name {
            case "x", "y", "z": field.help == "Axis \(field.name)."
            case "h": field.help.hasPrefix("Horizontal vector")
            case "v3": field.help == "3-D vector."
            default: false
            }
        }
        return isDirection(one) && isDirection(other) && one.kind == other.kind && one.unit == other.unit
            && one.presence == other.presence
    }

    private static func row(_ field: DescribedField, as name: String, _ help: String) -> String {
        let mark = field.presence == .optional ? " *" : ""
        let unit = field.unit == "1" ? "" : field.unit
        let kind = Self.name(of: field.kind)
        // (A unit alone is that of a number.)
        let type = unit.isEmpty ? kind : field.kind == .number ? unit : "\(kind), \(unit)"
        let absence = field.presence == .nullable ? " or null" : ""
        return "| `\(name)`\(mark) | \(type)\(absence) | \(help) |\n"
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

/// The documentation of the alerts (Markdown), made from their declarations.
enum AlertManual {
    static var text: String {
        var text = """
            # Alerts

            This page lists each alert: what it means, and how to fix its cause. `seismote ctl alerts` lists the present alerts of a station, and so do the page, `state/health` and Home Assistant.

            An alert is a fault that a station has now. The agent publishes it as a retained message on `<root>/<id>/state/alert/<code>`, and clears the topic with an empty message when the fault is gone.

            ```bash run
            seismote ctl alerts --all
            mosquitto_sub -v -t 'seismote/+/state/alert/+' -W 2 || true
            ```

            (On a broker with TLS, write its [address and your account once](../install/broker.md#mosquitto_sub) for `mosquitto_sub`.)

            A message has `code`, `severity`, `since`, `message` (a sentence) and `details` (for programs). `error` means that data or events are missing or wrong, or that a limit is reached; `warning` means that they may be. No alert ends the agent.

            At start the agent clears the alerts of an earlier run: those about opening the sensor as soon as the result is known, the others a minute later.

            `seismote interface alerts` makes this page from the declarations.

            """
        for chapter in AlertChapter.all {
            text += "\n## \(chapter.title)\n"
            for alert in chapter.alerts { text += section(alert.declaration) }
        }
        return text
    }

    private static func section(_ alert: AlertDeclaration) -> String {
        let severity = alert.severity.rawValue.prefix(1).uppercased() + alert.severity.rawValue.dropFirst()
        let lesser = alert.lesser.map { ", or warning \($0)" } ?? ""
        return "\n### \(alert.code)\n\n\(severity)\(lesser). \(alert.meaning)\n\n"
            + (alert.details.map { "`details`: \($0)\n\n" } ?? "")
            + "To fix: \(alert.remedy).\(alert.see.map { " See \($0)." } ?? "")\n"
    }
}
