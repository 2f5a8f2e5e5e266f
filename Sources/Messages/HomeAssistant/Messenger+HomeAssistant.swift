/// Discovery of the station by Home Assistant.
extension Messenger {
    /// The settings that Home Assistant can be let change.
    public static var homeAssistantSettings: [String] {
        var settings: [String] = []
        HomeAssistantRow.all(base: "") { row in
            if let setting = row.setting { settings.append(setting) }
        }
        return settings
    }

    /// Tells Home Assistant what there is, retained: in one message, or in one for each entity. What the station does not
    /// have is said to be gone.
    public mutating func announce(
        _ station: HomeAssistantStation, at place: HomeAssistantPlace, to sink: PublicationSink
    ) {
        if place.form == .device {
            json.removeAll()
            json.beginObject()
            writeDevice(station, place)
            json.key("components")
            json.beginObject()
            HomeAssistantRow.all(base: topics.base) { row in
                json.key(text: row.key)
                json.beginObject()
                json.member("platform", row.kind)
                if row.isThere(station) { write(row, place) }
                json.endObject()
            }
            json.endObject()
            json.endObject()
            json.withBytes { sink(Self.discovery(place.deviceTopic), $0) }
            return
        }
        HomeAssistantRow.all(base: topics.base) { row in
            json.removeAll()
            if row.isThere(station) {
                json.beginObject()
                writeDevice(station, place)
                write(row, place)
                json.endObject()
            }
            json.withBytes { sink(Self.discovery(place.topic(kind: row.kind, key: row.key)), $0) }
        }
    }

    /// Takes away whatever may have been announced there.
    public static func retract(_ place: HomeAssistantPlace, to sink: PublicationSink) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        if place.form == .device { return sink(discovery(place.deviceTopic), nothing) }
        HomeAssistantRow.all(base: "") { row in
            sink(discovery(place.topic(kind: row.kind, key: row.key)), nothing)
        }
    }

    private static func discovery(_ topic: String) -> PublicationHeader {
        PublicationHeader(topic: topic, qos: 1, retain: true, priority: .essential)
    }

    private mutating func writeDevice(_ station: HomeAssistantStation, _ place: HomeAssistantPlace) {
        json.key("device")
        json.beginObject()
        json.list("identifiers", [place.device])
        json.member("name", station.name.isEmpty ? place.id : station.name)
        json.member("manufacturer", "Seismote")
        json.member("model", station.model.isEmpty ? "Seismic station" : station.model)
        json.member("serial_number", place.id)
        json.member("sw_version", station.version)
        json.endObject()
        json.key("origin")
        json.beginObject()
        json.member("name", "seismote")
        json.member("sw_version", station.version)
        json.endObject()
        json.member("availability_topic", topics.online)
    }

    private mutating func write(_ row: HomeAssistantRow, _ place: HomeAssistantPlace) {
        let (topic, template) = (topics.base + "/" + row.topic, row.template)
        json.member("unique_id", place.device + "-" + row.key)
        json.member("default_entity_id", row.kind + "." + place.entity + "_" + row.key)
        json.member("name", row.name)
        json.key("qos")
        json.int(1)
        if template.isEmpty {
            json.member("command_topic", topic)
            json.member("payload_press", "{\"source\":\"Home Assistant\"}")
        } else {
            json.member("state_topic", topic)
            writeTemplates(template)
        }
        let others = row.others
        if !others.isEmpty { others.withUnsafeBytes { json.raw($0) } }
        // Once a second.
        if row.topic == "state/summary" {
            json.key("expire_after")
            json.int(60)
        }
    }

    private mutating func writeTemplates(_ template: String) {
        let bytes = template.utf8
        // `patch => value`
        guard let arrow = bytes.indices.first(where: { bytes[$0...].starts(with: "=>".utf8) }) else {
            return json.member("value_template", Self.bracketed(template))
        }
        let patch = String(template[..<bytes.index(before: arrow)])
        let value = String(template[bytes.index(arrow, offsetBy: 3)...])
        json.member("value_template", Self.bracketed(value))
        json.member("command_topic", topics.command("config"))
        json.member("command_template", "{{ {'set':" + patch + ",'source':'Home Assistant'}|to_json }}")
        // What is chosen is shown at once; the state is published again when the station refuses it.
        json.key("optimistic")
        json.bool(true)
        json.member("entity_category", "config")
    }

    private static func bracketed(_ template: String) -> String {
        template.utf8.first == UInt8(ascii: "{") ? template : "{{ " + template + " }}"
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }
}
