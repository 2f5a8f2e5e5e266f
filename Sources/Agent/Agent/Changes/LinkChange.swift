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

extension LinkOptions {
    /// The link that the settings ask for.
    /// - Parameter trial: number of the change whose brokers are on trial; 0: none is.
    init(_ configuration: Configuration, topics: Topics, trial: Int = 0) throws(MQTTError) {
        let wanted = configuration.mqtt.clientID
        self.init(
            brokers: try configuration.mqtt.brokers(),
            clientID: (wanted.isEmpty ? "\(Identity.name)-{id}" : wanted).naming(configuration.station.id),
            presence: Presence(topic: topics.online))
        let mqtt = configuration.mqtt
        connection.mqtt = mqtt
        base = topics.base
        keepsEssential = true
        self.trial = trial
        backfillPerSecond = Double(configuration.storage.backfillRate)
        subscriptions = topics.commandFilters(groups: configuration.station.groups)
        if configuration.alarm.network.enabled {
            subscriptions.append(topics.networkEvent)
            // What 1000 stations have seen.
            connection.inboundBytes = 256 << 10
        }
        if mqtt.homeAssistant.enabled {
            // Not every broker lets us: nothing else depends on it.
            optionalSubscriptions = [mqtt.homeAssistant.birth]
        }
        var check = SelfCheck()
        check.commandTopic = topics.command("selfcheck")
        check.echoTopics = [topics.online, topics.info, topics.trace]
        // Next to the real ones, and empty: nothing that a reader waits for.
        check.probes = [topics.event, topics.waveformPrefix, topics.historyPrefix, topics.alertPrefix].map {
            .init(filter: "\($0)/\($0 == topics.historyPrefix ? "#" : "+")", topic: "\($0)/selfcheck")
        }
        (check.identityTopic, check.identity) = (topics.info, Array(Identity.boot.utf8))
        selfCheck = check
        readBack = [topics.current]
        // (Summaries and health are said again by themselves.)
        watched = [
            topics.online, topics.info, topics.config, topics.current, topics.last, topics.update,
            "\(topics.alertPrefix)/+",
        ]
        watchedWhole = [topics.configSchema]
        if mqtt.homeAssistant.enabled {
            watchedWhole.append(
                HomeAssistantPlace(prefix: mqtt.homeAssistant.prefix, id: configuration.station.id, form: .device)
                    .deviceTopic)
        }
        stateOrder = [
            topics.online, topics.info, topics.config, topics.configSchema, topics.summary, topics.health,
        ]
    }
}
