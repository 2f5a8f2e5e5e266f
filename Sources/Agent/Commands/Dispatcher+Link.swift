import Link
import Messages
import Settings

/// Going over to another connection.
extension Dispatcher {
    /// Whether a change of these keys is one of the connection.
    static func concernsLink(_ keys: [String]) -> Bool {
        keys.contains { $0.hasPrefix("mqtt.") || $0 == "station.groups" }
    }

    /// What waits leaves over the old connection; what is retained goes over to the new one.
    func reconnect() {
        do throws(LinkError) {
            try link.change(to: LinkOptions(keeper.settings.configuration, topics: topics))
        } catch { log.error("the connection stays as it was: \(error.message)") }
    }
}
