import Messages
import TestSupport
import Testing

@testable import Feed

@Suite struct FeedSettingsTests {
    private static func settings(_ overrides: [String]) throws(CodedErrors) -> FeedSettings {
        try FeedSettings.load(file: nil, overrides: overrides)
    }

    @Test func eachRowIsRefused() {
        let (count, sentences) = WrongSettings.misread(by: FeedSettings.self)
        #expect(count > 100 && sentences == [], "\(count)")
    }

    /// A defect: these were no addresses, and showed only when the program listened.
    @Test(arguments: [
        "", "x", "blah!", "127.0.0.1:18000", "[::1]", "1.2.3", "256.0.0.1", "127.0.0.1 ", "127.0.0.1%lo", "::1%",
    ])
    func listenTakesAnAddress(text: String) {
        #expect(throws: CodedErrors.self) { try Self.settings([FeedSettings.override("feed.listen", .string(text))]) }
    }

    @Test(arguments: ["0.0.0.0", "::", "127.0.0.1", "fd00::2", "fe80::1%eth0", "localhost"])
    func addressesToListenOn(text: String) throws {
        #expect(try Self.settings([FeedSettings.override("feed.listen", .string(text))]).listen == text)
    }

    /// A defect: an id of digits was a number, and an id could bring other settings with it.
    @Test func stationsOfTheCommandLineAreText() throws {
        let list = FeedSettings.override("feed.stations", list: "1001, roof,true,")
        #expect(try Self.settings([list]).stations == ["1001", "roof", "true"])
        #expect(try Self.settings([FeedSettings.override("feed.stations", list: "")]).stations == [])
        #expect(throws: CodedErrors.self) {
            try Self.settings([FeedSettings.override("feed.stations", list: "a]\nfeed: {days: 3}")])
        }
    }
}
