import Messages
import Values

/// Messages to Home Assistant on network events, by its MQTT discovery: topics with their messages, to be retained
/// where the broker does.
public struct NetworkHomeAssistant: Sendable {
    private let root: String
    private let prefix: String
    private let version: String
    private let confirms: Bool
    /// Stations that it has been told of; nil: it has been told nothing.
    private var announced: Set<String>?

    /// - Parameters:
    ///   - root: of Seismote's topics.
    ///   - prefix: of Home Assistant's discovery, usually `homeassistant`; nil comes back where it is empty.
    ///   - version: of the program.
    ///   - confirms: stations have a sensor for what their neighbours have seen.
    public init?(root: String, prefix: String, version: String, confirms: Bool) {
        guard !prefix.isEmpty else { return nil }
        (self.root, self.prefix, self.version, self.confirms) = (root, prefix, version, confirms)
    }

    /// Where it says `online` when it has come up.
    public var birthTopic: String { "\(prefix)/status" }

    /// It may have forgotten all.
    public mutating func forget() { announced = nil }

    /// Messages that Home Assistant has not had yet.
    public mutating func news(of detector: NetworkDetector) -> [(topic: String, message: Value)] {
        guard announced == nil || confirms && announced?.count != detector.stations else { return [] }
        let stations = confirms ? Set(detector.stationNames) : []
        let new = stations.subtracting(announced ?? []).sorted().map(confirmation)
        defer { announced = stations }
        return (announced == nil ? own : []) + new
    }

    /// Entities of the network.
    private var own: [(topic: String, message: Value)] {
        let last: Value = .string("\(root)/network/event/last")
        return [
            entity(
                "binary_sensor", "earthquake", "Earthquake",
                [
                    .init("state_topic", last), .init("json_attributes_topic", last),
                    .init("device_class", "safety"),
                    .init(
                        "value_template",
                        """
                        {{ 'ON' if value_json.event_type != 'end' and value_json.class.likely != 'disturbance' \
                        and not value_json.disputed else 'OFF' }}
                        """
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

    /// Entity of a station: whether its event was seen by others.
    private func confirmation(of station: String) -> (topic: String, message: Value) {
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
                    "sw_version": .string(version),
                ]),
            .init("origin", ["name": "seismote", "sw": .string(version)]),
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
