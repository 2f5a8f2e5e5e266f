import Messages

/// JSON Schema (2020-12) of the messages, made from the declarations of their fields.
enum MessageSchema {
    /// One message with its envelope. What is not described may be there as well: later versions add fields.
    static func schema(of message: DescribedMessage) -> Value {
        let head: Value = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .string(id(message.name)),
            "title": .string("Seismote message: \(message.name)"),
        ]
        return merged(head, object(DescribedMessage.envelope(isSampled: message.isSampled) + message.fields))
    }

    /// All of them, by name.
    static func bundle(_ messages: [DescribedMessage]) -> Value {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .string(id("all")),
            "title": "Messages of a Seismote station",
            "$defs": .object(messages.map { .init($0.name, schema(of: $0)) }),
        ]
    }

    private static func id(_ name: String) -> String { "urn:seismote:message:\(name):1" }

    private static func object(_ fields: [DescribedField]) -> Value {
        [
            "type": "object",
            "properties": .object(fields.map { .init($0.name, schema(of: $0)) }),
            "required": .array(fields.filter { $0.presence != .optional }.map { .string($0.name) }),
        ]
    }

    private static func schema(of field: DescribedField) -> Value {
        var schema = schema(of: field.kind)
        if field.presence == .nullable { schema = ["anyOf": [schema, ["type": "null"]]] }
        var notes: [Value.Member] = [.init("description", .string(field.help))]
        if !field.unit.isEmpty { notes.append(.init("x-unit", .string(field.unit))) }
        return merged(schema, .object(notes))
    }

    private static func schema(of kind: DescribedField.Kind) -> Value {
        switch kind {
        case .number: ["type": "number"]
        case .integer: ["type": "integer"]
        case .flag: ["type": "boolean"]
        case .time: ["type": "string", "format": "date-time"]
        case .text(let allowed) where allowed.isEmpty: ["type": "string"]
        case .text(let allowed): ["type": "string", "enum": .array(allowed.map { .string($0) })]
        case .tree: ["type": "object"]
        case .any: .object([])
        case .counts: ["type": "object", "additionalProperties": ["type": "integer"]]
        case .list(let element): ["type": "array", "items": schema(of: element)]
        case .object(let fields): object(fields)
        }
    }

    private static func merged(_ a: Value, _ b: Value) -> Value {
        guard case .object(let first) = a, case .object(let second) = b else { return a }
        return .object(first + second)
    }
}
