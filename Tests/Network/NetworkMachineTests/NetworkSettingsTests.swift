import TestSupport
import Testing

@testable import seismote_network

@Suite struct NetworkSettingsTests {
    @Test func eachRowIsRefused() {
        let (count, sentences) = WrongSettings.misread(by: NetworkSettings.self)
        #expect(count > 60 && sentences == [], "\(count)")
    }
}
