import MQTT
import Messages
import Settings

/// Everything that `seismote-notify` can be told; ``table`` declares each with its help. How the broker is reached is told
/// by the chapter `mqtt`, as the agent's own table has it.
struct NotifySettings: ProgramSettings {
    static let (chapter, program, example) = ("notify", "seismote-notify", "notify.test=\"sun 10:00\"")

    var folder = "/var/lib/seismote-notify"
    var clientID = "seismote-notify"
    var zone = ""
    var page = ""
    var test = "mon 12:00"
    var recipients: [Recipient] = []
    var mqtt = MQTTConfiguration()

    var weekly: WeekTime? { WeekTime(test) }

    /// All rows, in the order of the default file.
    static let table: [Setting<NotifySettings>] = [
        Setting(
            "notify.state", \.folder, .neededPath,
            "Folder of the queue; the program makes and owns notify.db in it."),
        Setting(
            "notify.client_id", \.clientID, .id,
            "Name of the session at the broker; two of these programs on one broker need two."),
        Setting(
            "notify.time_zone", \.zone,
            .text("a name such as Europe/Zurich, or empty: that of the machine") { TimeZoneTable.has($0) },
            "Time zone of quiet hours and of times in texts, with its daylight saving time."),
        Setting(
            "notify.page", \.page, .webAddress, "What a click on a message opens, usually the page of the network."),
        Setting(
            "notify.test", \.test,
            .text("a day and a time such as mon 12:00, or empty: none") { $0.isEmpty || WeekTime($0) != nil },
            "When a message says each week that messages arrive: silence must not look like peace."),
        Setting(
            "notify.recipients", \.recipients,
            .objects(
                "objects with name, one of ntfy, apprise and mail, and rules; see the manual", atMost: 100, name: \.name
            ), "Who gets messages; see the manual."),
    ]

    static var manualOfElements: String { Recipient.manualRows(at: "notify.recipients[].") }

    func linkOptions(_ subscriptions: [String]) throws(MQTTError) -> LinkOptions {
        let base = "\(mqtt.root)/network/notify/\(clientID)"
        var options = LinkOptions(
            brokers: try mqtt.brokers(), clientID: clientID, presence: .init(topic: "\(base)/online"))
        options.connection.mqtt = mqtt
        options.base = base
        options.subscriptions = subscriptions
        options.watched = [options.presence.topic]
        options.connection.inboundBytes = 1 << 20
        // What comes while this program is away waits at the broker for it.
        (options.wantsRetained, options.sessionSeconds) = (true, 3600)
        return options
    }
}
