import Foundation
import Link
import TestSupport
import Testing

/// A broker whose first packet of MQTT 5 has a property that does not exist, at which libmosquitto before 2.0.16 ends the
/// process. With a supervisor, the sensor was never read.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeadlyBrokerTests {
    /// Answers a CONNECT of 5 with that packet, one of 3.1.1 as it should; prints which it was, and how many traces come.
    private static let program = """
        import socket, struct, sys, threading
        server = socket.create_server(("127.0.0.1", 0))
        print("port", server.getsockname()[1], flush=True)
        def packet(file):
            kind, length, shift = file.read(1)[0], 0, 0
            while True:
                byte = file.read(1)[0]
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128: return kind, file.read(length)
        def serve(client):
            file = client.makefile("rb")
            try:
                while True:
                    kind, body = packet(file)
                    if kind == 0x10:
                        print("mqtt", body[6], flush=True)
                        client.sendall(bytes.fromhex("20050000027f01" if body[6] == 5 else "20020000"))
                    elif kind >> 4 == 3:
                        size = struct.unpack(">H", body[:2])[0]
                        if body[2:2 + size].endswith(b"/trace"): print("trace", flush=True)
                        if kind & 6: client.sendall(b"\\x40\\x02" + body[2 + size:4 + size])
                    elif kind == 0x82: client.sendall(b"\\x90\\x03" + body[:2] + b"\\x01")
                    elif kind == 0xc0: client.sendall(b"\\xd0\\x00")
            except (IndexError, OSError): client.close()
        while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
        """

    private static func settings(_ broker: ChildProcess, _ folder: TemporaryFolder, _ version: String) throws -> String {
        guard eventually(within: 20, { broker.output.contains("port ") }),
            let port = broker.output.split(separator: "\n").first?.dropFirst(5)
        else { throw TestFailure("the broker did not start: \(broker.errors)") }
        return """
            station: {id: board}
            sensor: {driver: simulate, simulate: {scenario: table-knock}}
            mqtt: {uri: "mqtt://127.0.0.1:\(port)", protocol: \(version), reconnect: {min_s: 0.1, max_s: 0.5}}
            storage: {directory: "\(folder.path("state"))"}
            """
    }

    private static func versions(_ broker: ChildProcess) -> [String] {
        broker.output.split(separator: "\n").filter { $0.hasPrefix("mqtt ") }.map { String($0.dropFirst(5)) }
    }

    @Test func whenNobodyAsksFor5ItLivesAndSaysOnceWhatItSpeaks() throws {
        let folder = try TemporaryFolder()
        let broker = try ChildProcess("/usr/bin/python3", ["-c", Self.program])
        let agent = try AgentProcess(settings: try Self.settings(broker, folder, "auto"))
        #expect(eventually(within: 20) { Self.versions(broker).count >= 1 })
        if ClientLibrary.diesOfProperties {
            #expect(eventually(within: 20) { broker.output.contains("trace") }, "\(agent.child.errors)")
            #expect(Self.versions(broker).first == "4")
        }
        #expect(agent.child.isRunning, "\(agent.child.errors)")
        let said = agent.child.errors.split(separator: "\n").count { $0.contains("can be ended by a packet of MQTT 5") }
        #expect(said == (ClientLibrary.diesOfProperties ? 1 : 0), "\(agent.child.errors)")
    }

    @Test func whoIsToldToSpeak5AndDiesOfItSpeaks311FromTheNextStartOn() throws {
        let folder = try TemporaryFolder()
        let broker = try ChildProcess("/usr/bin/python3", ["-c", Self.program])
        let settings = try Self.settings(broker, folder, "5")
        let first = try AgentProcess(settings: settings)
        #expect(eventually(within: 20) { Self.versions(broker).count >= 1 })
        #expect(Self.versions(broker).first == "5")
        guard ClientLibrary.diesOfProperties else {
            #expect(eventually(within: 20) { Self.versions(broker).count >= 3 })
            #expect(first.child.isRunning)
            return
        }
        #expect(first.child.wait(within: 20) == 128 + Int(SIGABRT), "\(first.child.errors)")
        for _ in 0..<2 {
            let before = Self.versions(broker).count
            let traces = broker.output.split(separator: "\n").count { $0 == "trace" }
            let next = try AgentProcess(settings: settings)
            #expect(
                eventually(within: 30) { broker.output.split(separator: "\n").count { $0 == "trace" } > traces + 1 },
                "\(next.child.errors)")
            #expect(Self.versions(broker).dropFirst(before).allSatisfy { $0 == "4" }, "\(broker.output)")
            #expect(next.child.errors.contains("the agent died in a connection with MQTT 5"))
            // Neither an orderly end nor a power cut brings 5 back before the hour is over.
            next.child.signal(SIGKILL)
            #expect(next.child.wait(within: 10) != nil)
        }
    }

    /// A kill or a power cut is no death of a packet's.
    @Test func aKillLeavesNoNote() throws {
        let folder = try TemporaryFolder()
        let broker = try Broker()
        let settings = """
            station: {id: board}
            sensor: {driver: simulate, simulate: {scenario: table-knock}}
            mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)", protocol: 5}
            storage: {directory: "\(folder.path("state"))"}
            """
        let agent = try AgentProcess(settings: settings)
        #expect(eventually(within: 20) { agent.child.errors.contains("notice connected") }, "\(agent.child.errors)")
        agent.child.signal(SIGKILL)
        #expect(agent.child.wait(within: 10) != nil)
        #expect(!FileManager.default.fileExists(atPath: folder.path("state/mqtt5-died")))
    }
}
