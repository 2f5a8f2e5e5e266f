import Messages
import Settings
import TestSupport
import Testing

@testable import MQTT

/// A broker played by hand.
final class FakeTransport: Transport {
    var log: [String] = []
    var sent: [(id: Int32, topic: String, text: String, header: PublicationHeader)] = []
    var events: [MQTTEvent] = []
    var openProblem: String?
    var connectProblem: String?
    var isConnected = false
    var wantsWrite = false
    /// Hands QoS 0 messages over as written at once, as the library mostly does.
    var writesAtOnce = true
    private var lastID: Int32 = 0

    var options: LinkOptions?
    func change(to options: LinkOptions) { self.options = options }
    func open(broker: Int, as form: ConnectForm) -> String? {
        let will = (form.willIsRetained ? "" : ", will not retained") + (form.willQoS == 0 ? ", will of QoS 0" : "")
        log.append("open \(broker)\(form.version == .v311 ? " as 3.1.1" : "")\(will)")
        return openProblem
    }
    func connect() -> String? {
        log.append("connect")
        return connectProblem
    }
    func publish(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> HandOver {
        guard isConnected else { return .later }
        if header.topic.isEmpty { return .impossible }
        lastID += 1
        sent.append((lastID, header.topic, String(decoding: payload, as: UTF8.self), header))
        if header.qos == 0, writesAtOnce { events.append(.finished(id: lastID, reason: 0)) }
        return .taken(id: lastID)
    }
    var subscribed: [(id: Int32, filter: String)] = []
    var refusesFilters = false
    func subscribe(_ filter: String, isCheck: Bool) -> Int32? {
        guard !refusesFilters else { return nil }
        lastID += 1
        subscribed.append((lastID, filter))
        log.append("subscribe \(filter)\(isCheck ? " for a check" : "")")
        return lastID
    }
    func unsubscribe(_ filter: String) { log.append("unsubscribe \(filter)") }
    /// Answers all subscriptions.
    func answer(_ code: Int = 1) {
        for (id, _) in subscribed { events.append(.subscribed(id: id, code: code)) }
        subscribed.removeAll()
    }
    func abandon() {
        log.append("abandon")
        isConnected = false
    }
    func disconnect(keepsWill: Bool) {
        log.append(keepsWill ? "disconnect with will" : "disconnect")
        isConnected = false
    }
    func takeEvents(into events: inout [MQTTEvent]) {
        events.append(contentsOf: self.events)
        self.events.removeAll()
    }

    func accept(_ limits: BrokerLimits = BrokerLimits()) {
        isConnected = true
        events.append(.connected(limits))
    }
    func lose(_ reason: String = "reset", byPeer: Bool = true) {
        isConnected = false
        events.append(.lost(reason: reason, byPeer: byPeer))
    }
    func acknowledgeAll(reason: Int = 0) {
        for message in sent where message.header.qos > 0 { events.append(.finished(id: message.id, reason: reason)) }
    }
    var topics: [String] { sent.map(\.topic) }
}

extension MQTTConfiguration.ProtocolVersion {
    init(_ version: MQTTVersion) { self = version == .v5 ? .v5 : .v311 }
}

/// A core with a fake transport, a virtual clock and a list of what was reported.
final class Bench {
    let transport = FakeTransport()
    let store: SharedStore
    let core: LinkCore
    var now: UInt64 = 0
    private final class Reports {
        var all: [LinkEvent] = []
        var messages: [InboundMessage] = []
    }
    private let heard: Reports
    var reports: [LinkEvent] { heard.all }
    var received: [InboundMessage] { heard.messages }

    init(brokers: Int = 1, _ change: (inout LinkOptions) -> Void = { _ in }) {
        var options = LinkOptions(
            brokers: (0..<brokers).map { BrokerAddress(host: "b\($0)", port: 1883, tls: false) }, clientID: "c",
            presence: .init(topic: "s/online"))
        options.stateOrder = ["s/online", "s/info", "s/config", "s/schema", "s/summary", "s/health"]
        options.connection.mqtt.protocolVersion = .v5
        options.connection.mqtt.reconnectMinimum = 1
        options.connection.mqtt.reconnectMaximum = 1
        change(&options)
        let reports = Reports()
        heard = reports
        store = SharedStore(options: options)
        var random = SplitMix64(state: 3)
        core = LinkCore(
            options: options, store: store, transport: transport, random: AnyRandom { random.next() },
            report: { reports.all.append($0) }, receive: { reports.messages.append($0) })
    }

