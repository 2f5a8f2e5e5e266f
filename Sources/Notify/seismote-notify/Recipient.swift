import MQTT
import Messages
import Propagation
import Settings
import Values

/// Somebody who gets messages: by which service, of what, and when not.
struct Recipient: TableSettings, Equatable {
    enum Service: Sendable, Equatable {
        /// The topic's address, such as `https://ntfy.sh/my-topic`. `updates`: the server replaces a message by a later one
        /// with the same `sequence_id`; older ones show both, and get one message for each event.
        case ntfy(base: String, topic: String, updates: Bool)
        /// A configuration file of Apprise, which has the addresses: a path, or the name of a credential.
        case apprise(file: String)
        case mail(address: String)
    }

    /// Reasons for a message. Nothing that is off is one.
    struct Rules: Sendable, Equatable {
        /// Network events from this magnitude on; those whose magnitude is not known count as large enough.
        var magnitude: Double?
        /// Network events within this distance of ``Recipient/here``, km; those whose place is not known count as near.
        var distance: Double?
        /// Network events from this Mercalli intensity on that is expected at ``Recipient/here``; those of which magnitude
        /// or place is not known do not count.
        var expected: Double?
        /// Network events that are disputed, too. A message of one is never urgent.
        var disputed = false
        /// A station's events from this Mercalli intensity on.
        var intensity: Double?
        /// A station's events that it takes for an earthquake, whatever their intensity.
        var earthquake = false
        /// A station's alarm.
        var alarm = true
        /// A station that has been offline for ten minutes.
        var offline = false
        /// Alerts from this severity on.
        var alerts: Severity?
        /// Alerts with these codes, whatever their severity.
        var codes: [String] = []

        /// Whether network events are worth a message at all.
        var namesNetwork: Bool { magnitude != nil || distance != nil || expected != nil }
    }

    enum Severity: String, Sendable, CaseIterable, Comparable {
        case info, warning, error
        static func < (a: Self, b: Self) -> Bool {
            (allCases.firstIndex(of: a) ?? 0) < (allCases.firstIndex(of: b) ?? 0)
        }
    }

    var name = ""
    var ntfy: NtfyTopic?
    var apprise: String?
    var mail: String?
    /// File with an access token for ntfy, a path or the name of a credential; empty: none.
    var tokenFile = ""
    /// Whether the server of ntfy replaces messages.
    var updates = false
    var rules = Rules()
    /// Stations it is about; empty: all.
    var stations: [String] = []
    /// Where somebody is, for the distance and the expected intensity of network events; degrees.
    var here: Place?
    var quiet: DayTime?
    /// Ordinary messages an hour at most, and as many urgent ones.
    var hourly = 20
    /// Names of stations and their ids may be in the text.
    var names = false
    /// Coordinates may be in the text.
    var places = false

    var service: Service {
        if let ntfy { return .ntfy(base: ntfy.base, topic: ntfy.topic, updates: updates) }
        return apprise.map { .apprise(file: $0) } ?? .mail(address: mail ?? "")
    }

