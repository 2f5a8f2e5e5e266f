import Foundation
import TestSupport
import Testing

@testable import Link

@Suite struct ClientLibraryTests {
    @Test func librariesBefore2016AreDefective() {
        for number in [1_006_012, 2_000_000, 2_000_011, 2_000_015] {
            #expect(ClientLibrary.diesOfProperties(number), "\(number)")
        }
        for number in [2_000_016, 2_000_018, 2_000_021, 2_001_000] {
            #expect(!ClientLibrary.diesOfProperties(number), "\(number)")
        }
        #expect(ClientLibrary.version.split(separator: ".").count == 3)
        #expect(LinkOptions.ProtocolVersion.automatic == (ClientLibrary.diesOfProperties ? .v311 : .v5))
    }

    @Test func aNoteOfADeathIsReadAndEndsWithTheNextAttempt() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("note")
        #expect(DeathNote(path).brokers.isEmpty)
        #expect(DeathNote("").brokers.isEmpty)
        try folder.write("note", "mqtt://a:1883\nmqtts://[::1]:8883\n")
        var note = DeathNote(path)
        #expect(note.brokers == ["mqtt://a:1883", "mqtts://[::1]:8883"])
        note.watch(BrokerAddress(host: "other", port: 1883, tls: false))
        #expect(DeathNote(path).brokers.count == 2)
        note.watch(BrokerAddress(host: "a", port: 1883, tls: false))
        note.rest()
        #expect(DeathNote(path).brokers.isEmpty)
        // A pipe in its place holds nobody up.
        #expect(mkfifo(path, 0o600) == 0)
        #expect(DeathNote(path).brokers.isEmpty)
    }

    @Test func aNoteChoosesTheVersionOnlyWhereTheLibraryIsDefective() throws {
        let folder = try TemporaryFolder()
        let brokers = ["a", "b"].map { BrokerAddress(host: $0, port: 1883, tls: false) }
        var options = LinkOptions(brokers: brokers, clientID: "c", presence: .init(topic: "t"))
        options.mqtt.protocolVersion = .v5
        options.deathNote = try folder.write("note", "\(brokers[1])\n")
        var choice = ProtocolChoice(options)
        let versions = [choice.version(for: 0, now: 0), choice.version(for: 1, now: 0)]
        #expect(versions == [.v5, .automatic])
        // Where none can be left, each start would end in the same death.
        options.deathNote = "/nowhere/at/all/note"
        choice = ProtocolChoice(options)
        #expect(choice.version(for: 0, now: 0) == .automatic)
    }
}
