import Foundation
import TestSupport
import Testing

@testable import MQTT

@Suite(.serialized, .timeLimit(.minutes(10))) struct DeadlyPacketTests {
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
