import Messages

extension SettingsTable {
    // Files are named in the settings file only: whoever could name them remotely could have any file of the board
    // sent to a broker of his own as the password.
    static let mqtt = Chapter(
        key: "mqtt", title: "MQTT", help: "The broker. A change makes a new connection.", owners: .link, .storage,
        sections: [
            ("tls", "TLS"), ("reconnect", "Reconnection"), ("home_assistant", "Home Assistant"), ("openeew", "OpenEEW"),
        ],
        settings: [
            StationSetting(
                "mqtt.uri", \.mqtt.uris, .brokers, apply: .live,
                title: "Broker URI",
                "Broker, mqtt:// or mqtts:// (TLS); several in a list are tried in order."),
            StationSetting(
                "mqtt.protocol", \.mqtt.protocolVersion, .mqttVersion, apply: .live,
                title: "MQTT version", advanced: true,
                "MQTT version; auto and 5 fall back to 3.1.1 with a broker without MQTT 5."),
            StationSetting(
                "mqtt.root", \.mqtt.root, .topicRoot, apply: .live,
                title: "Topic root", advanced: true, "First level, or levels, of every topic."
            ).owned(by: .link, .sampling, .storage, .commands, .reporter),
            StationSetting(
                "mqtt.client_id", \.mqtt.clientID, .text(.line(128)), apply: .live, remote: .ifUnlocked,
                title: "Client id", advanced: true,
                "Name of the connection, where the broker takes some names only; {id} stands for the station's id. Each "
                    + "connection needs its own. Empty: seismote-{id}."),
            StationSetting(
                "mqtt.username", \.mqtt.username, .text(.line(256)), apply: .live,
                title: "User name", "Empty: none."),
            StationSetting(
                "mqtt.password", \.mqtt.password, .text(.line(256)), apply: .live, secret: true,
                title: "Password",
                "For setting it remotely; in a file prefer password_file. It takes precedence over password_file. Empty: none."
            ),
            StationSetting(
                "mqtt.password_file", \.mqtt.passwordFile, .path, apply: .live, remote: .no,
                title: "Password file", advanced: true,
                "File with the password in its first line, or the name of a systemd credential; empty: none."),
            StationSetting(
                "mqtt.tls.ca_file", \.mqtt.tls.caFile, .path, apply: .live, remote: .no,
                title: "CA file", advanced: true,
                "Trusted CA certificates (PEM); empty: those of the system."),
            StationSetting(
                "mqtt.tls.cert_file", \.mqtt.tls.certFile, .path, apply: .live, remote: .no,
                title: "Client certificate", advanced: true,
                "The station's own certificate (PEM); empty: none."),
            StationSetting(
                "mqtt.tls.key_file", \.mqtt.tls.keyFile, .path, apply: .live, remote: .no,
                title: "Client key", advanced: true,
                "Private key of that certificate (PEM)."),
            StationSetting(
                "mqtt.tls.alpn", \.mqtt.tls.alpn, .text(.line(64)), apply: .live,
                title: "ALPN", advanced: true,
                "Protocol name for servers with several protocols on one port (ALPN), such as mqtt; empty: none."),
            StationSetting(
                "mqtt.tls.min_version", \.mqtt.tls.minimumVersion, .tlsVersion, apply: .live,
                title: "Minimum TLS version", advanced: true,
                "Oldest version of TLS that is accepted."),
            StationSetting(
                "mqtt.tls.psk_identity", \.mqtt.tls.pskIdentity, .text(.line(128)), apply: .live, remote: .no,
                title: "PSK identity", advanced: true,
                "Name of a key that is shared with the broker, in place of certificates; empty: none."),
            StationSetting(
                "mqtt.tls.psk_file", \.mqtt.tls.pskFile, .path, apply: .live, remote: .no,
                title: "PSK file", advanced: true,
                "File with that key, hexadecimal, in its first line, or the name of a systemd credential."),
            StationSetting(
                "mqtt.keepalive_s", \.mqtt.keepalive, .wholeSeconds(5...65_535), apply: .live,
                title: "Keep alive", advanced: true,
                "Longest silence on the connection before a ping."),
            StationSetting(
                "mqtt.max_packet_bytes", \.mqtt.maximumPacket, .integer(0...268_435_460, unit: "bytes"), apply: .live,
                title: "Maximum packet", advanced: true,
                "Largest MQTT packet that is sent; 0: what the broker says (MQTT 5), any with 3.1.1, where it cannot say it."
            ).owned(by: .link),
            StationSetting(
                "mqtt.reconnect.min_s", \.mqtt.reconnectMinimum, .time(.from(0.1, to: 3600)), apply: .live,
                title: "Minimum reconnect pause", advanced: true,
                "Minimum pause before the next attempt to connect."),
            StationSetting(
                "mqtt.reconnect.max_s", \.mqtt.reconnectMaximum, .time(.from(0.1, to: 3600)), apply: .live,
                title: "Maximum reconnect pause", advanced: true,
                "Maximum pause before the next attempt; pauses grow up to it, with a random part."),
            StationSetting(
                "mqtt.will_delay_s", \.mqtt.willDelay, .wholeSeconds(0...86_400), apply: .live,
                title: "Will delay", advanced: true,
                "Time after which the broker publishes `offline` for a station that it has lost (MQTT 5)."),
            StationSetting(
                "mqtt.home_assistant.enabled", \.mqtt.homeAssistant.enabled, .bool, apply: .live,
                title: "Home Assistant discovery",
                "Publish the discovery messages by which Home Assistant finds the station."),
            StationSetting(
                "mqtt.home_assistant.prefix", \.mqtt.homeAssistant.prefix, .topicRoot, apply: .live,
                remote: .ifUnlocked,
                title: "Discovery prefix", advanced: true,
                "First level of Home Assistant's discovery topics; not the root or below it. Remotely only where unlocked: it "
                    + "decides where the station writes."),
            StationSetting(
                "mqtt.home_assistant.discovery", \.mqtt.homeAssistant.discovery, .choice(), apply: .live,
                title: "Discovery form", advanced: true,
                "device: one message; components: one for each entity, for Home Assistant before 2024.11."),
            StationSetting(
                "mqtt.home_assistant.page", \.mqtt.homeAssistant.page, .webAddress, apply: .live,
                title: "Address of the page", advanced: true,
                "Where the device's link leads in Home Assistant; {id} stands for the station's id. Empty: no link."),
            StationSetting(
                "mqtt.home_assistant.birth_topic", \.mqtt.homeAssistant.birthTopic, .text(.topic(0...128)),
                apply: .live,
                title: "Birth topic", advanced: true,
                "Where Home Assistant says that it has started, where that was changed there; empty: <prefix>/status."),
            StationSetting(
                "mqtt.home_assistant.birth_payload", \.mqtt.homeAssistant.birthPayload, .text(.line(128, atLeast: 1)),
                apply: .live,
                title: "Birth payload", advanced: true,
                "What Home Assistant says there."),
            StationSetting(
                "mqtt.openeew.enabled", \.mqtt.openEEW.enabled, .bool, apply: .live,
                title: "OpenEEW", advanced: true,
                "Also publish the acceleration as OpenEEW's sensors do, 32 values at 31.25 Hz in gal."
            ).owned(by: .sampling),
            StationSetting(
                "mqtt.openeew.topic", \.mqtt.openEEW.topic, .text(.topic()), apply: .live, remote: .ifUnlocked,
                title: "OpenEEW topic", advanced: true,
                "Where OpenEEW's detection listens; not the root or below it."
            ).owned(by: .sampling),
            StationSetting(
                "mqtt.openeew.country_code", \.mqtt.openEEW.country, .text(.id(2...2)), apply: .live,
                title: "OpenEEW country code", advanced: true,
                "Two letters, such as mx; xx: not told."
            ).owned(by: .sampling),
        ])
}

