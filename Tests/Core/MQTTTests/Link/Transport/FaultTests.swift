import Foundation
import Messages
import TestSupport
import Testing

@testable import MQTT

/// What goes wrong in the field, with real sockets.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FaultTests {
    @Test(arguments: BrokerTests.versions) func aWrongPasswordIsNotTriedAgainAndAgain(
        version: MQTTVersion
    ) throws {
        let folder = try TemporaryFolder()
        let passwords = folder.path("passwords")
        let made = try ChildProcess("/usr/bin/mosquitto_passwd", ["-c", "-b", passwords, "board", "right"])
        #expect(made.wait(within: 10) == 0)
        let broker = try Broker("allow_anonymous false\npassword_file \(passwords)")
        let secret = try folder.write("secret", "wrong\n")
        let began = Date()
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.connection.mqtt.username = "board"
            $0.connection.mqtt.passwordFile = secret
            $0.connection.mqtt.reconnectMinimum = 0.05
            $0.connection.mqtt.reconnectMaximum = 3
        }
        #expect(eventually { board.link.statistics.failedAttempts == 1 })
        guard case .disconnected(_, let reason, let pause) = board.reports.last else {
            Issue.record("not reported: \(board.reports)")
            return
        }
        // The longest pause at once or a little less, not the shortest.
        #expect(pause > 2.2 && pause <= 3)
        #expect(!reason.contains("wrong"))
        // A corrected file is read at the next attempt, which comes after that pause.
        try folder.write("secret", "right\n")
        #expect(board.connected(within: 10))
        #expect(board.attempts == 2)
        #expect(Date().timeIntervalSince(began) > 2.2)
    }

    @Test(arguments: [false, true]) func aRefusedPortDoesNotSpin(tls: Bool) throws {
        let port = try FreePort.find()
        let board = try RealLink(port: port, tls: tls) {
            $0.connection.mqtt.reconnectMinimum = 0.1
            $0.connection.mqtt.reconnectMaximum = 0.2
        }
        let effort = LinkEffort()
        #expect(eventually(within: 20) { board.link.statistics.failedAttempts >= 12 })
        print("refused port, tls \(tls): \(effort.used) s of processor time for 12 attempts")
        // Attempts take at least 0.1 s each; a loop that spins would use all of that.
        #expect(effort.isBelow(0.3))
        // (Some of them were told as a reset with TLS, where OpenSSL had taken the socket's error.)
        let reasons = board.reports.compactMap { report in
            if case .disconnected(_, let reason, _) = report { reason } else { nil as String? }
        }
        #expect(reasons.count >= 11 && reasons.allSatisfy { $0.contains("refused") }, "\(Set(reasons))")
    }

    /// A server that takes the connection and never says a word.
    @Test(arguments: [false, true]) func aSilentServerIsGivenUpAndDoesNotSpin(tls: Bool) throws {
        let port = try FreePort.find()
        let silent = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                "import socket,time\ns=socket.socket()\ns.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)\n"
                    + "s.bind(('127.0.0.1',\(port)))\ns.listen(50)\nkeep=[]\nprint('ready',flush=True)\n"
                    + "while True: keep.append(s.accept())",
            ])
        #expect(eventually { silent.output.contains("ready") })
        let effort = LinkEffort()
        let board = try RealLink(port: port, tls: tls) { $0.connection.connectTimeout = 1 }
        #expect(eventually { board.link.statistics.failedAttempts >= 3 })
        print("silent server, tls \(tls): \(effort.used) s of processor time for 3 attempts of 1 s")
        #expect(effort.isBelow(0.6))
    }

    @Test(arguments: BrokerTests.versions) func aHungBrokerIsFoundByKeepalive(version: MQTTVersion)
        throws
    {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.connection.connectTimeout = 2
        }
        // (That it is online has to be acknowledged before: what is not then is said once, on the next connection.)
        #expect(board.acked(1))
        broker.freeze()
        defer { broker.thaw() }
        let began = Date()
        #expect(board.disconnected(within: 20))
        print("hung broker found after \(Date().timeIntervalSince(began)) s with keepalive 5 s")
        for index in 0..<50 { board.publish("e/trace", "\(index)") }
        broker.thaw()
        #expect(board.connected(within: 10))
        #expect(board.acked(52))
    }

    @Test func aHungBrokerDoesNotMakeTheLibraryHoard() throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) { $0.queueMessages = 64 }
        #expect(board.acked(1))
        broker.freeze()
        defer { broker.thaw() }
        let payload = String(repeating: "x", count: 10000)
        for _ in 0..<5000 { board.publish("e/qos0", payload, qos: 0) }
        #expect(eventually { board.link.statistics.dropped.trace > 4000 })
        #expect(board.link.statistics.queueMessages <= 64)
        #expect(board.link.statistics.queueBytes <= 64 * payload.utf8.count)
    }

    @Test func severalBrokersAreTriedInOrder() throws {
        let dead = try FreePort.find()
        let broker = try Broker()
        let board = try RealLink(port: dead) {
            $0.connection.brokers.append(BrokerAddress(host: "127.0.0.1", port: broker.port, tls: false))
        }
        board.publish("e/trace", "x")
        #expect(board.acked(2))
        broker.kill()
        #expect(board.disconnected())
        board.publish("e/trace", "y")
        try broker.start()
        #expect(board.connected())
        #expect(eventually { board.link.statistics.queueBytes == 0 })
    }

    @Test func theLastWillSpeaksWhenTheConnectionBreaks() throws {
        // A separate process: this is the kill -9 of `deploy/checks/mqtt` in small, through a session of 1 s.
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let gate = try FreePort.find()
        let forward = try ChildProcess(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket, threading
                s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind(('127.0.0.1', \(gate))); s.listen(5)
                def pump(a, b):
                    while True:
                        d = a.recv(65536)
                        if not d: return
                        b.sendall(d)
                while True:
                    a, _ = s.accept(); b = socket.create_connection(('127.0.0.1', \(broker.port)))
                    for x, y in ((a, b), (b, a)): threading.Thread(target=pump, args=(x, y), daemon=True).start()
                """,
            ])
        let board = try RealLink(port: gate) { $0.connection.mqtt.willDelay = 1 }
        // A second connection: the delay must hold for it as well.
        #expect(board.connected())
        #expect(listener.first { $0.text == "online" } != nil)
        let (began, watch) = (ProcessInfo.processInfo.systemUptime, Stopwatch())
        forward.signal(SIGKILL)
        let offline = listener.first { $0.text == "offline" }
        let delay = try #require(offline).arrived - began
        print("last will with a delay of 1 s after \(delay) s")
        #expect(delay > 0.5 && watch.seconds < 5)
        #expect(board.disconnected())
    }
}
