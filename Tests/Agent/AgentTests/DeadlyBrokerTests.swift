import Foundation
import Link
import TestSupport
import Testing

/// A broker whose first packet of MQTT 5 has a property that does not exist, at which libmosquitto before 2.0.16 ends the
/// process. With a supervisor, the sensor was never read.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeadlyBrokerTests {
    private static func settings(_ broker: DeadlyBroker, _ folder: TemporaryFolder, _ version: String) -> String {
        """
        station: {id: board}
        sensor: {driver: simulate, simulate: {scenario: table-knock}}
        mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)", protocol: \(version), reconnect: {min_s: 0.1, max_s: 0.5}}
        storage: {directory: "\(folder.path("state"))"}
        """
    }

    @Test func whenNobodyAsksFor5ItLivesAndSaysOnceWhatItSpeaks() throws {
        let folder = try TemporaryFolder()
        let broker = try DeadlyBroker()
        let agent = try AgentProcess(settings: Self.settings(broker, folder, "auto"))
        #expect(eventually(within: 20) { broker.versions.count >= 1 })
        if ClientLibrary.diesOfProperties {
            #expect(eventually(within: 20) { broker.traces > 0 }, "\(agent.child.errors)")
            #expect(broker.versions.first == 4)
        }
        #expect(agent.child.isRunning, "\(agent.child.errors)")
        let said = agent.child.errors.split(separator: "\n").count { $0.contains("can be ended by a packet of MQTT 5") }
        #expect(said == (ClientLibrary.diesOfProperties ? 1 : 0), "\(agent.child.errors)")
    }

    @Test func whoIsToldToSpeak5AndDiesOfItSpeaks311FromTheNextStartOn() throws {
        let folder = try TemporaryFolder()
        let broker = try DeadlyBroker()
        let settings = Self.settings(broker, folder, "5")
        let first = try AgentProcess(settings: settings)
        #expect(eventually(within: 20) { broker.versions.count >= 1 })
        #expect(broker.versions.first == 5)
        guard ClientLibrary.diesOfProperties else {
            #expect(eventually(within: 20) { broker.versions.count >= 3 })
            #expect(first.child.isRunning)
            return
        }
        #expect(first.child.wait(within: 20) == 128 + Int(SIGABRT), "\(first.child.errors)")
        for _ in 0..<2 {
            let before = broker.versions.count
            let traces = broker.traces
            let next = try AgentProcess(settings: settings)
            #expect(
                eventually(within: 30) { broker.traces > traces + 1 },
                "\(next.child.errors)")
            #expect(broker.versions.dropFirst(before).allSatisfy { $0 == 4 }, "\(broker.versions)")
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
