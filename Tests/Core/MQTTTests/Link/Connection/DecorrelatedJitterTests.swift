import TestSupport
import Testing

@testable import MQTT

@Suite struct DecorrelatedJitterTests {
    @Test(arguments: 0..<20 as Range<UInt64>) func staysWithinBaseThreeTimesBeforeAndCap(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var jitter = DecorrelatedJitter(base: second, cap: 120 * second)
        var before = second
        for _ in 0..<200 {
            let pause = jitter.next(using: &random)
            #expect(pause >= second)
            #expect(pause <= min(120 * second, 3 * before))
            before = pause
        }
        jitter.reset()
        #expect(jitter.next(using: &random) <= 3 * second)
    }

    @Test func reachesTheCapAndSpreads() {
        var random = SplitMix64(state: 7)
        var jitter = DecorrelatedJitter(base: second, cap: 120 * second)
        let pauses = (0..<100).map { _ in jitter.next(using: &random) }
        #expect(pauses.max() == 120 * second)
        #expect(Set(pauses).count > 50)
    }

    @Test func survivesExtremeSettings() {
        var random = SplitMix64(state: 7)
        var huge = DecorrelatedJitter(base: UInt64.max / 4, cap: UInt64.max / 4)
        #expect(huge.next(using: &random) == UInt64.max / 4)
        var none = DecorrelatedJitter(base: 0, cap: 0)
        #expect(none.next(using: &random) == 1)
    }
}
