import Messages
import Testing

@testable import seismote_update

@Suite struct TrialWatchTests {
    private static let before = StationBefore(line: "flow 20000 sensor_lost")

    private static func look(_ second: Int, _ change: (inout AgentLook, inout AgentWords) -> Void = { _, _ in })
        -> AgentLook
    {
        var (look, words) = (AgentLook(), AgentWords())
        (words.process, words.samples, words.acked, words.isConnected) = (7, Int64(100 * second), Int64(second), true)
        look.kilobytes = 20_000
        change(&look, &words)
        if look.state == nil, words.process != 0 { look.state = words }
        return look
    }

    /// The first verdict that is not to wait, and its second.
    private static func verdict(
        isConfirmed: Bool = true, _ change: (Int, inout AgentLook, inout AgentWords) -> Void
    ) -> (TrialWatch.Verdict, Int) {
        var limits = UpdateLimits()
        (limits.patience, limits.settle) = (45, 5)
        var watch = TrialWatch(before, limits, restarts: 1, at: 0)
        for second in 1...100 {
            let look = Self.look(second) { change(second, &$0, &$1) }
            let verdict = watch.look(look, at: Double(second), isConfirmed: isConfirmed) { "words" }
            if verdict != .wait { return (verdict, second) }
        }
        return (.wait, 100)
    }

    @Test func aGoodVersionIsGoodAfterAWhile() {
        #expect(Self.verdict { _, _, _ in } == (.good, 6))
        // An error that was there before is no fault of the new version.
        #expect(Self.verdict { _, _, words in words.errors = ["sensor_lost"] } == (.good, 6))
    }

    @Test func whatIsBadAtOnceGoesBackAtOnce() {
        #expect(Self.verdict { _, look, _ in look.restarts = 4 } == (.back("the agent ends by itself: words"), 1))
        #expect(Self.verdict { _, look, _ in look.restarts = 3 } == (.good, 6))
        #expect(Self.verdict { _, look, _ in look.isFailed = true } == (.back("the agent does not start: words"), 1))
        #expect(
            Self.verdict { _, look, _ in look.kilobytes = 131_073 + 1023 }
                == (.back("it uses 129 MB of memory, more than 128 MB"), 1))
        #expect(
            Self.verdict { _, _, words in words.errors = ["storage_full"] } == (
                .back("it raises the alert storage_full"), 1
            ))
    }

    @Test func whatIsBadForTheWholeTimeGoesBackAtItsEnd() {
        #expect(Self.verdict { _, _, words in words.samples = 0 } == (.back("no samples come"), 45))
        #expect(
            Self.verdict { _, _, words in words.isConnected = false } == (
                .back("it has no connection to the broker"), 45
            ))
        #expect(
            Self.verdict { _, _, words in words.acked = 0 } == (
                .back("the broker acknowledges nothing that it sends"), 45
            ))
        #expect(
            Self.verdict { _, _, words in words.errors = ["mqtt_refused"] } == (
                .back("it raises the alert mqtt_refused"), 45
            ))
        #expect(
            Self.verdict { _, _, words in words.process = 0 } == (.back("the agent says nothing of itself: words"), 45))
        #expect(
            Self.verdict { second, _, words in if second % 4 == 0 { words.isConnected = false } } == (
                .back("it was not well for 5 s on end"), 45
            ))
    }

    @Test func theAgentsStateIsRead() throws {
        let text =
            #"{"process":12,"connected":true,"event_open":false,"health":{"sensor":"ok","samples":345,"mqtt":{"acked":9}},"alerts":[{"code":"a_b","severity":"error"},{"code":"storage_set_aside","severity":"warning"},{"code":"c","severity":"warning"},{"code":"x y","severity":"error"}]}"#
        let words = try #require(AgentWords(json: Array(text.utf8)))
        #expect(
            words.process == 12 && words.samples == 345 && words.acked == 9 && words.isConnected && !words.isEventOpen)
        #expect(words.errors == ["a_b", "storage_set_aside"])
        for bad in ["", "{}", "[]", #"{"process":"x"}"#, #"{"process":-1}"#] {
            #expect(AgentWords(json: Array(bad.utf8)) == nil)
        }
        let before = StationBefore(flows: true, kilobytes: 5, errors: words.errors)
        #expect(before.line == "flow 5 a_b storage_set_aside" && StationBefore(line: before.line) == before)
    }
}
