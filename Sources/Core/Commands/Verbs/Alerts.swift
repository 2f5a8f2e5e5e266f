import Messages
import Settings
import Values

extension Command {
    public static let alerts = Command(
        "alerts", "Show the active alerts of stations.", result: "`alerts`: the active ones", onlyTells: true
    ) { _, context in .reply(["alerts": .array(context.alerts.map(\.value))]) }
}

extension AlertMessage {
    /// The same as a tree.
    var value: Value { (try? JSONReader.read(json())) ?? .object([]) }
}
