import Foundation
import TestSupport
import Testing

@testable import Link

@Suite(.serialized, .timeLimit(.minutes(10))) struct ClientLibraryTests {
    @Test func librariesBefore2016AreDefective() {
        for number in [1_006_012, 2_000_000, 2_000_011, 2_000_015] {
            #expect(ClientLibrary.isDefective(number), "\(number)")
        }
        for number in [2_000_016, 2_000_018, 2_000_021, 2_001_000] {
            #expect(!ClientLibrary.isDefective(number), "\(number)")
        }
        #expect(ClientLibrary.version.split(separator: ".").count == 3)
    }

    /// A defect: with Debian 12's library `auto` was 3.1.1, though its assertion can be caught.
    @Test func nobodyHasToDoWithout5() {
        #expect(!ClientLibrary.diesOfProperties)
        #expect(LinkOptions.ProtocolVersion.automatic == .v5)
    }

    /// One of each kind of packet of MQTT 5 that a broker sends, with a property that does not exist.
    @Test(arguments: [
        "20050000027f01", "3007000161027f0178", "40060001 00027f01", "5006000100027f01", "6206000100027f01",
        "7006000100027f01", "90060001027f0100", "b0060001027f0100", "e00400027f01", "f00418027f01",
    ]) func aPropertyThatDoesNotExistEndsTheConnectionAlone(packet: String) throws {
        let broker = try DeadlyBroker(packet: packet)
        let board = try RealLink(port: broker.port)
        board.publish("e/trace", "x")
        #expect(board.acked(2))
        #expect(broker.versions.first == 5 && broker.versions.last == 4, "\(broker.versions)")
        #expect(board.reports.contains(.fallingBack(BrokerAddress(host: "127.0.0.1", port: broker.port, tls: false))))
        #expect(board.link.statistics.version == .v311)
    }
}
