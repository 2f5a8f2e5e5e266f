import Commands
import Messages
import Values

/// The whole interface as AsyncAPI 3.0: channels (topics), operations, messages and schemas. The station is the
/// application: it sends what it measures, and receives commands.
enum AsyncAPI {
    static func document(_ messages: [DescribedMessage]) -> Value {
        [
            "asyncapi": "3.0.0", "id": "urn:seismote:interface:1",
            "info": [
                "title": "Seismote station", "version": .string(productVersion),
                "description":
                    "Topics, messages and commands of a seismic station over MQTT. Readers ignore members that they do not know.",
                "license": ["name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"],
            ],
            "defaultContentType": .string(ContentType.json.rawValue),
            "servers": ["broker": server],
            "channels": .object(InterfaceChannel.all.map { .init($0.name, channel($0)) }),
            "operations": .object(InterfaceChannel.all.map { .init(operationName($0), operation($0)) }),
            "components": [
                "messages": .object(
                    messages.map { .init($0.name, message($0)) }
                        + Command.all.map { .init("command-\($0.name)", message($0)) }),
                "schemas": .object(MessageSchema.bodies(messages)),
                "parameters": .object(
                    InterfaceChannel.parameters.map { name, help in
                        var parameter: Value = ["description": .string(help)]
                        if name == "root" { parameter = parameter.with("default", .string(Topics.defaultRoot)) }
                        return .init(name, parameter)
                    }),
            ],
        ]
    }

    private static let server: Value = [
        "host": "{broker}", "protocol": "mqtt", "protocolVersion": "5.0",
        "description": "MQTT 5, or 3.1.1 where the broker has no 5; with TLS the protocol is secure-mqtt.",
        "variables": ["broker": ["default": "localhost:1883", "description": "Host and port of the broker."]],
    ]

    // MARK: Channels and operations

    private static func channel(_ channel: InterfaceChannel) -> Value {
        let names = channel.command.map { ["command-\($0.name)"] } ?? channel.messages
        var value: Value = [
            "address": channel.address.map { .string($0) } ?? .null, "description": .string(channel.help),
            "messages": .object(names.map { .init($0, reference("components/messages", $0)) }),
        ]
        let parameters = InterfaceChannel.parameters.map(\.0).filter { channel.address?.contains("{\($0)}") == true }
        if !parameters.isEmpty {
            value = value.with(
                "parameters", .object(parameters.map { .init($0, reference("components/parameters", $0)) }))
        }
        return value
    }

    private static func operationName(_ channel: InterfaceChannel) -> String {
        (channel.isReceived ? "receive" : "send") + channel.name.prefix(1).uppercased() + channel.name.dropFirst()
    }

    private static func operation(_ channel: InterfaceChannel) -> Value {
        var value: Value = [
            "action": channel.isReceived ? "receive" : "send", "channel": reference("channels", channel.name),
            "summary": .string(channel.help),
        ]
        if let delivery = channel.delivery {
            var binding: Value = [
                "qos": .int(Int64(delivery.qos)), "retain": .bool(delivery.retain), "bindingVersion": "0.2.0",
            ]
            if let expiry = delivery.expiry {
                binding = binding.with("messageExpiryInterval", .int(Int64(expiry)))
            }
            return value.with("bindings", ["mqtt": binding])
        }
        if let command = channel.command {
            value = value.with("description", .string("Result: \(command.result)."))
                .with("bindings", ["mqtt": ["qos": 1, "retain": false, "bindingVersion": "0.2.0"]])
                .with(
                    "reply",
                    [
                        "address": [
                            "location": "$message.header#/responseTopic",
                            "description": "MQTT 5 response topic; without one the reply is on the channel `reply`.",
                        ],
                        "channel": reference("channels", "replyToRequest"),
                        "messages": [reference("channels/replyToRequest/messages", "reply")],
                    ])
        }
        return value
    }

    // MARK: Messages

    private static func message(_ message: DescribedMessage) -> Value {
        // A coding of another message has its schema.
        let schema = message.contentType == .cbor ? message.name.split(separator: "-").first.map(String.init) : nil
        let payload: Value =
            if case .records = message.content {
                [
                    "schemaFormat": .string(message.contentType.rawValue),
                    "schema": "miniSEED, https://docs.fdsn.org/projects/miniseed3",
                ]
            } else {
                reference("components/schemas", schema ?? message.name)
            }
        return [
            "name": .string(message.name), "summary": .string(message.help),
            "contentType": .string(message.contentType.rawValue), "payload": payload,
        ]
    }

    private static func message(_ command: Command) -> Value {
        [
            "name": .string("command-\(command.name)"), "summary": .string(command.help),
            "contentType": .string(ContentType.json.rawValue),
            "headers": [
                "type": "object",
                "properties": [
                    "responseTopic": ["type": "string", "description": "MQTT 5 response topic."],
                    "correlationData": ["type": "string", "description": "MQTT 5; comes back with the reply."],
                ],
            ],
            "correlationId": ["location": "$message.payload#/id", "description": "Also in the reply."],
            "payload": reference("components/schemas", "command-\(command.name)"),
        ]
    }

    private static func reference(_ place: String, _ name: String) -> Value { ["$ref": .string("#/\(place)/\(name)")] }
}

