import Foundation
import Glibc
import Messages
import Settings
import TestSupport
import Testing

@testable import MQTT

/// A connection, driven as its owners do it, and all that it has told.
final class Driven {
    let connection: MQTTConnection
    private(set) var events: [MQTTEvent] = []

    /// - Parameter change: of the options before the attempt.
    init(
        port: Int, _ version: MQTTVersion = .v5, id: String = "driven", waiting: Bool = true,
        credentials: (name: String, password: String)? = nil,
        change: (inout ConnectionOptions) -> Void = { _ in }
    ) throws {
        let broker = BrokerAddress(host: "127.0.0.1", port: port, tls: false)
        var options = ConnectionOptions(brokers: [broker], clientID: id)
        (options.mqtt.protocolVersion, options.inboundBytes) = (version == .v5 ? .v5 : .v311, 1000)
        if let credentials { (options.mqtt.username, options.mqtt.password) = credentials }
        change(&options)
        connection = try MQTTConnection(options, to: options.brokers[0])
        if waiting { try connection.connectWaiting() } else { try connection.connect(from: nil) }
    }

    /// One turn of a loop around `poll`.
    func turn(milliseconds: Int32 = 20) {
        var watched = pollfd(fd: connection.socket, events: Int16(POLLIN), revents: 0)
        if connection.wantsWrite { watched.events |= Int16(POLLOUT) }
        if poll(&watched, 1, milliseconds) > 0, watched.fd >= 0 {
            connection.socketReady(
                readable: watched.revents & Int16(POLLIN) != 0,
                error: watched.revents & Int16(POLLERR | POLLHUP) != 0)
        }
        connection.checkSocket()
        connection.takeEvents(into: &events)
    }

    /// Turns until something is found in an event.
    func await<R>(within seconds: Double = 10, _ find: (MQTTEvent) -> R?) -> R? {
        var found: R?
        _ = eventually(within: seconds) {
            turn()
            found = events.lazy.compactMap(find).first
            return found != nil
        }
        return found
    }

    var limits: BrokerLimits? { self.await { if case .connected(let limits) = $0 { limits } else { nil } } }
    var loss: (reason: String, byPeer: Bool, code: Int)? {
        self.await {
            if case .lost(let reason, let byPeer, let code, _) = $0 { (reason, byPeer, code) } else { nil }
        }
    }
    var refusal: (code: Int, reason: String)? {
        self.await { if case .refused(let code, let reason) = $0 { (code, reason) } else { nil } }
    }

    func reason(of id: Int32) -> Int? {
        self.await { if case .finished(id, let reason) = $0 { reason } else { nil } }
    }
    func grant(of id: Int32) -> Int? {
        self.await { if case .subscribed(id, let code) = $0 { code } else { nil } }
    }
    func message(on topic: String) -> InboundMessage? {
        self.await { if case .message(let message) = $0, message.topic == topic { message } else { nil } }
    }

    func subscribe(_ filter: String, _ how: SubscriptionOptions = .init()) throws -> Int? {
        grant(of: try connection.subscribe(filter, how))
    }

    /// Publishes with all properties that there are.
    func publish(_ topic: String, _ text: String, qos: Int = 1, retain: Bool = false, _ version: MQTTVersion) throws
        -> Int32
    {
        var properties = MQTTProperties(version)
        properties.add(contentType: .cbor)
        properties.add(responseTopic: "answers/here")
        properties.add(correlation: [0, 255, 7])
        properties.add(expiry: 500)
        properties.add(name: "hist", value: "1")
        return try connection.publish(topic, Array(text.utf8), qos: qos, retain: retain, properties)
    }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct MQTTConnectionTests {
    static let versions = [MQTTVersion.v5, .v311]

    // MARK: callbacks

    @Test(arguments: versions, [true, false]) func whatABrokerAnswersIsTold(version: MQTTVersion, waiting: Bool) throws
    {
        let broker = try Broker("max_inflight_messages 7\nmax_packet_size 5000\nmax_keepalive 20\n")
        let client = try Driven(port: broker.port, version, waiting: waiting)
        #expect(client.connection.isConnecting)
        let limits = try #require(client.limits)
        #expect(!client.connection.isConnecting && !client.connection.hasFailedLate)
        #expect(!limits.sessionPresent)
        // 3.1.1 has no words for the rest.
        #expect(limits.receiveMaximum == (version == .v5 ? 7 : nil))
        #expect(limits.maximumPacketSize == (version == .v5 ? 5000 : nil))
        #expect(limits.serverKeepalive == (version == .v5 ? 20 : nil))
        #expect(try client.subscribe("t/#") == 1)
        let id = try client.publish("t/a", "x", version)
        #expect(client.reason(of: id) == 0)
        #expect(client.message(on: "t/a")?.payload == Array("x".utf8))
        #expect(client.events.contains(.heard))
        // Sent is over, where nobody acknowledges.
        let unacknowledged = try client.publish("t/b", "y", qos: 0, version)
        #expect(client.reason(of: unacknowledged) == 0)
        client.connection.unsubscribe("t/#")
        #expect(client.reason(of: try client.publish("t/c", "z", version)) != nil)
        #expect(
            !client.events.contains { if case .message(let message) = $0 { message.topic == "t/c" } else { false } })
    }

