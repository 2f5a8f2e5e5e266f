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

/// Discovery of the station by Home Assistant.
extension Messenger {
    /// The keys of the settings that these entities change.
    public static func keys(of settings: [HomeAssistantEntity]) -> [String] {
        var keys: [String] = []
        HomeAssistantRow.all(settings, base: "") { row in
            if let setting = row.setting { keys.append(setting) }
        }
        return keys
    }

    /// Tells Home Assistant what there is, retained: in one message, or in one for each entity. What the station does not
    /// have is said to be gone.
    /// - Parameter settings: the entities that change a setting.
    public mutating func announce(
        _ station: HomeAssistantStation, settings: [HomeAssistantEntity], at place: HomeAssistantPlace,
        to sink: PublicationSink
    ) {
        if place.form == .device {
            json.removeAll()
            json.beginObject()
            writeDevice(station, place)
            json.key("components")
            json.beginObject()
            HomeAssistantRow.all(settings, base: topics.base) { row in
                json.key(text: row.key)
                json.beginObject()
                json.member("platform", row.component)
                if row.isThere(station) { write(row, place, station) }
                json.endObject()
            }
            json.endObject()
            json.endObject()
            json.withBytes { sink(Self.discovery(place.deviceTopic), $0) }
            return
        }
        HomeAssistantRow.all(settings, base: topics.base) { row in
            json.removeAll()
            if row.isThere(station) {
                json.beginObject()
                writeDevice(station, place)
                write(row, place, station)
                json.endObject()
            }
            json.withBytes { sink(Self.discovery(place.topic(kind: row.component, key: row.key)), $0) }
        }
    }

    /// Takes away whatever may have been announced there.
    public static func retract(
        _ place: HomeAssistantPlace, settings: [HomeAssistantEntity], to sink: PublicationSink
    ) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        if place.form == .device { return sink(discovery(place.deviceTopic), nothing) }
        HomeAssistantRow.all(settings, base: "") { row in
            sink(discovery(place.topic(kind: row.component, key: row.key)), nothing)
        }
    }

    private static func discovery(_ topic: String) -> PublicationHeader {
        PublicationHeader(topic: topic, qos: 1, retain: true, priority: .essential)
    }

    private mutating func writeDevice(_ station: HomeAssistantStation, _ place: HomeAssistantPlace) {
        json.key("device")
        json.beginObject()
        json.member("identifiers", [place.device])
        json.member("name", station.name.isEmpty ? place.id : station.name)
        json.member("manufacturer", "Seismote")
        json.member("model", station.model.isEmpty ? "Seismic station" : station.model)
        json.member("serial_number", place.id)
        if !station.page.isEmpty { json.member("configuration_url", station.page) }
        json.member("sw_version", station.version)
        json.endObject()
        json.key("origin")
        json.beginObject()
        json.member("name", "seismote")
        json.member("sw_version", station.version)
        json.endObject()
        json.member("availability_topic", topics.online)
    }

    private mutating func write(_ row: HomeAssistantRow, _ place: HomeAssistantPlace, _ station: HomeAssistantStation) {
        let topic = topics.base + "/" + row.entity.topic
        json.member("unique_id", place.device + "-" + row.key)
        json.member("default_entity_id", row.component + "." + place.entity + "_" + row.key)
        json.member("name", row.name)
        json.key("qos")
        json.int(1)
        let value = row.value
        if value.isEmpty {
            json.member("command_topic", topic)
            json.member("payload_press", "{\"source\":\"Home Assistant\"}")
        } else {
            json.member("state_topic", topic)
            json.member("value_template", Self.bracketed(value))
        }
        if let patch = row.patch {
            json.member("command_topic", topics.command("config"))
            json.member("command_template", "{{ {'set':" + patch + ",'source':'Home Assistant'}|to_json }}")
            // What is chosen is shown at once; the state is published again when the station refuses it.
            json.key("optimistic")
            json.bool(true)
            json.member("entity_category", "config")
        }
        var others = row.others
        if !others.isEmpty { others.withUTF8 { json.raw(UnsafeRawBufferPointer($0)) } }
        if let seconds = row.lifetime(station) {
            json.key("expire_after")
            json.int(seconds)
        }
    }

    private static func bracketed(_ template: String) -> String {
        template.utf8.first == UInt8(ascii: "{") ? template : "{{ " + template + " }}"
    }
}
