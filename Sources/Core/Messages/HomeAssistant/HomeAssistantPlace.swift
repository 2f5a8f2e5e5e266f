import Seismology

/// Where the discovery messages of a station are: whoever knows this can take them away.
public struct HomeAssistantPlace: Sendable, Equatable {
    public enum Form: String, Sendable, CaseIterable {
        /// One message for the whole device (Home Assistant 2024.11 and later).
        case device
        /// One for each entity.
        case components
    }

    /// Beginning of Home Assistant's topics, such as `homeassistant`.
    public var prefix: String
    /// The station's id.
    public var id: String
    public var form: Form

    public init(prefix: String, id: String, form: Form) {
        (self.prefix, self.id, self.form) = (prefix, id, form)
    }

    /// Where Home Assistant says that it has started.
    public static func status(prefix: String) -> String { prefix + "/status" }

    /// Id of the device, unique among all devices of a Home Assistant.
    var device: String { "seismote-" + id }

    /// The same as Home Assistant writes names of entities: a-z, 0-9 and _.
    var entity: String {
        let bytes = device.utf8.map { byte in
            byte == UInt8(ascii: "-") ? UInt8(ascii: "_") : (0x41...0x5a).contains(byte) ? byte + 32 : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Where the whole device is announced.
    public var deviceTopic: String { prefix + "/device/" + device + "/config" }

    func topic(kind: String, key: String) -> String {
        prefix + "/" + kind + "/" + device + "/" + key + "/config"
    }
}

/// Facts about a station for Home Assistant, besides the place of its messages.
public struct HomeAssistantStation: Sendable, Equatable {
    /// For people; empty: the id.
    public var name: String
    /// The chip; empty while it is not known.
    public var model: String
    public var version: String
    /// Address of its page; empty: there is none.
    public var page: String
    /// Relations of intensity that are computed.
    public var relations: [IntensityRelation]
    /// Settings that may not be changed.
    public var locked: [String]
    /// Seconds between two `state/health`.
    public var healthInterval: Double
    /// Whether it measures vibration as standards do.
    public var hasVibration = false
    /// It warns of what the network has seen.
    var hasWarning = false

    public init(
        name: String, model: String, version: String, page: String = "", relations: [IntensityRelation],
        locked: [String], healthInterval: Double = 60
    ) {
        self.name = name
        self.model = model
        self.version = version
        self.page = page
        self.relations = relations
        self.locked = locked
        self.healthInterval = healthInterval
    }
}