/// JSON Schema (2020-12) of the messages, made from the declarations of their fields and of the commands. Only words are
/// used that have the same meaning in draft 7, which AsyncAPI builds upon.
enum MessageSchema {
    /// One message by itself.
    static func schema(of message: DescribedMessage) -> Value {
        merged(head(message.name, "Seismote message: \(message.name)"), body(of: message))
    }

    /// One command by itself.
    static func schema(of command: Command) -> Value {
        merged(head("command-\(command.name)", "Seismote command: \(command.name)"), body(of: command))
    }

    /// All messages and commands, by name.
    static func bundle(_ messages: [DescribedMessage]) -> Value {
        merged(
            head("all", "Messages and commands of a Seismote station"),
            ["$defs": .object(bodies(messages))])
    }

    /// The same without what makes a document of each.
    static func bodies(_ messages: [DescribedMessage]) -> [Value.Member] {
        messages.filter(\.isText).map { .init($0.name, body(of: $0)) }
            + Command.all.map { .init("command-\($0.name)", body(of: $0)) }
    }

    /// A message with its envelope. What is not described may be there as well: later versions add fields.
    private static func body(of message: DescribedMessage) -> Value {
        let what: Value =
            switch message.content {
            case .object(let fields, let isSampled):
                object(
                    message.isBare
                        ? fields
                        : DescribedMessage.envelope(
                            isSampled: isSampled, isOfNetwork: message.isOfNetwork, before: fields))
            case .text(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
            case .nested:
                ["type": "string", "contentMediaType": "application/json", "contentSchema": openEEW]
            case .json, .records: ["type": "object"]
            }
        return merged(what, ["description": .string(message.help)])
    }

    /// The object in OpenEEW's text. (Draft 7 has no word for this, and passes over it.)
    private static var openEEW: Value {
        let text: Value = ["type": "string"]
        let number: Value = ["type": "number"]
        let count = Value.int(Int64(OpenEEWMessage.count))
        let axis: Value = ["type": "array", "items": number, "minItems": count, "maxItems": count]
        let members: [Value.Member] = [
            .init("country_code", text), .init("device_id", text), .init("x", axis), .init("y", axis),
            .init("z", axis), .init("device_t", number), .init("cloud_t", number), .init("sr", number),
        ]
        return [
            "type": "object", "properties": .object(members),
            "required": .array(members.map { .string($0.key) }), "additionalProperties": false,
        ]
    }

    /// Schema of a command's body. It leaves out members that a station does not know, since the station refuses them.
    private static func body(of command: Command) -> Value {
        let members = CommandMember.common + command.members
        let needed = members.filter(\.isNeeded).map(\.name) + (command.needsID ? ["id"] : [])
        return [
            "type": "object", "properties": .object(members.map { .init($0.name, schema(of: $0)) }),
            "required": .array(needed.map { .string($0) }), "additionalProperties": false,
            "description": .string(command.help),
        ]
    }

    private static func schema(of member: CommandMember) -> Value {
        let what: Value =
            switch member.kind {
            case .text where member.name == "id": ["type": "string", "pattern": "^[A-Za-z0-9_.:~@=-]{1,64}$"]
            // Of a Debian package.
            case .text where member.name == "version":
                ["type": "string", "pattern": "^(?=.{1,64}$)([0-9]{1,5}:)?[0-9][A-Za-z0-9.+~-]*$"]
            case .text: ["type": "string"]
            case .time: ["type": "string", "format": "date-time"]
            case .choice(let words): ["type": "string", "enum": .array(words.map { .string($0) })]
            case .flag: ["type": "boolean"]
            case .whole(let range):
                [
                    "type": "integer", "minimum": .int(Int64(range.lowerBound)),
                    "maximum": .int(Int64(range.upperBound)),
                ]
            case .number(let range, let unit):
                [
                    "type": "number", "minimum": .double(range.lowerBound), "maximum": .double(range.upperBound),
                    "x-unit": .string(unit),
                ]
            case .object: ["type": "object"]
            case .any: .object([])
            }
        let standard = member.standard.map { " (without it: \($0))" } ?? ""
        return merged(what, ["description": .string(member.help + standard)])
    }

    private static func head(_ name: String, _ title: String) -> Value {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .string("urn:seismote:message:\(name):1"),
            "title": .string(title),
        ]
    }

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
        // (Counts, sizes, revisions.)
        case .integer: ["type": "integer", "minimum": 0]
        case .constant(let number): ["type": "integer", "const": .int(Int64(number))]
        case .flag: ["type": "boolean"]
        case .time:
            [
                "type": "string", "format": "date-time",
                "pattern": #"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$"#,
            ]
        case .uuid: ["type": "string", "format": "uuid", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"]
        case .text(let allowed) where allowed.isEmpty: ["type": "string"]
        case .text(let allowed): ["type": "string", "enum": .array(allowed.map { .string($0) })]
        case .tree: ["type": "object"]
        case .any: .object([])
        case .counts: ["type": "object", "additionalProperties": ["type": "integer"]]
        case .list(let element): ["type": "array", "items": schema(of: element)]
        case .object(let fields): object(fields)
        }
    }

    static func merged(_ a: Value, _ b: Value) -> Value {
        guard case .object(let first) = a, case .object(let second) = b else { return a }
        return .object(first + second)
    }
}

extension DescribedMessage {
    /// Whether JSON, or something as JSON describes it.
    var isText: Bool { if case .records = content { false } else { contentType != .cbor } }
}
