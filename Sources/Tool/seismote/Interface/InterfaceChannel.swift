import Commands
import Messages

/// A topic, or one for each code, event, request …, with what goes over it.
struct InterfaceChannel {
    /// Unique: `summary`.
    var name: String
    /// With parameters in braces; nil: named by who asks.
    var address: String?
    /// A sentence.
    var help: String
    /// Names of messages that the station sends there; empty for a command.
    var messages: [String] = []
    /// Quality of service, retention and expiry of the messages.
    var delivery: Delivery?
    /// Command that the station takes there.
    var command: Command?
    /// Whether the station subscribes to it.
    var isReceived = false

    /// As the documents write it below the station's: `state/alert/<code>`.
    var path: String {
        guard let address else { return "" }
        let below = address.hasPrefix(Self.base) ? address.dropFirst(Self.base.count) : address[...]
        return String(below.map { $0 == "{" ? "<" : $0 == "}" ? ">" : $0 }).replacing("_", with: " ")
    }

    /// The parameters of all addresses.
    static let parameters = [
        ("root", "First level, or levels, of every topic: the setting `mqtt.root`."),
        ("id", "Id of the station: the setting `station.id`, by default the host name."),
        ("group", "A group of stations: the setting `station.groups`; every station is in `all`."),
        ("code", "Code of the fault."),
        ("event_id", "Id of the event: the station's id and the onset."),
        ("request_id", "The member `id` of the command."),
        ("level", "`debug`, `info`, `notice`, `warning` or `error`."),
        ("platform", "Kind of entity in Home Assistant: `sensor`, `binary_sensor`, …"),
        ("key", "Name of the entity."),
        ("prefix", "The setting `mqtt.home_assistant.prefix`, by default `homeassistant`."),
    ]

    private static let base = "{root}/{id}/"

    /// Where a station's own messages go, as things happen.
    static let own: [InterfaceChannel] =
        Stream.allCases.map(\.channel) + [
            InterfaceChannel(
                name: "replyToRequest", address: nil,
                help: "The MQTT 5 response topic of a command, with its correlation data.", messages: ["reply"],
                delivery: Stream.reply.delivery)
        ]

    /// Where they go when they are sent late.
    static let late: [InterfaceChannel] = Stream.allCases.filter(\.canBeLate).map { stream in
        var channel = stream.channel
        channel.name = "history" + channel.name.prefix(1).uppercased() + channel.name.dropFirst()
        channel.address =
            base + "data/history/" + (channel.address ?? "").dropFirst(base.count).trimmed(of: "data", "state")
        channel.help =
            stream == .waveform
            ? "Waveforms sent late, and those of the command `snapshot`, by the id of the request."
            : "The same, sent late; with MQTT 5 it has the user property `hist` = `1`."
        channel.delivery?.retain = false
        // What is late was kept until now; it is not to be lost on the way.
        channel.delivery?.qos = 1
        channel.delivery?.expiry = nil
        return channel
    }

    /// Commands to one station and to a group.
    static let commands: [InterfaceChannel] = Command.all.flatMap { command in
        [
            InterfaceChannel(
                name: "command\(command.camel)", address: "\(base)cmd/\(command.name)", help: command.help,
                command: command, isReceived: true),
            InterfaceChannel(
                name: "groupCommand\(command.camel)", address: "{root}/group/{group}/cmd/\(command.name)",
                help: "The same of all stations of a group.", command: command, isReceived: true),
        ]
    }

    private static let openEEW = InterfaceChannel(
        name: "openEEW", address: nil,
        help: "A second of acceleration for OpenEEW, on the topic `mqtt.openeew.topic`, by default `/traces`.",
        messages: ["openeew"], delivery: OpenEEWMessage.delivery)

    /// For Home Assistant's discovery.
    private static let discovery: [InterfaceChannel] =
        ["device/seismote-{id}", "{platform}/seismote-{id}/{key}"].map { below in
            InterfaceChannel(
                name: below.hasPrefix("device") ? "homeAssistantDevice" : "homeAssistantEntity",
                address: "{prefix}/\(below)/config",
                help: "What Home Assistant shows of the station; emptied when it goes.",
                messages: ["home-assistant"],
                // (They travel as the station's own identity does.)
                delivery: Stream.info.delivery)
        } + [
            InterfaceChannel(
                name: "homeAssistantStatus", address: "{prefix}/status", help: "Whether Home Assistant is there.",
                messages: ["online"], isReceived: true)
        ]

