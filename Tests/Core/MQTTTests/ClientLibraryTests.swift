import Testing

@testable import MQTT

@Suite struct ClientLibraryTests {
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
        #expect(MQTTVersion.automatic == .v5)
    }
}