    func put(_ topic: String, _ text: String = "", qos: Int = 1, retain: Bool = false, _ priority: Priority = .trace) {
        let header = PublicationHeader(topic: topic, qos: qos, retain: retain, priority: priority)
        Array(text.utf8).withUnsafeBytes { bytes in store.withLock { $0.put(header, bytes, now: now) } }
    }

    func step(after nanoseconds: UInt64 = 0) {
        now += nanoseconds
        core.step(now: now)
    }

    func comeUp(_ limits: BrokerLimits = BrokerLimits()) {
        step()
        transport.accept(limits)
        step()
        #expect(core.life.isUp)
    }

    /// Loses the connection and gets the next one.
    func reconnect() {
        transport.lose()
        step()
        step(after: second)
        transport.accept()
        step()
    }

    /// Loses the connection, is refused by the same broker and gets one with the next of the list; what was sent before
    /// is forgotten.
    func moveOn() {
        transport.lose()
        step()
        transport.sent.removeAll()
        transport.connectProblem = "refused"
        step(after: second)
        transport.connectProblem = nil
        step()
        transport.accept()
        step()
    }
}

@Suite struct LinkCoreTests {
    @Test func nothingIsHandedOverUntilTheBrokerHasAccepted() {
        let bench = Bench()
        bench.put("e")
        bench.step()
        #expect(bench.transport.log == ["open 0", "connect"])
        #expect(bench.transport.sent.isEmpty)
        bench.transport.accept()
        bench.step()
        #expect(bench.transport.topics == ["s/online", "e"])
        #expect(bench.core.statistics.connects == 1)
        #expect(bench.core.statistics.published == 2)
    }

    @Test func theBirthIsInOrderAfterEachConnectAndHasTheLatestValues() {
        let bench = Bench()
        bench.put("s/health", "h1", retain: true, .state)
        bench.put("s/summary", "s1", qos: 0, retain: true, .state)
        bench.put("s/config", "c", retain: true)
        bench.put("s/info", "i", retain: true)
        bench.put("s/summary", "s2", qos: 0, retain: true, .state)
        bench.comeUp()
        #expect(bench.transport.sent.map(\.text) == ["online", "i", "c", "s2", "h1"])
        bench.transport.acknowledgeAll()
        bench.step()
        bench.transport.sent.removeAll()
        bench.put("s/health", "h2", retain: true, .state)
        bench.reconnect()
        #expect(bench.transport.sent.map(\.text) == ["online", "i", "c", "s2", "h2"])
    }

    @Test(arguments: [1, 5, 20, nil])
    func neverMoreUnacknowledgedThanTheReceiveMaximum(maximum: Int?) {
        let bench = Bench()
        for index in 0..<100 { bench.put("e\(index)") }
        var limits = BrokerLimits()
        limits.receiveMaximum = maximum
        bench.comeUp(limits)
        let window = maximum ?? 20
        #expect(bench.transport.sent.count == window)
        // One acknowledgement makes room for one message.
        bench.transport.events.append(.finished(id: 1, reason: 0))
        bench.step()
        #expect(bench.transport.sent.count == window + 1)
        while bench.core.statistics.acked < 101 {
            let before = bench.core.statistics.acked
            bench.transport.acknowledgeAll()
            bench.step()
            bench.transport.sent.removeAll { $0.id <= Int32(bench.core.statistics.acked) }
            guard bench.core.statistics.acked > before else {
                Issue.record("stuck at \(before)")
                return
            }
        }
        #expect(bench.core.statistics.inFlightPeak == window)
        #expect(bench.core.statistics.queueBytes == 0)
    }

    @Test func qos0IsHeldBackWhileTheSocketTakesNothing() {
        let bench = Bench()
        bench.comeUp()
        bench.transport.writesAtOnce = false
        for index in 0..<100 { bench.put("e\(index)", qos: 0) }
        bench.step()
        #expect(bench.transport.sent.count == 1 + LinkCore.defaultWindow)
        bench.transport.lose()
        bench.step()
        #expect(bench.core.statistics.lostInFlight == UInt64(LinkCore.defaultWindow))
        #expect(bench.core.statistics.queueMessages == 80)
    }

