import Foundation
import MQTT
import TestSupport
import Testing

/// A broker whose first packet of MQTT 5 has a property that does not exist, at which libmosquitto before 2.0.16 by itself
/// ends the process. With a supervisor, the sensor was never read.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DeadlyBrokerTests {
    @Test(arguments: ["auto", "5"]) func theAgentOutlivesItAndSpeaks311(version: String) throws {
        let folder = try TemporaryFolder()
        let broker = try DeadlyBroker()
        let agent = try AgentProcess(
            settings: """
                station: {id: board}
                sensor: {driver: simulate, simulate: {scenario: table-knock}}
                mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)", protocol: \(version), reconnect: {min_s: 0.1, max_s: 0.5}}
                storage: {directory: "\(folder.path("state"))"}
                """)
        #expect(eventually(within: 20) { broker.traces > 0 }, "\(agent.child.errors)")
        #expect(broker.versions == [5, 4])
        #expect(agent.child.isRunning, "\(agent.child.errors)")
    }
}
