import Testing

@testable import Sensors

@Suite struct RepetitionTests {
    /// A stuck value is a good one again after three changes without a long run between them, not after one.
    @Test func aStuckValueIsGoodAgainAfterThreeChanges() {
        var watch = Repetition(shortest: 10, share: 0)
        for _ in 0..<9 { watch.take(same: true) }
        #expect(!watch.isStuck)
        watch.take(same: true)
        #expect(watch.isStuck)
        var stuck: [Bool] = []
        for _ in 0..<3 {
            watch.take(same: false)
            stuck.append(watch.isStuck)
        }
        #expect(stuck == [true, true, false])
    }
}