    @Test func acknowledgementsAreCountedByReason() {
        let bench = Bench()
        for index in 0..<5 { bench.put("e\(index)") }
        bench.comeUp()
        for (id, reason) in [(1, 0), (2, 16), (3, 135), (4, 135), (5, 151), (6, 0)] {
            bench.transport.events.append(.finished(id: Int32(id), reason: reason))
        }
        bench.step()
        #expect(bench.core.statistics.acked == 3)
        #expect(
            bench.core.statistics.refused == [
                .init(reason: 135, count: 2, topic: "e2"), .init(reason: 151, count: 1, topic: "e3"),
            ])
        #expect(bench.reports.contains(.refused(topic: "e1", reason: 135)))
    }

    @Test func aMessageLargerThanTheBrokerTakesIsCountedAndNotSent() {
        let bench = Bench()
        bench.put("large", String(repeating: "x", count: 1000))
        bench.put("small", "x")
        var limits = BrokerLimits()
        limits.maximumPacketSize = 500
        bench.comeUp(limits)
        #expect(bench.transport.topics == ["s/online", "small"])
        #expect(bench.core.statistics.tooLarge == 1)
        #expect(bench.reports.contains(.tooLarge(topic: "large", bytes: 1000)))
    }

    /// What the settings say holds where the broker says nothing, and where it says more; it needs no other connection.
    @Test func theSettingsLimitPacketsAsWell() {
        var limits = BrokerLimits()
        for said in [nil, 400, 600] as [Int?] {
            limits.maximumPacketSize = said
            let bench = Bench { $0.connection.mqtt.maximumPacket = 500 }
            var other = bench.core.options
            other.connection.mqtt.maximumPacket = 0
            #expect(!bench.core.options.needsNewConnection(for: other))
            bench.put("large", String(repeating: "x", count: 490))
            bench.comeUp(limits)
            #expect(bench.core.statistics.packetLimit == min(said ?? 500, 500))
            #expect(bench.core.statistics.tooLarge == 1)
        }
    }

    @Test func aMessageThatIsNoneIsCountedAndDoesNotBlock() {
        let bench = Bench()
        bench.put("")
        bench.put("good")
        bench.comeUp()
        #expect(bench.transport.topics == ["s/online", "good"])
        #expect(bench.core.statistics.refused == [.init(reason: 144, count: 1, topic: "")])
    }

    @Test func whatABrokerCannotDoIsNotAskedOfIt() throws {
        let bench = Bench()
        bench.put("s/info", retain: true)
        var limits = BrokerLimits()
        limits.maximumQoS = 0
        limits.retainAvailable = false
        bench.comeUp(limits)
        let info = try #require(bench.transport.sent.last)
        #expect(info.topic == "s/info")
        #expect(info.header.qos == 0)
        #expect(!info.header.retain)
    }

    @Test func unacknowledgedMessagesGoToTheNextBrokerWhenTheFirstIsGone() {
        let bench = Bench(brokers: 2)
        bench.put("e0")
        bench.put("e1")
        bench.comeUp()
        bench.transport.events.append(.finished(id: 2, reason: 0))
        bench.step()
        bench.moveOn()
        #expect(bench.transport.log.suffix(2) == ["open 1", "connect"])
        #expect(bench.transport.topics == ["s/online", "e1"])
    }

    /// With every connection Home Assistant heard again that a device of the form before is gone, and warned of it.
    @Test func aBrokerIsToldOnceThatATopicIsEmpty() {
        let bench = Bench(brokers: 2)
        bench.comeUp()
        bench.put("ha/old", "x", retain: true)
        bench.put("ha/new", "y", retain: true)
        bench.put("ha/old", "", retain: true)
        bench.step()
        #expect(bench.transport.sent.map { $0.topic + $0.text } == ["s/onlineonline", "ha/old", "ha/newy"])
        bench.transport.acknowledgeAll()
        bench.step()
        bench.transport.sent.removeAll()
        bench.reconnect()
        #expect(bench.transport.topics == ["s/online", "ha/new"])
        bench.transport.acknowledgeAll()
        bench.step()
        // Another may have the old value.
        bench.moveOn()
        #expect(bench.transport.log.suffix(2) == ["open 1", "connect"])
        #expect(bench.transport.topics == ["s/online", "ha/old", "ha/new"])
    }

