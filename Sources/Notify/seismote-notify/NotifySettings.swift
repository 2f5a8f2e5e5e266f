import Link
import Messages
import Notify
import Servers
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
    static let table: [ProgramSetting<NotifySettings>] = [
        .text(
            "state", \.folder, "a path of 1 to 4096 characters",
            "Folder of the queue; the program makes and owns notify.db in it."
        ) { (1...4096).contains($0.utf8.count) },
        .text(
            "client_id", \.clientID, "1 to 64 of letters A-Z a-z, digits, _ and -",
            "Name of the session at the broker; two of these programs on one broker need two."
        ) { Topics.problem(inID: $0) == nil },
        .text(
            "time_zone", \.zone, "a name such as Europe/Zurich, or empty: that of the machine",
            "Time zone of quiet hours and of times in texts, with its daylight saving time."
        ) { TimeZoneTable.has($0) },
        .text(
            "page", \.page, "an address that begins with https:// or http://, or empty",
            "What a click on a message opens, usually the page of the network."
        ) {
            $0.isEmpty
                || ($0.hasPrefix("https://") || $0.hasPrefix("http://"))
                    && $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        },
        .text(
            "test", \.test, "a day and a time such as mon 12:00, or empty: none",
            "When a message says each week that messages arrive: silence must not look like peace."
        ) { $0.isEmpty || WeekTime($0) != nil },
        ProgramSetting(
            key: "recipients",
            allowed:
                "a list of objects with name, one of ntfy, apprise and mail, and rules; `seismote-notify --check` says more",
            help: "Who gets messages; see the manual.", standard: "[]"
        ) { value, settings in
            guard case .array(let list) = value, list.count <= 100 else { return false }
            do throws(RecipientError) {
                for one in list { settings.recipients.append(try Recipient(one)) }
            } catch {
                printError(error.message)
                return false
            }
            return Set(settings.recipients.map(\.name)).count == settings.recipients.count
        },
    ]

    func linkOptions(_ subscriptions: [String]) throws(LinkError) -> LinkOptions {
        let base = "\(mqtt.root)/network/notify/\(clientID)"
        var options = LinkOptions(
            brokers: try mqtt.brokers(), clientID: clientID, presence: .init(topic: "\(base)/online"))
        options.mqtt = mqtt
        options.base = base
        options.subscriptions = subscriptions
        options.inboundBytes = 1 << 20
        // What comes while this program is away waits at the broker for it.
        (options.wantsRetained, options.sessionSeconds) = (true, 3600)
        return options
    }
}