    /// Where `seismote network` publishes, and what it is told; no station does.
    static let network: [InterfaceChannel] = [
        InterfaceChannel(
            name: "networkEvent", address: "{root}/network/event",
            help: "Versions of earthquakes that several stations have seen, by `seismote network`.",
            messages: ["network-event"], delivery: Stream.trigger.networkDelivery(retain: false)),
        InterfaceChannel(
            name: "lastNetworkEvent", address: "{root}/network/event/last", help: "The newest of these messages.",
            messages: ["network-event"], delivery: Stream.trigger.networkDelivery(retain: true)),
        InterfaceChannel(
            name: "networkStatus", address: "{root}/network/status",
            help: "How `seismote network` is; also its last will.", messages: ["network-status"],
            delivery: Stream.trigger.networkDelivery(retain: true)),
        InterfaceChannel(
            name: "networkConfirmation", address: "{root}/network/confirmed/{id}",
            help: "Tells a station that others have seen its event; with `network.confirm`.",
            messages: ["network-confirmation"], delivery: Stream.trigger.networkDelivery(retain: true)),
        InterfaceChannel(
            name: "networkPlace", address: "{root}/network/place/{id}",
            help: "Tells `seismote network` where a station is: `seismote network stations --enter`.",
            messages: ["network-place"], delivery: Stream.trigger.networkDelivery(retain: true), isReceived: true),
    ]

    static var all: [InterfaceChannel] { own + late + network + commands + discovery + [openEEW] }
}

extension Stream {
    /// As events travel, but nothing expires.
    fileprivate func networkDelivery(retain: Bool) -> Delivery {
        var delivery = delivery
        (delivery.retain, delivery.expiry) = (retain, nil)
        return delivery
    }
}

extension Command {
    /// `ConfigRollback`.
    var camel: String { name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() }
}

extension Substring {
    /// Without the level in front, if it is one of these.
    fileprivate func trimmed(of levels: String...) -> Substring {
        for level in levels where hasPrefix(level + "/") { return dropFirst(level.count + 1) }
        return self
    }
}

extension Stream {
    /// Where its messages go. (A new stream has to say it here before the tool compiles.)
    fileprivate var channel: InterfaceChannel {
        let (name, messages, below, help): (String, [String], String, String) =
            switch self {
            case .online: ("online", ["online"], "", "`online`, or `offline`, which is also the last will.")
            case .info: ("info", ["info"], "", "Versions, station, sensor, capabilities.")
            case .config: ("config", ["config"], "", "The settings in force, without secrets.")
            case .configSchema: ("settings", ["settings"], "", "The JSON Schema of the settings.")
            case .summary: ("summary", ["summary"], "", "Levels, peaks, intensity, once a second.")
            case .health: ("health", ["health"], "", "Every minute, and when something changes.")
            case .alert:
                ("alert", ["alert"], "/{code}", "One message for each active fault; emptied when it is solved.")
            case .trigger: ("event", ["event"], "", "An event's onset, updates and end.")
            case .current: ("currentEvent", ["event"], "", "The open event as it was last said; emptied when it ends.")
            case .level: ("level", ["level"], "", "What an overview of many stations needs, once a second.")
            case .digest:
                ("digest", ["summary"], "", "A summary every 10 s, and at once when the state of the station changes.")
            case .last: ("lastEvent", ["event"], "", "The last event that has ended.")
            case .trace:
                ("trace", Self.traces, "", "Decimated traces; the quality of service is the setting `trace.qos`.")
            case .stream: ("stream", Self.traces, "", "Traces for a while, by the command `stream`.")
            case .vibration: ("vibration", ["vibration"], "", "Vibration of each interval, while `vibration.enabled`.")
            case .update: ("update", ["update"], "", "What becomes of an update, and how the last one ended.")
            case .modes: ("modes", ["modes"], "", "Natural modes of each period, while `vibration.modes`.")
            case .warning:
                (
                    "warning", ["warning"], "",
                    "What is to be expected of an earthquake that the network has seen, while `alarm.network.enabled`."
                )
            case .waveform: ("waveform", ["waveform"], "/{event_id}", "An event at the full rate.")
            case .reply: ("reply", ["reply"], "/{request_id}", "Replies to commands that have no response topic.")
            case .log: ("log", ["log"], "/{level}", "Lines of the log, after the command `log`.")
            }
        return InterfaceChannel(
            name: name, address: address + below, help: help, messages: messages, delivery: delivery)
    }

    private static var traces: [String] { ["trace", "trace-cbor", "trace-miniseed"] }

    /// With `{root}` and `{id}`.
    private var address: String {
        guard let topics = try? Topics(root: "{root}", id: "ID") else { return "" }
        return topics.topic(of: self).replacing("{root}/ID/", with: "{root}/{id}/", maxReplacements: 1)
    }

    /// Whether the station sends its messages again, or late, below `data/history`.
    fileprivate var canBeLate: Bool {
        switch self {
        case .summary, .trigger, .trace, .waveform, .vibration, .modes: true
        default: false
        }
    }
}
