import MQTT
import Testing

@testable import Agent

@Suite struct LinkSummaryTests {
    @Test func oneLineSaysHowItIsWithTheBroker() {
        var statistics = LinkStatistics()
        #expect(statistics.summary == "not connected")
        statistics.isRefused = true
        statistics.lastCredentialRefusal = "Not authorized (135)"
        #expect(statistics.summary == "credentials refused: Not authorized (135)")
        statistics.connected = true
        #expect(statistics.summary == "connected")
        statistics.version = .v311
        #expect(statistics.summary == "connected with MQTT 3.1.1")
    }
}
