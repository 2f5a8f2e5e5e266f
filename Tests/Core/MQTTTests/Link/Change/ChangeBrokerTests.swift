import Foundation
import Messages
import Platform
import TestSupport
import Testing

@testable import MQTT

/// Publishes one numbered essential message every 10 ms, as an agent does, below the base of the moment.
final class Flow: Sendable {
    private struct State {
        var base = "seismote/board"
        var sent: [String: [Int]] = [:]
        var count = 0
        var ended = false
    }
    private let state = Mutex(State())
    private let finished = DispatchSemaphore(value: 0)

    init(_ board: RealLink) {
        Thread.detachNewThread { [self] in
            while let (topic, number) = next() {
                board.publish(topic, "\(number)", .essential)
                usleep(10_000)
            }
            finished.signal()
        }
    }

    private func next() -> (String, Int)? {
        state.withLock { state in
            guard !state.ended else { return nil }
            state.count += 1
            state.sent[state.base, default: []].append(state.count)
            return ("\(state.base)/event/trigger", state.count)
        }
    }

    var base: String {
        get { state.withLock { $0.base } }
        set { state.withLock { $0.base = newValue } }
    }

    /// Waits for so many more.
    func goOn(_ messages: Int) -> Bool {
        let before = state.withLock { $0.count }
        return eventually(within: 20) { state.withLock { $0.count } >= before + messages }
    }

    /// No more from here on; hands back the numbers that were published below a base.
    func end(_ base: String = "seismote/board") -> [Int] {
        state.withLock { $0.ended = true }
        finished.wait()
        return state.withLock { $0.sent[base] ?? [] }
    }
}

