import Settings

/// Options of the link to the broker: its part of the configuration, and what follows from the rest of it.
public struct LinkOptions: Sendable, Equatable {
    /// The retained topic that says whether the agent is there. The link says `online` on it first after each
    /// connect and `offline` last before an orderly stop; the broker says `offline` when the agent disappears.
    public struct Presence: Sendable, Equatable {
        public var topic: String
        public var online = "online"
        public var offline = "offline"
        public init(topic: String) { self.topic = topic }
    }

    /// Topics and filters that are tested after each connect (see SelfCheckFinding).
    public struct SelfCheck: Sendable, Equatable {
        /// Where a message of our own is to come back, such as `<root>/<id>/cmd/selfcheck`; empty: not looked at.
        public var commandTopic = ""
        /// Topics of ours that are read back for a moment with 3.1.1, which says nothing of what may not be written.
        public var echoTopics: [String] = []
        /// The same where nothing may be published for long: a filter of topics that have the same rights, and the one to
        /// which an empty message goes.
        public struct Probe: Sendable, Equatable {
            public var filter: String
            public var topic: String
            public init(filter: String, topic: String) { (self.filter, self.topic) = (filter, topic) }
        }
        public var probes: [Probe] = []
        /// A retained topic whose value always has these bytes in it when it is ours (3.1.1).
        public var identityTopic = ""
        public var identity: [UInt8] = []
        public init() {}
    }

    /// How a broker is reached. With MQTT 5 it sends no message that is larger than `inboundBytes` and 4 KiB; the link adds
    /// session and last will to each attempt.
    public var connection: ConnectionOptions
    public var presence: Presence
    /// Seconds without any acknowledgement, while some are awaited, after which the connection is given up.
    var ackTimeout = 30.0
    /// Retained topics in the order in which they are published after each connect; others follow.
    public var stateOrder: [String] = []
    /// Beginning of all our topics, without the slash that follows: `<root>/<id>`. A change of it moves the retained
    /// values that are below the old one (see `Link.change`). Empty: nothing moves.
    public var base = ""
    /// Bytes of payload that wait for the broker at most.
    public var queueBytes = 4 << 20
    /// Messages that wait for the broker at most.
    public var queueMessages = 4096
    /// Essential messages that are not retained wait for a keeper, at most 200 ms, before they leave (see Link+Keeper).
    public var keepsEssential = false
    /// Number of the change whose brokers are on trial: how kept messages end with them is told as `onTrial`. 0: no trial.
    public var trial = 0
    /// Messages of back-fill per second at most; essential ones are not limited.
    public var backfillPerSecond = 50.0

    /// Topic filters that are subscribed to after each connect, unless the broker still knows them.
    public var subscriptions: [String] = []
    /// The same, of those that it is no fault to be refused.
    public var optionalSubscriptions: [String] = []
    /// Retained topics of ours, or filters of such, on which our word is said again when somebody else writes there
    /// (`RetainedWatch`). It is no fault to be refused them.
    public var watched: [String] = []
    /// The same, of large messages: only with MQTT 5, where the broker does not send ours back to us. What somebody has
    /// emptied outside of our own topics stays so until the next connection: it may have been meant.
    public var watchedWhole: [String] = []
    /// Delivers the broker's retained messages with each subscription.
    public var wantsRetained = false
    /// Seconds for which the broker keeps what comes for us while we are away (with 3.1.1 it decides itself for how long);
    /// 0: for as long as the will is delayed.
    public var sessionSeconds: UInt32 = 0
    /// Nil: nothing is looked at.
    public var selfCheck: SelfCheck?
    /// Retained topics of ours that are read back with the first connection to each broker, before anything is said on
    /// them (`LinkEvent.readBack`): what is there then is of a run before this one.
    public var readBack: [String] = []

    public init(brokers: [BrokerAddress], clientID: String, presence: Presence) {
        connection = ConnectionOptions(brokers: brokers, clientID: clientID)
        self.presence = presence
    }

    /// True when a connection made with these cannot stay with the others.
    func needsNewConnection(for other: LinkOptions) -> Bool {
        var same = other
        let mqtt = connection.mqtt
        same.connection.mqtt.reconnectMinimum = mqtt.reconnectMinimum
        same.connection.mqtt.reconnectMaximum = mqtt.reconnectMaximum
        same.connection.mqtt.maximumPacket = mqtt.maximumPacket
        // What follows from these is compared by itself.
        if connection.version == other.connection.version {
            same.connection.mqtt.protocolVersion = mqtt.protocolVersion
        }
        (same.connection.mqtt.uris, same.connection.mqtt.root) = (mqtt.uris, mqtt.root)
        same.connection.mqtt.homeAssistant = mqtt.homeAssistant
        same.connection.connectTimeout = connection.connectTimeout
        same.ackTimeout = ackTimeout
        same.stateOrder = stateOrder
        same.queueBytes = queueBytes
        same.queueMessages = queueMessages
        same.keepsEssential = keepsEssential
        same.backfillPerSecond = backfillPerSecond
        same.trial = trial
        return same != self
    }

    /// All that is subscribed to.
    func filters(_ version: MQTTVersion) -> [String] {
        subscriptions + optionalSubscriptions + watched + (version == .v5 ? watchedWhole : [])
    }

    /// Throws for options with which no link can be made.
    func check() throws(MQTTError) {
        guard !connection.brokers.isEmpty else { throw MQTTError("mqtt.uri names no broker") }
        let mqtt = connection.mqtt
        let texts = [connection.clientID, presence.topic, mqtt.username, mqtt.passwordFile, mqtt.password]
        if texts.contains(where: { $0.utf8.contains(0) }) {
            throw MQTTError("client id, topic, user name, password and file names must not contain zero bytes")
        }
    }
}

extension LinkOptions {
    /// Files with secrets that all users of the board may read.
    package var exposedFiles: [String] {
        let mqtt = connection.mqtt
        let password = mqtt.username.isEmpty || !mqtt.password.isEmpty ? "" : mqtt.passwordFile
        let files = [password, mqtt.tls.keyFile, mqtt.tls.pskFile]
        return files.filter { !$0.isEmpty && SecretFile.isOpenToAll($0) }
    }
}