    static let table: [Setting<Recipient>] = [
        Setting(
            "name", \.name, .id, "Name in the log, and for `seismote-notify test`. Needed, as is one of the next three."
        ),
        Setting(
            "ntfy", \.ntfy,
            .ifGiven(
                .parsed("https://SERVER/TOPIC (http:// for a server on this network)", NtfyTopic.init, \.description)),
            "Topic of ntfy."),
        Setting(
            "apprise", \.apprise,
            .ifGiven(
                .text("the absolute path of a configuration file of Apprise, or the name of a credential", isFile)),
            "What Apprise reads, with the addresses."),
        Setting("mail", \.mail, .ifGiven(.text("an address such as me@example.org", isMail)), "Address for mail."),
        Setting(
            "token_file", \.tokenFile,
            .text("an absolute path, or the name of a credential; empty: none") { $0.isEmpty || isFile($0) },
            "For ntfy: file of an access token."),
        Setting(
            "updates", \.updates, .bool,
            "For ntfy from 2.16 on: later versions of an event replace the message (an older server shows each)."),
        Setting(
            "stations", \.stations, .many(.stationID),
            "Events, alerts and absences of these stations alone; empty: all."),
        Setting(
            "here", \.position,
            .ifGiven(.numbers([-90...90, -180...180], "[latitude, longitude] in degrees, such as [46.23, 7.36]")),
            "Where this person is; stays on this machine."),
        Setting(
            "quiet", \.quiet, .ifGiven(.parsed("HH:MM-HH:MM, such as 22:00-07:00", DayTime.init, \.description)),
            "Quiet hours, in notify.time_zone."),
        Setting(
            "hourly", \.hourly, .integer(1...1000),
            "Ordinary messages an hour at most; one station can use half of them. Urgent messages and earthquakes of "
                + "the network each have another such limit."),
        Setting(
            "names", \.names, .bool, "Station ids may be in the text, and in the address that a click opens."),
        Setting("places", \.places, .bool, "The epicentre and its distance from `here` may be in the text."),
        Setting(
            "rules.intensity", \.rules.intensity, .ifGiven(.number(1...12)),
            "A message when a station measures this Mercalli intensity or more."),
        Setting(
            "rules.earthquake", \.rules.earthquake, .bool, "A message when a station takes its event for an earthquake."
        ),
        Setting("rules.alarm", \.rules.alarm, .bool, "A message when a station raises its alarm."),
        Setting(
            "rules.magnitude", \.rules.magnitude, .ifGiven(.number(0...10)),
            "A message when the network detector publishes an earthquake of this magnitude or more."),
        Setting(
            "rules.distance_km", \.rules.distance, .ifGiven(.number(1...20_000, unit: "km")),
            "The same, within this distance of `here`."),
        Setting(
            "rules.expected_intensity", \.rules.expected, .ifGiven(.number(1...12)),
            "The same, where this Mercalli intensity is expected at `here`."),
        Setting(
            "rules.disputed", \.rules.disputed, .bool,
            "An earthquake that meets these rules makes a message also while it is disputed."),
        Setting(
            "rules.offline", \.rules.offline, .bool,
            "A message when a station, or the broker itself, has been away for ten minutes; one more when it is back."),
        Setting(
            "rules.alerts", \.rules.alerts, .ifGiven(.choice()),
            "A message when a station has an alert of this severity or more."),
        Setting(
            "rules.codes", \.rules.codes, .many(.id, atMost: 100),
            "A message when a station has one of these alerts, such as vibration_limit, whatever its severity."),
    ]

    /// The place as it is written.
    private var position: [Double]? {
        get { here.map { [$0.latitude, $0.longitude] } }
        set { here = newValue.map { Place(latitude: $0[0], longitude: $0[1]) } }
    }

    var problems: [CodedError] {
        var problems: [CodedError] = []
        let services = [ntfy != nil, apprise != nil, mail != nil].filter { $0 }.count
        if services != 1 {
            problems.append(
                CodedError("", .crossField, "Exactly one of ntfy, apprise and mail is needed, not \(services)."))
        }
        let far = [("distance_km", rules.distance), ("expected_intensity", rules.expected)]
        for (key, value) in far where value != nil && here == nil {
            problems.append(CodedError("/rules/\(key)", .crossField, "This needs here: [latitude, longitude]."))
        }
        if !tokenFile.isEmpty, ntfy == nil {
            problems.append(
                CodedError("/token_file", .crossField, "This is for ntfy; Apprise has its secrets in its own file."))
        }
        return problems
    }
}

private func isPlain(_ text: String) -> Bool {
    (1...1000).contains(text.utf8.count)
        && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x5C }
}

/// A path, or the name of a credential.
private func isFile(_ text: String) -> Bool {
    guard isPlain(text) else { return false }
    return text.hasPrefix("/")
        || text.utf8.count <= 100 && !text.hasPrefix(".") && !text.contains("/")
}

private func isMail(_ text: String) -> Bool {
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty && isPlain(text)
        && text.utf8.allSatisfy { ![0x2C, 0x3A, 0x3B, 0x3C, 0x3E].contains($0) } && !text.hasPrefix("-")
}

/// Server and topic of an address such as `https://ntfy.sh/my-topic`.
struct NtfyTopic: Sendable, Equatable, CustomStringConvertible {
    let base: String
    let topic: String

    /// - Returns: nil for what is none.
    init?(_ text: String) {
        guard text.hasPrefix("https://") || text.hasPrefix("http://"), isPlain(text),
            let slash = text.lastIndex(of: "/")
        else {
            return nil
        }
        (base, topic) = (String(text[..<slash]), String(text[text.index(after: slash)...]))
        let authority = base.dropFirst(text.hasPrefix("https") ? 8 : 7).prefix { $0 != "/" }
        guard (try? NetworkAddress(authority, allowsZone: false)) != nil, !base.hasSuffix("/"),
            topic.isMade(1...64, of: { $0.isOfID })
        else { return nil }
    }

    var description: String { "\(base)/\(topic)" }
}

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
