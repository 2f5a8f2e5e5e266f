import Commands
import Messages
import Values

/// The whole interface as AsyncAPI 3.0: channels (topics), operations, messages and schemas. The station is the
/// application: it sends what it measures, and receives commands.
package enum AsyncAPI {
    package static func document(_ messages: [DescribedMessage]) -> Value {
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
