import ArgumentParser
import Commands
import Values

/// `seismote interface ...`: the topics, messages and commands of a station, for programs.
struct InterfaceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interface", abstract: "Describe the topics, messages and commands of stations, for programs.",
        subcommands: [List.self, Schema.self, Document.self, Manual.self, Alerts.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the topics with the names of their messages, quality of service and retained flag.",
            discussion: "seismote interface list")

        func run() {
            var table = Table(["NAME", "TOPIC", "QOS", "RETAINED", "MESSAGES"], left: [0, 1, 4])
            for channel in InterfaceChannel.all {
                let delivery = channel.delivery
                table.add([
                    channel.name, channel.address ?? "(response topic)", delivery.map { "\($0.qos)" } ?? "1",
                    delivery?.retain == true ? "yes" : "no",
                    channel.command.map { "command-\($0.name)" } ?? channel.messages.joined(separator: ", "),
                ])
            }
            print(table.text)
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the JSON Schema (2020-12) of one message or command, or of all under $defs.",
            discussion: "seismote interface schema summary > summary.schema.json")

        @Argument(help: "Which one, such as summary, event or command-snapshot; see `seismote interface list`.")
        var name: String?

        func run() throws {
            let messages = try DescribedMessage.all()
            guard let name else { return print(MessageSchema.bundle(messages).line) }
            if let message = messages.first(where: { $0.isText && $0.name == name }) {
                return print(MessageSchema.schema(of: message).line)
            }
            if name.hasPrefix("command-"), let command = Command.named(String(name.dropFirst("command-".count))) {
                return print(MessageSchema.schema(of: command).line)
            }
            let names = messages.filter(\.isText).map(\.name) + Command.all.map { "command-\($0.name)" }
            throw ValidationError("There is no schema `\(name)`; there are \(names.joined(separator: ", ")).")
        }
    }

    struct Document: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "asyncapi", abstract: "Print the whole interface as AsyncAPI 3.0 (JSON).",
            discussion: "seismote interface asyncapi > seismote.asyncapi.json")

        func run() throws { print(AsyncAPI.document(try DescribedMessage.all()).line) }
    }

    struct Manual: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the documentation of all fields as Markdown.",
            discussion: "seismote interface manual > fields.md")

        func run() throws { print(MessageManual.text(try DescribedMessage.all()), terminator: "") }
    }

    struct Alerts: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the documentation of all alerts as Markdown.",
            discussion: "seismote interface alerts > alerts.md")

        func run() { print(AlertManual.text, terminator: "") }
    }
}

extension Value {
    fileprivate var line: String { String(decoding: json(), as: UTF8.self) }
}