/// Changes of a live link between real brokers.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ChangeBrokerTests {
    private func numbers(_ listener: Subscriber, _ base: String = "seismote/board") -> [Int] {
        listener.messages(on: "\(base)/event/trigger").compactMap { Int($0.text) }
    }

    private func presence(_ listener: Subscriber, _ base: String = "seismote/board") -> [String] {
        listener.messages(on: "\(base)/state/online").map(\.text)
    }

    /// Publishes all the time, changes to something that does not work and back; every message arrives once and in order.
    private func thereAndBack(
        _ board: RealLink, _ listener: Subscriber, _ what: String, _ wrong: (inout LinkOptions) -> Void
    ) throws {
        let keeper = ArrayKeeper(board.link)
        defer { keeper.end() }
        board.publish("seismote/board/state/info", "i", retain: true, .essential)
        #expect(board.connected())
        let flow = Flow(board)
        #expect(flow.goOn(20))
        let failed = board.link.statistics.failedAttempts
        let wrongNumber = try board.change(wrong)
        #expect(eventually { board.link.statistics.failedAttempts > failed })
        #expect(!board.link.statistics.connected)
        #expect(flow.goOn(50))
        let began = Date()
        let number = try board.change()
        #expect(number > wrongNumber)
        #expect(board.connected(within: 10))
        print("\(what): connected again after \(Date().timeIntervalSince(began)) s")
        #expect(board.link.statistics.connections > number)
        #expect(flow.goOn(20))
        let sent = flow.end()
        #expect(eventually { numbers(listener).last == sent.last })
        #expect(numbers(listener) == sent)
        #expect(presence(listener) == ["online", "offline", "online"])
        #expect(board.link.statistics.dropped.total == 0)
        #expect(eventually { keeper.state.withLock { $0.disk.isEmpty } })
    }

    @Test(arguments: BrokerTests.versions) func aWrongAddressAndBack(version: MQTTVersion) throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.keepsEssential = true
        }
        let nobody = try FreePort.find()
        try thereAndBack(board, listener, "wrong address") { $0.connection.brokers[0].port = nobody }
    }

    @Test(arguments: BrokerTests.versions) func aRefusedUserAndBack(version: MQTTVersion) throws {
        let folder = try TemporaryFolder()
        let passwords = folder.path("passwords")
        let made = try ChildProcess("/usr/bin/mosquitto_passwd", ["-c", "-b", passwords, "board", "right"])
        #expect(made.wait(within: 10) == 0)
        let broker = try Broker("allow_anonymous false\npassword_file \(passwords)")
        let listener = try Subscriber(port: broker.port, username: "board", password: "right")
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.keepsEssential = true
            $0.connection.mqtt.username = "board"
            $0.connection.mqtt.password = "right"
        }
        try thereAndBack(board, listener, "refused user") { $0.connection.mqtt.password = "wrong" }
        #expect(board.link.statistics.credentialRefusals > 0)
        #expect(!board.link.statistics.isRefused)
    }

    @Test(arguments: BrokerTests.versions) func aWrongAuthorityAndBack(version: MQTTVersion) throws {
        let plain = try FreePort.find()
        let broker = try TLSTests.broker(TLSTests.lines + "listener \(plain) 127.0.0.1\n")
        let listener = try Subscriber(port: plain)
        let board = try RealLink(port: broker.port, tls: true) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.keepsEssential = true
            $0.connection.mqtt.tls.caFile = broker.folder.path("good.crt")
        }
        try thereAndBack(board, listener, "wrong authority") {
            $0.connection.mqtt.tls.caFile = broker.folder.path("other.crt")
        }
    }

    @Test(arguments: BrokerTests.versions) func aBaseThatTheBrokerForbidsAndBack(
        version: MQTTVersion
    ) throws {
        let broker = try Broker("acl_file %/acl", files: ["acl": "topic readwrite seismote/#\ntopic read #\n"])
        let listener = try Subscriber(port: broker.port)
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.keepsEssential = true
            $0.base = "seismote/board"
        }
        let keeper = ArrayKeeper(board.link)
        defer { keeper.end() }
        board.publish("seismote/board/state/info", "i", retain: true, .essential)
        #expect(board.connected())
        let flow = Flow(board)
        #expect(flow.goOn(20))
        let connects = board.link.statistics.connects
        try board.change {
            $0.base = "other/board"
            $0.presence.topic = "other/board/state/online"
        }
        // For a moment the agent's other threads go on with the old topics.
        #expect(flow.goOn(3))
        flow.base = "other/board"
        #expect(eventually { board.link.statistics.connects > connects })
        #expect(flow.goOn(50))
        if version == .v5 {
            #expect(eventually { board.link.statistics.deniedTopics.contains("other/board/event/trigger") })
        }
        #expect(listener.messages(on: "seismote/board/state/info").last?.text == "")
        #expect(presence(listener) == ["online", "offline"])
        try board.change()
        flow.base = "seismote/board"
        #expect(eventually { board.link.statistics.connects > connects + 1 })
        #expect(flow.goOn(20))
        let sent = flow.end()
        #expect(eventually { numbers(listener).last == sent.last })
        #expect(numbers(listener) == sent)
        #expect(presence(listener) == ["online", "offline", "online"])
        #expect(listener.messages(on: "seismote/board/state/info").last?.text == "i")
        #expect(listener.messages.allSatisfy { $0.topic.hasPrefix("seismote/") })
        #expect(board.link.statistics.deniedTopics.isEmpty)
    }

    @Test(arguments: BrokerTests.versions) func anotherBaseLeavesNoGhostBehind(
        version: MQTTVersion
    ) throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.base = "seismote/board"
        }
        for name in ["info", "summary", "alert/x"] {
            board.publish("seismote/board/state/\(name)", name, qos: name == "summary" ? 0 : 1, retain: true, .state)
        }
        #expect(board.acked(3))
        try board.change {
            $0.base = "school/board"
            $0.presence.topic = "school/board/state/online"
        }
        #expect(eventually { board.link.statistics.connects == 2 && board.link.statistics.inFlight == 0 })
        let late = try Subscriber(port: broker.port)
        #expect(eventually { late.messages.count >= 5 })
        let heard = Dictionary(late.messages.map { ($0.topic, $0.text) }) { $1 }
        #expect(
            heard == [
                "seismote/board/state/online": "offline", "school/board/state/online": "online",
                "school/board/state/info": "info", "school/board/state/summary": "summary",
                "school/board/state/alert/x": "alert/x",
            ])
    }

    @Test func aBrokerThatHangsDoesNotHoldTheChangeUp() throws {
        let (first, second) = (try Broker(), try Broker())
        let listener = try Subscriber(port: second.port)
        let board = try RealLink(port: first.port) { $0.keepsEssential = true }
        let keeper = ArrayKeeper(board.link)
        defer { keeper.end() }
        #expect(board.connected())
        first.freeze()
        for index in 0..<100 { board.publish("seismote/board/event/trigger", "\(index)", .essential) }
        #expect(eventually { board.link.statistics.inFlight > 0 })
        let watch = Stopwatch()
        try board.change { $0.connection.brokers[0].port = second.port }
        #expect(eventually { numbers(listener).count == 100 })
        print("half-open: all on the other broker after \(watch.seconds) s")
        #expect(watch.seconds < 6)
        #expect(numbers(listener) == Array(0..<100))
        first.thaw()
    }

    @Test func manyChangesAndAStopLoseNothing() throws {
        let (first, second) = (try Broker(), try Broker())
        let listeners = [try Subscriber(port: first.port), try Subscriber(port: second.port)]
        let board = try RealLink(port: first.port) { $0.keepsEssential = true }
        let keeper = ArrayKeeper(board.link)
        defer { keeper.end() }
        #expect(board.connected())
        let flow = Flow(board)
        for round in 0..<20 {
            try board.change { $0.connection.brokers[0].port = round % 2 == 0 ? second.port : first.port }
            // Some of them while the one before is still under way.
            if round % 3 == 0 { #expect(flow.goOn(round)) }
        }
        #expect(flow.goOn(10))
        try board.change { $0.connection.brokers[0].port = second.port }
        let sent = flow.end()
        #expect(board.link.stop(within: 5))
        let heard = listeners.flatMap { numbers($0) }
        // A stop while there is no connection leaves the rest with the keeper.
        let kept = keeper.state.withLock { state in
            state.disk.values.compactMap { Int(String(decoding: $0.payload, as: UTF8.self)) }
        }
        #expect(Set(heard).union(kept) == Set(sent))
        #expect(board.link.statistics.dropped.total == 0)
    }

    @Test func theLastWillIsHeldBackWhenOnlyCredentialsChange() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let board = try RealLink(port: broker.port) { $0.connection.mqtt.willDelay = 15 }
        #expect(board.connected())
        try board.change { $0.connection.mqtt.username = "somebody" }
        #expect(eventually { board.link.statistics.connects == 2 && board.link.statistics.inFlight == 0 })
        // What the new connection says comes after all that the end of the old one has caused.
        board.publish("seismote/board/data/trace", "after")
        #expect(listener.first { $0.text == "after" } != nil)
        #expect(!presence(listener).contains("offline"))
    }

    @Test func theLastWillSpeaksWhenTheNewCredentialsAreRefused() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let board = try RealLink(port: broker.port) { $0.connection.mqtt.willDelay = 1 }
        #expect(board.connected())
        #expect(listener.first { $0.text == "online" } != nil)
        // The broker answers nothing that this connects to.
        let missing = "/nonexistent/password"
        try board.change {
            $0.connection.mqtt.username = "somebody"
            $0.connection.mqtt.passwordFile = missing
        }
        #expect(listener.first { $0.text == "offline" } != nil)
        #expect(!board.link.statistics.connected)
    }
}
