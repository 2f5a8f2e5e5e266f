import Messages
import Settings
import Testing

@testable import Alerts
@testable import MQTT

@Suite struct BrokerAlertsTests {
    private static let second: Int64 = 1_000_000_000

    /// The alerts of the connection, with the settings that they look at.
    private struct Watch {
        var board: [any Alert] = AlertChapter.broker.alerts.map { $0.init() }
        var mqtt = Configuration().mqtt
    }

    private static func faults(_ watch: inout Watch, _ statistics: LinkStatistics, _ now: Int64) -> [String: String] {
        let facts = AlertFacts(now: now, mqtt: watch.mqtt, link: statistics)
        var found: [String: String] = [:]
        for index in watch.board.indices {
            let code = type(of: watch.board[index]).declaration.code
            if let fault = watch.board[index].look(facts) { found[code] = fault.message }
        }
        return found
    }

    @Test func aHealthyLinkHasNoAlerts() {
        var alerts = Watch()
        #expect(Self.faults(&alerts, LinkStatistics(), 0) == [:])
    }

    @Test func refusedAndTooLargeMessagesAreAnAlertForAMinute() {
        var alerts = Watch()
        var statistics = LinkStatistics()
        statistics.refused = [.init(reason: 151, count: 1, topic: "s/x")]
        statistics.tooLarge = 1
        statistics.lastTooLarge = .init(topic: "s/y", bytes: 9)
        let found = Self.faults(&alerts, statistics, 0)
        #expect(found["mqtt_refused"]?.contains("s/x") == true)
        #expect(found["mqtt_too_large"]?.contains("s/y") == true)
        #expect(found.count == 2)
        #expect(Self.faults(&alerts, statistics, 59 * Self.second).count == 2)
        #expect(Self.faults(&alerts, statistics, 60 * Self.second) == [:])
        statistics.refused[0].count = 2
        #expect(Self.faults(&alerts, statistics, 61 * Self.second).count == 1)
    }