    /// The handle of a connection keeps its limits, so that the next has another, which knows nothing of what was on its
    /// way.
    @Test func withTheSameBrokerTheyAreSentAgainAsWellByAHandleOfItsOwn() {
        let bench = Bench()
        bench.put("e0")
        bench.comeUp()
        bench.transport.sent.removeAll()
        bench.reconnect()
        #expect(bench.transport.log == ["open 0", "connect", "open 0", "connect"])
        #expect(bench.transport.topics == ["s/online", "e0"])
        bench.transport.acknowledgeAll()
        bench.step()
        #expect(bench.core.statistics.acked == 2)
        #expect(bench.core.session.inFlight.isEmpty && bench.core.isIdle)
    }

    @Test func anOrderlyStopEmptiesTheQueueSaysOfflineAndThenDisconnects() {
        let bench = Bench()
        bench.comeUp()
        for index in 0..<50 { bench.put("e\(index)") }
        bench.core.handle(.stop(within: 5 * second), now: bench.now)
        bench.step()
        for _ in 0..<10 where !bench.core.life.isStopped {
            #expect(!bench.transport.log.contains("disconnect"))
            bench.transport.acknowledgeAll()
            bench.step()
        }
        #expect(bench.core.life.isStopped)
        #expect(bench.transport.sent.count == 52)
        #expect(bench.transport.sent.last?.text == "offline")
        #expect(bench.transport.sent.last?.header.retain == true)
        #expect(bench.transport.log.last == "disconnect")
    }

    @Test func anOrderlyStopDoesNotWaitLongerThanItMay() {
        let bench = Bench()
        bench.comeUp()
        for index in 0..<50 { bench.put("e\(index)") }
        bench.core.handle(.stop(within: 5 * second), now: bench.now)
        bench.step()
        #expect(bench.core.deadline == bench.now + 5 * second / 10 * 9)
        bench.step(after: 5 * second / 10 * 9)
        #expect(bench.transport.sent.last?.text == "offline")
        #expect(!bench.core.life.isStopped)
        bench.step(after: second / 2)
        #expect(bench.core.life.isStopped)
        #expect(bench.transport.log.last == "disconnect")
    }

    /// A defect: `offline` went out with QoS 1 and retained whatever the broker takes, the library refused it, and after
    /// the DISCONNECT no last will said it either.
    @Test func offlineIsSaidAsTheBrokerTakesIt() throws {
        let bench = Bench()
        var limits = BrokerLimits()
        (limits.maximumQoS, limits.retainAvailable) = (0, false)
        bench.comeUp(limits)
        bench.core.handle(.stop(within: 5 * second), now: bench.now)
        bench.step()
        let offline = try #require(bench.transport.sent.last)
        #expect(offline.text == "offline")
        #expect(offline.header.qos == 0 && !offline.header.retain)
        #expect(bench.core.life.isStopped)
        #expect(bench.transport.log.last == "disconnect")
    }

    @Test func aStopWithoutConnectionIsOverAtOnce() {
        let bench = Bench()
        bench.step()
        bench.core.handle(.stop(within: 5 * second), now: bench.now)
        bench.step()
        #expect(bench.core.life.isStopped)
        #expect(bench.transport.log.last == "abandon")
    }

    @Test func whyItIsDownAndWhenItIsTriedAgainIsReported() {
        let bench = Bench()
        bench.transport.connectProblem = "Connection refused"
        bench.step()
        let broker = BrokerAddress(host: "b0", port: 1883, tls: false)
        #expect(
            bench.reports == [
                .connecting(broker), .disconnected(broker, reason: "Connection refused", retryIn: 1),
            ])
        #expect(bench.core.statistics.failedAttempts == 1)
        bench.transport.connectProblem = nil
        bench.step(after: second)
        bench.step(after: 10 * second)
        #expect(bench.reports.last == .disconnected(broker, reason: "no CONNACK within 10 s", retryIn: 1))
        #expect(bench.core.statistics.failedAttempts == 2)
    }
}