public struct MQTTConfiguration: Sendable, Equatable {
    public enum ProtocolVersion: String, Sendable, CaseIterable {
        /// 5 where nothing speaks against it.
        case auto
        case v5 = "5"
        case v311 = "3.1.1"
    }
    public struct TLS: Sendable, Equatable {
        public var caFile = ""
        public var certFile = ""
        public var keyFile = ""
        /// Name of a protocol; empty: none.
        public var alpn = ""
        public var minimumVersion = TLSVersion.v12
        public var pskIdentity = ""
        public var pskFile = ""
    }
    public enum TLSVersion: String, Sendable, CaseIterable { case v12 = "1.2", v13 = "1.3" }
    public struct HomeAssistant: Sendable, Equatable {
        public var enabled = true
        public var prefix = "homeassistant"
        public var discovery = HomeAssistantPlace.Form.device
        public var page = ""

        /// Where Home Assistant says that it has started; empty: `<prefix>/status`.
        public var birthTopic = ""
        /// Payload of the birth message.
        public var birthPayload = "online"

        /// The topic where it says so.
        public var birth: String { birthTopic.isEmpty ? HomeAssistantPlace.status(prefix: prefix) : birthTopic }

        /// The page of one station.
        public func page(of id: String) -> String { page.naming(id) }
    }
    public struct OpenEEW: Sendable, Equatable {
        public var enabled = false
        public var topic = "/traces"
        public var country = "xx"
    }
    /// Where a URI has no port: those that IANA has for MQTT, and for MQTT over TLS.
    public static func standardPort(isEncrypted: Bool) -> Int { isEncrypted ? 8883 : 1883 }
    /// `mqtt://host:port` or `mqtts://host:port`, tried in order.
    public var uris = ["mqtt://localhost:\(standardPort(isEncrypted: false))"]
    public var protocolVersion = ProtocolVersion.auto
    public var root = Topics.defaultRoot
    /// Client id of the connection, with `{id}`; empty: the program's own.
    public var clientID = ""
    public var username = ""
    /// Empty: that in the file.
    public var password = ""
    public var passwordFile = ""
    public var tls = TLS()
    /// Seconds.
    public var keepalive = 30
    /// Bytes; 0: what the broker says.
    public var maximumPacket = 0
    public var reconnectMinimum = 1.0
    public var reconnectMaximum = 120.0
    /// Seconds the broker waits before it publishes the last will.
    public var willDelay = 15
    public var homeAssistant = HomeAssistant()
    public var openEEW = OpenEEW()
    public init() {}
}

extension String {
    /// `{id}` in it stands for the station's id.
    public func naming(_ id: String) -> String {
        // (Byte by byte: the library's own search for a text in a text is a megabyte of program.)
        var bytes: [UInt8] = []
        for byte in utf8 {
            bytes.append(byte)
            guard bytes.suffix(4).elementsEqual("{id}".utf8) else { continue }
            bytes.removeLast(4)
            bytes += id.utf8
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
