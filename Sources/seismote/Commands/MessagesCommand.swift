import ArgumentParser
import Messages

/// `seismote messages ...`: what is in the messages of a station.
struct MessagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages", abstract: "Describe the messages that stations publish.",
        subcommands: [Schema.self, Manual.self])

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the JSON Schema (2020-12) of one message, or of all under $defs.")

        @Argument(help: "Which one: summary, event, trace, health, alert, info, config, reply or log.")
        var name: String?

        func run() throws {
            let messages = try DescribedMessage.all()
            guard let name else { return print(MessageSchema.bundle(messages).line) }
            guard let message = messages.first(where: { $0.name == name }) else {
                let names = messages.map(\.name).joined(separator: ", ")
                throw ValidationError("There is no message `\(name)`; there are \(names).")
            }
            print(MessageSchema.schema(of: message).line)
        }
    }

    struct Manual: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the documentation of all fields as Markdown.")

        func run() throws { print(MessageManual.text(try DescribedMessage.all()), terminator: "") }
    }
}

extension Value {
    fileprivate var line: String { String(decoding: json(), as: UTF8.self) }
}
