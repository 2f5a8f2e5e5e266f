import ServerOptions
import TestSupport
import Testing

@testable import seismote_network

@Suite struct NetworkSettingsTests {
    @Test func eachRowIsRefused() {
        let (count, sentences) = WrongSettings.misread(by: NetworkSettings.self)
        #expect(count > 60 && sentences == [], "\(count)")
    }

    /// What stations and clients send stands in lines of the log: colours, new lines and marks that turn the text do not.
    @Test func aLineOfTheLogDeceivesNobody() {
        let line = NetworkSettings.logLine("a\u{1B}[2Jb\nc\u{9B}d\u{202E}é")
        #expect(line == "seismote-network: a?[2Jb?c?d?é")
    }
}
