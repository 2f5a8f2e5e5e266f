import Messages

/// What Home Assistant is told of network events, by its MQTT discovery: topics with their messages, to be retained.
struct NetworkHomeAssistant {
    var root: String
    /// Of Home Assistant's discovery, usually `homeassistant`.
    var prefix: String

    /// Of the network.
    var own: [(topic: String, message: Value)] {
        let last: Value = .string("\(root)/network/event/last")
        return [
            entity(
                "binary_sensor", "earthquake", "Earthquake",
                [
                    .init("state_topic", last), .init("json_attributes_topic", last),
                    .init("device_class", "safety"),
                    .init(
                        "value_template",
                        "{{ 'ON' if value_json.event_type != 'end' and value_json.class.likely != 'disturbance' else 'OFF' }}"
                    ),
                ]),
            entity(
                "sensor", "magnitude", "Magnitude",
                [
                    .init("state_topic", last), .init("state_class", "measurement"),
                    .init("value_template", "{{ value_json.magnitude.value if value_json.magnitude }}"),
                ]),
        ]
    }

    /// Of a station: whether its event was seen by others.
    func confirmation(of station: String) -> (topic: String, message: Value) {
        let topic: Value = .string("\(root)/network/confirmed/\(station)")
        return entity(
            "binary_sensor", "\(station)-confirmed", "\(station): earthquake confirmed by neighbours",
            [
                .init("state_topic", topic), .init("json_attributes_topic", topic), .init("device_class", "safety"),
                .init("value_template", "{{ 'ON' if value_json.active and value_json.confirmed else 'OFF' }}"),
            ])
    }

    private func entity(
        _ platform: String, _ key: String, _ name: String, _ members: [Value.Member]
    ) -> (topic: String, message: Value) {
        let own: [Value.Member] = [
            .init("name", .string(name)), .init("unique_id", .string("seismote-network-\(key)")),
            .init(
                "device",
                [
                    "identifiers": ["seismote-network"], "name": "Seismote network", "manufacturer": "Seismote",
                    "sw_version": .string(productVersion),
                ]),
            .init("origin", ["name": "seismote", "sw": .string(productVersion)]),
            .init(
                "availability",
                [
                    [
                        "topic": .string("\(root)/network/status"),
                        "value_template": "{{ 'online' if value_json.online else 'offline' }}",
                    ]
                ]),
        ]
        return ("\(prefix)/\(platform)/seismote-network/\(key)/config", .object(own + members))
    }
}
