import MQTT
import Messages
import Settings

/// Other settings of the connection. The pipeline gets its topics with the rest of its settings, at the border of a block;
/// what it still publishes below an old root until then is no loss (see `Link.change`).
final class LinkChange {
    let topics: Topics
    let options: LinkOptions
    /// Number of the change whose brokers are on trial; 0: none is.
    let trial: Int
    /// Settings whose files are looked for before the change; nil: no broker is asked over TLS.
    let tls: MQTTConfiguration.TLS?

    /// - Throws: `cross_field`, where no connection can be made with the ledger's settings.
    init(_ ledger: SettingsLedger) throws(CodedErrors) {
        let configuration = ledger.inForce(ledger.settings)
        trial = ledger.connectionTrial
        tls = configuration.mqtt.uris.contains { $0.hasPrefix("mqtts:") } ? configuration.mqtt.tls : nil
        do throws(AgentError) {
            topics = try Topics(configuration)
            do throws(MQTTError) { options = try LinkOptions(configuration, topics: topics, trial: trial) } catch {
                throw AgentError(error.message)
            }
        } catch {
            throw CodedErrors([CodedError("/mqtt", .crossField, error.message)])
        }
    }
}

extension Topics {
    init(_ configuration: Configuration) throws(AgentError) {
        do throws(TopicError) {
            try self.init(root: configuration.mqtt.root, id: configuration.station.id)
        } catch { throw AgentError(error.description) }
    }
}
