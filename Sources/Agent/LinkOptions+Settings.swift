import Link
import Messages
import Settings

extension LinkOptions {
    /// The link that the settings ask for.
    /// - Parameter trial: number of the change whose brokers are on trial; 0: none is.
    init(_ configuration: Configuration, topics: Topics, trial: Int = 0) throws(LinkError) {
        let mqtt = configuration.mqtt
        var brokers: [BrokerAddress] = []
        for uri in mqtt.uris { brokers.append(try BrokerAddress(uri: uri)) }
        var presence = Presence(topic: topics.online)
        presence.willDelay = UInt32(clamping: mqtt.willDelay)
        self.init(brokers: brokers, clientID: "\(Identity.name)-\(configuration.station.id)", presence: presence)
        base = topics.base
        version = ProtocolVersion(mqtt.protocolVersion)
        deathNote = "\(configuration.storage.directory)/mqtt5-died"
        username = mqtt.username
        password = mqtt.password
        passwordFile = mqtt.passwordFile
        tls.caFile = mqtt.tls.caFile
        tls.certificateFile = mqtt.tls.certFile
        tls.keyFile = mqtt.tls.keyFile
        tls.alpn = mqtt.tls.alpn
        tls.minimumVersion = mqtt.tls.minimumVersion == .v13 ? .v13 : .v12
        tls.pskIdentity = mqtt.tls.pskIdentity
        tls.pskFile = mqtt.tls.pskFile
        keepalive = mqtt.keepalive
        reconnectMinimum = mqtt.reconnectMinimum
        reconnectMaximum = mqtt.reconnectMaximum
        keepsEssential = true
        self.trial = trial
        backfillPerSecond = Double(configuration.storage.backfillRate)
        subscriptions = topics.commandFilters(groups: configuration.station.groups)
        if mqtt.homeAssistant.enabled {
            // Not every broker lets us: nothing else depends on it.
            optionalSubscriptions = [HomeAssistantPlace.status(prefix: mqtt.homeAssistant.prefix)]
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
        stateOrder = [
            topics.online, topics.info, topics.config, topics.configSchema, topics.summary, topics.health,
        ]
    }
}

extension LinkOptions.ProtocolVersion {
    fileprivate init(_ asked: MQTTConfiguration.ProtocolVersion) {
        switch asked {
        case .auto: self = .automatic
        case .v5: self = .v5
        case .v311: self = .v311
        }
    }
}