    @Test func whatTheBrokerLacksAndWhatOthersWriteIsSaid() {
        var alerts = Watch()
        var statistics = LinkStatistics()
        statistics.lacks = .init(retained: true, qos1: true, isSaid: true)
        #expect(
            Self.faults(&alerts, statistics, 0) == [
                "broker_lacks": "the broker does not take retained messages or QoS 1"
            ])
        statistics.lacks = .init(retained: false, qos1: true, isSaid: false)
        #expect(Self.faults(&alerts, statistics, 0)["broker_lacks"]?.contains("seems not to take QoS 1:") == true)
        statistics.lacks = nil
        statistics.overwritten = .init(topics: ["s/state/online"], count: 3)
        #expect(Self.faults(&alerts, statistics, 0)["topic_overwritten"]?.contains("s/state/online") == true)
    }

    /// A defect: a broker that takes some client ids only answers "not authorised", and the account was blamed.
    @Test func theClientIDIsNamedAmongTheCauses() {
        var alerts = Watch()
        var statistics = LinkStatistics()
        (statistics.credentialRefusals, statistics.clientID) = (1, "seismote-basement")
        let message = Self.faults(&alerts, statistics, 0)["mqtt_credentials"] ?? ""
        #expect(message.contains("seismote-basement") && message.contains("mqtt.client_id"))
    }

    @Test func whatMayNotBeWrittenOrReadIsNamed() {
        var alerts = Watch()
        var statistics = LinkStatistics()
        statistics.refused = [.init(reason: 135, count: 7, topic: "s/data/trace")]
        statistics.deniedTopics = ["s/data/trace"]
        statistics.refusedSubscriptions = ["s/cmd/+"]
        let found = Self.faults(&alerts, statistics, 0)
        #expect(found.keys.sorted() == ["mqtt_denied_topic", "write_denied"])
        #expect(found["write_denied"]?.contains("s/data/trace") == true)
        #expect(found["mqtt_denied_topic"]?.contains("s/cmd/+") == true)
    }

    /// A defect: a broker that hung up on Home Assistant's topics, and two stations with one id, raised no alert.
    @Test func whatHoldsTheStationUpIsSaidWithItsRemedy() {
        var alerts = Watch()
        var statistics = LinkStatistics()
        statistics.held = [.init(topic: "homeassistant/#", reason: 135, breaks: false, isOurs: false)]
        // Not every broker has to let us.
        #expect(Self.faults(&alerts, statistics, 0) == [:])
        statistics.held[0].breaks = true
        let hangsUp = Self.faults(&alerts, statistics, 0)["write_denied"] ?? ""
        #expect(hangsUp.contains("hangs up") && hangsUp.contains("homeassistant/#"))
        #expect(hangsUp.contains("mqtt.home_assistant.enabled"))
        // Others' reasons last as long as they do, not a minute.
        statistics.held = [.init(topic: "s/event/trigger", reason: 151)]
        statistics.refused = [.init(reason: 151, count: 1, topic: "s/event/trigger")]
        for minute in 0..<10 as Range<Int64> {
            let found = Self.faults(&alerts, statistics, minute * 60 * Self.second)
            #expect(found["write_denied"]?.contains("s/event/trigger (151)") == true)
            #expect(found["mqtt_refused"] == nil)
        }
        // A cluster with a node that is away: not a permission error.
        statistics.held[0].reason = 131
        statistics.refused[0].reason = 131
        let passing = Self.faults(&alerts, statistics, 600 * Self.second)
        #expect(passing["write_denied"] == nil)
        #expect(passing["mqtt_refused"]?.contains("bring the node back") == true)
        statistics = LinkStatistics()
        statistics.duplicate = .init(count: 4, isSure: false)
        let probable = Self.faults(&alerts, statistics, 0)["duplicate_id"] ?? ""
        statistics.duplicate = .init(count: 4, isSure: true)
        let certain = Self.faults(&alerts, statistics, 0)["duplicate_id"] ?? ""
        #expect(probable.contains("probably") && !certain.contains("probably"))
        #expect(certain.contains("station.id") && certain.contains("taken over 4 times"))
    }

    /// Nobody hears of it while it lasts.
    @Test func refusedCredentialsAreAnAlertForAWhileAfterTheConnectionIsThere() {
        var alerts = Watch()
        var statistics = LinkStatistics()
        statistics.credentialRefusals = 1
        statistics.isRefused = true
        statistics.lastCredentialRefusal = "Not authorized (135)"
        #expect(Self.faults(&alerts, statistics, 0)["mqtt_credentials"] != nil)
        let day = 86_400 * Self.second
        // A look a second, as the agent does; here a few minutes apart.
        for minute in 1...1440 as ClosedRange<Int64> {
            let found = Self.faults(&alerts, statistics, minute * 60 * Self.second)
            #expect(found["mqtt_credentials"] != nil)
        }
        statistics.connected = true
        #expect(Self.faults(&alerts, statistics, day + 599 * Self.second)["mqtt_credentials"] != nil)
        #expect(Self.faults(&alerts, statistics, day + 600 * Self.second)["mqtt_credentials"] == nil)
    }

    @Test(arguments: [
        ("mqtt://localhost", false), ("mqtt://127.0.0.1:1884", false), ("mqtt://[::1]", false),
        ("mqtt://broker.example", true), ("mqtts://broker.example", false), ("mqtt://127.evil.example", true),
    ]) func aPasswordInPlainTextOverTheNetworkIsAnAlert(uri: String, isOpen: Bool) {
        var settings = Configuration().mqtt
        settings.uris = [uri]
        settings.username = "board"
        settings.passwordFile = "/secret"
        var alerts = Watch(mqtt: settings)
        let found = Self.faults(&alerts, LinkStatistics(), 0)
        #expect((found["mqtt_plaintext_password"] != nil) == isOpen)
        settings.passwordFile = ""
        var without = Watch(mqtt: settings)
        #expect(Self.faults(&without, LinkStatistics(), 0) == [:])
    }
}