    @Test func reasonsAreThoseOfTheBroker() throws {
        let broker = try Broker("acl_file %/acl\n", files: ["acl": "topic read allowed\ntopic write allowed\n"])
        let modern = try Driven(port: broker.port)
        #expect(modern.limits != nil)
        #expect(modern.reason(of: try modern.publish("forbidden", "x", .v5)) == 135)
        #expect(modern.reason(of: try modern.publish("allowed", "x", .v5)) == 16)
        // What may not be written looks to 3.1.1 as if it had been.
        let old = try Driven(port: broker.port, .v311, id: "old")
        #expect(old.limits != nil)
        #expect(old.reason(of: try old.publish("forbidden", "x", .v311)) == 0)
    }

    @Test(arguments: versions) func aRefusalIsToldInWords(version: MQTTVersion) throws {
        let broker = try Broker("allow_anonymous false\n")
        let client = try Driven(port: broker.port, version)
        let refusal = try #require(client.refusal)
        #expect(refusal.code == (version == .v5 ? 135 : 5))
        #expect(refusal.reason.lowercased().contains("authori"), "\(refusal.reason)")
        #expect(client.loss != nil)
        #expect(client.connection.socket < 0)
    }

    @Test(arguments: versions) func userAndPasswordGetIn(version: MQTTVersion) throws {
        let broker = try Broker(
            "allow_anonymous false\npassword_file %/passwords\n", files: ["passwords": "board:geheim\n"])
        let hash = try ChildProcess("/usr/bin/mosquitto_passwd", ["-U", broker.folder.path("passwords")])
        #expect(hash.wait(within: 10) == 0)
        broker.kill()
        try broker.start()
        for (password, isRight) in [("geheim", true), ("falsch", false)] {
            let client = try Driven(port: broker.port, version, credentials: ("board", password))
            if isRight { #expect(client.limits != nil) } else { #expect(client.refusal != nil) }
        }
    }

    // MARK: properties

    @Test(arguments: versions) func propertiesArriveWith5AndAreNotThereWithout(version: MQTTVersion) throws {
        let broker = try Broker()
        let outsider = try Subscriber(port: broker.port, ["p/#"])
        let reader = try Driven(port: broker.port, id: "reader")
        #expect(reader.limits != nil)
        #expect(try reader.subscribe("p/#") == 1)
        let client = try Driven(port: broker.port, version)
        #expect(client.limits != nil)
        _ = try client.publish("p/all", "x", version)
        let is5 = version == .v5
        let message = try #require(reader.message(on: "p/all"))
        #expect(message.contentType == (is5 ? "application/cbor" : nil))
        #expect(message.responseTopic == (is5 ? "answers/here" : nil))
        #expect(message.correlation == (is5 ? [0, 255, 7] : nil))
        // Of who reads, not of who has sent.
        #expect(message.hasProperties)
        let heard = try #require(outsider.first { $0.topic == "p/all" })
        #expect(heard.expiry.map { (490...500).contains($0) } == (is5 ? true : nil))
        #expect(heard.isHistory == is5)
    }

    @Test func aMessageReadWith3HasNoProperties() throws {
        let broker = try Broker()
        let reader = try Driven(port: broker.port, .v311, id: "reader")
        #expect(reader.limits != nil)
        #expect(try reader.subscribe("p/#") == 1)
        let client = try Driven(port: broker.port)
        #expect(client.limits != nil)
        _ = try client.publish("p/all", "x", .v5)
        let message = try #require(reader.message(on: "p/all"))
        #expect(!message.hasProperties && message.contentType == nil && message.correlation == nil)
    }

    @Test(arguments: [ContentType.text, .json, .cbor, .mseed]) func eachContentHasItsName(content: ContentType) throws {
        let broker = try Broker()
        let client = try Driven(port: broker.port)
        #expect(client.limits != nil)
        #expect(try client.subscribe("c") == 1)
        var properties = MQTTProperties(.v5)
        properties.add(contentType: content)
        _ = try client.connection.publish("c", [1], qos: 1, retain: false, properties)
        #expect(client.message(on: "c")?.contentType == content.rawValue)
    }

    // MARK: will, session, subscriptions

    @Test(arguments: versions) func theWillIsSaidWhenTheClientIsGone(version: MQTTVersion) throws {
        let broker = try Broker()
        let outsider = try Subscriber(port: broker.port, ["w"])
        do {
            let client = try Driven(port: broker.port, version) {
                $0.will = .init(topic: "w", payload: Array("gone".utf8))
                $0.will?.contentType = .text
            }
            #expect(client.limits != nil)
            client.connection.abandon()
            #expect(client.connection.socket == -1)
        }
        let will = try #require(outsider.first { $0.topic == "w" })
        #expect(will.text == "gone" && will.qos == 1)
        #expect(will.contentType == (version == .v5 ? "text/plain" : nil))
        let late = try Subscriber(port: broker.port, ["w"])
        #expect(late.first { $0.topic == "w" }?.retained == true)
    }

    @Test func aWillThatIsDelayedIsNotSaidToWhoIsBackInTime() throws {
        let broker = try Broker()
        let outsider = try Subscriber(port: broker.port, ["w", "mark"])
        func client() throws -> Driven {
            try Driven(port: broker.port) {
                $0.will = .init(topic: "w", payload: Array("gone".utf8))
                $0.will?.delay = 3
                ($0.isClean, $0.sessionExpiry) = (false, 60)
            }
        }
        var first: Driven? = try client()
        #expect(first?.limits?.sessionPresent == false)
        #expect(try first?.subscribe("s/#") == 1)
        first?.connection.abandon()
        first = nil
        let second = try client()
        #expect(second.limits?.sessionPresent == true)
        // A good-bye that keeps the will is none to the broker.
        #expect(!outsider.messages.contains { $0.topic == "w" })
        second.connection.disconnect(keepsWill: true)
        second.turn()
        #expect(outsider.first { $0.topic == "w" } != nil)
    }

    @Test(arguments: versions) func aGoodByeTakesTheWillAlong(version: MQTTVersion) throws {
        let broker = try Broker()
        let outsider = try Subscriber(port: broker.port, ["w", "mark"])
        let client = try Driven(port: broker.port, version) { $0.will = .init(topic: "w", payload: [1]) }
        #expect(client.limits != nil)
        client.connection.disconnect()
        #expect(client.loss?.byPeer == false)
        let marker = try Driven(port: broker.port, id: "marker")
        #expect(marker.limits != nil)
        _ = try marker.publish("mark", "x", .v5)
        #expect(outsider.first { $0.topic == "mark" } != nil)
        #expect(!outsider.messages.contains { $0.topic == "w" })
    }

    @Test func subscriptionsAreAsAsked() throws {
        let broker = try Broker()
        let other = try Driven(port: broker.port, id: "other")
        #expect(other.limits != nil)
        #expect(other.reason(of: try other.publish("r/kept", "old", retain: true, .v5)) != nil)
        let client = try Driven(port: broker.port)
        #expect(client.limits != nil)
        var how = SubscriptionOptions()
        (how.wantsRetained, how.keepsRetained, how.isWithoutOwn) = (false, true, true)
        #expect(try client.subscribe("r/#", how) == 1)
        #expect(client.reason(of: try client.publish("r/own", "x", .v5)) != nil)
        _ = try other.publish("r/new", "x", retain: true, .v5)
        #expect(client.message(on: "r/new")?.isRetained == true)
        for event in client.events {
            if case .message(let message) = event { #expect(message.topic == "r/new") }
        }
        #expect(try other.subscribe("r/#") == 1)
        #expect(other.message(on: "r/kept")?.isRetained == true)
    }

    // MARK: limits and failures

    @Test func ofALargeMessageThereIsOnlyTheSize() throws {
        let broker = try Broker()
        let client = try Driven(port: broker.port)
        #expect(client.limits != nil)
        #expect(try client.subscribe("l") == 1)
        _ = try client.connection.publish("l", [UInt8](repeating: 1, count: 1001), qos: 1, retain: false, .init(.v5))
        let message = try #require(client.message(on: "l"))
        #expect(message.payload.isEmpty && message.size == 1001 && message.isTooLarge)
    }

    @Test func theBrokerSendsNothingLargerThanAsked() throws {
        let broker = try Broker()
        let client = try Driven(port: broker.port) { $0.maximumPacketSize = 200 }
        #expect(client.limits != nil)
        #expect(try client.subscribe("l/#") == 1)
        for (topic, size) in [("l/large", 300), ("l/small", 10)] {
            _ = try client.connection.publish(
                topic, [UInt8](repeating: 1, count: size), qos: 1, retain: false, .init(.v5))
        }
        #expect(client.message(on: "l/small") != nil)
        #expect(!client.events.contains { if case .message(let one) = $0 { one.topic == "l/large" } else { false } })
    }

    @Test func whatCannotBeSentHasACause() throws {
        let broker = try Broker("max_packet_size 500\n")
        let client = try Driven(port: broker.port)
        func cause(_ topic: String, _ count: Int) -> MQTTFailure.Cause? {
            do throws(MQTTFailure) {
                _ = try client.connection.publish(
                    topic, [UInt8](repeating: 1, count: count), qos: 1, retain: false, .init(.v5))
                return nil
            } catch { return error.cause }
        }
        // Not before the broker has answered: the library would keep it.
        #expect(cause("a", 1) == .connection)
        #expect(client.limits != nil)
        #expect(cause("a", 1000) == .tooLarge)
        #expect(cause("a/#", 1) == .content)
        #expect(cause("a", 1) == nil)
        #expect(throws: MQTTFailure.self) { try client.connection.subscribe("a/#/b") }
        client.connection.abandon()
        #expect(cause("a", 1) == .connection)
    }

    @Test(arguments: [true, false]) func aPortThatNobodyListensOnIsRefused(waiting: Bool) throws {
        let port = try FreePort.find()
        do {
            let client = try Driven(port: port, waiting: waiting)
            #expect(client.loss?.reason == "Connection refused")
            #expect(client.connection.hasFailedLate)
        } catch let failure as MQTTFailure {
            #expect(failure == MQTTFailure(cause: .connection, description: "Connection refused"))
        }
    }

    @Test(arguments: versions) func aBrokerThatIsKilledHasHungUp(version: MQTTVersion) throws {
        let broker = try Broker()
        let client = try Driven(port: broker.port, version)
        #expect(client.limits != nil)
        broker.kill()
        let loss = try #require(client.loss)
        #expect(loss.byPeer && loss.code == 0)
        #expect(client.connection.socket == -1 && !client.connection.hasFailedLate)
    }

    /// Another client has come with the same id (MQTT 5).
    @Test func theReasonOfADisconnectIsTold() throws {
        let broker = try DeadlyBroker(packet: "e0028e00")
        let client = try Driven(port: broker.port)
        #expect(client.limits != nil)
        let loss = try #require(client.loss)
        #expect(loss.code == 142 && loss.byPeer)
        #expect(loss.reason.lowercased().contains("taken over"), "\(loss.reason)")
    }

    /// A property that does not exist, which would end the process with some versions of the library; in the answer to the
    /// CONNECT it looks as if the broker had no MQTT 5.
    @Test func aMalformedAnswerIsOneOfAnOldBroker() throws {
        let broker = try DeadlyBroker()
        let client = try Driven(port: broker.port)
        let refusal = try #require(client.refusal)
        #expect(refusal.code == 1 && refusal.reason == "the answer is not one of MQTT 5")
        #expect(client.connection.socket == -1)
    }

    @Test func aHungBrokerIsNoticedByTheKeepalive() throws {
        let broker = try Broker()
        let client = try Driven(port: broker.port) { $0.mqtt.keepalive = 5 }
        #expect(client.limits != nil)
        broker.freeze()
        defer { broker.thaw() }
        var wasLost = false
        _ = eventually(within: 30) {
            client.turn(milliseconds: 200)
            client.connection.tick()
            wasLost = client.events.contains { if case .lost = $0 { true } else { false } }
            return wasLost
        }
        #expect(wasLost)
    }

    /// A client of libmosquitto has a pair of sockets even before it connects.
    @Test func whatCannotBeMadeLeavesNoFilesOpen() throws {
        func files() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        func fail(_ change: (inout ConnectionOptions) -> Void) {
            #expect(throws: MQTTFailure.self) { try Driven(port: 1, change: change) }
        }
        let before = try files()
        for _ in 0..<50 {
            fail { $0.will = .init(topic: "not/#/allowed", payload: []) }
            fail {
                $0.brokers[0].tls = true
                $0.mqtt.tls.caFile = "/no/such/file"
            }
        }
        #expect(try files() < before + 30)
    }
}
