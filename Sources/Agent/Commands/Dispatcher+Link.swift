import Link
import Messages
import Settings

/// Going over to another connection.
extension Dispatcher {
    /// Whether a change of these keys is one of the link.
    static func concernsLink(_ keys: [String]) -> Bool {
        keys.contains { $0.hasPrefix("mqtt.") || $0 == "station.groups" || $0 == "storage.backfill_per_s" }
    }

    /// The number that every connection with the proposed settings is above.
    /// - Throws: `cross_field`, where no connection can be made with them.
    func connection(after proposal: SettingsLedger.Proposal) throws(CodedErrors) -> UInt64 {
        guard Self.concernsLink(proposal.changed) else { return link.statistics.connections }
        do throws(AgentError) {
            return try Reconnection(inForce(proposal.settings)).number(of: link)
        } catch {
            throw CodedErrors([CodedError("/mqtt", .crossField, error.message)])
        }
    }

    /// What waits leaves over the old connection, the reply among it; what is retained goes over to the new one.
    /// - Parameter confirmed: a trial that was passed just now.
    mutating func reconnect(confirmed: Int? = nil) {
        let configuration = inForce(keeper.settings)
        do throws(AgentError) {
            // Values that are kept in the link move with it; whoever publishes them again comes after.
            let trial = keeper.ledger.connectionTrial
            let reconnection = try Reconnection(configuration, trial: trial)
            storage.change(configuration, topics: reconnection.topics, trial: trial, confirmed: confirmed)
            try reconnection.apply(to: link)
            if reconnection.topics != topics {
                topics = reconnection.topics
                var anew = Messenger(topics: topics, boot: boot)
                anew.takeOver(messenger)
                messenger = anew
            }
            desk = desk.with(topics: topics, groups: configuration.station.groups)
        } catch { log.error("the connection stays as it was: \(error.message)") }
    }
}
