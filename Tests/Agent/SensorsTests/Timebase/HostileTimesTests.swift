import Testing

@testable import Sensors

@Suite struct HostileTimesTests {
    /// A remote machine can put any time on its samples, a chip can say any number of lost ones.
    @Test func timesFarOutNeitherCrashNorGoBack() {
        let far: [Int64] = [.min, .min + 1, -1, 0, 1, 1 << 40, 4_500_000_000_000_000_000, .max - 1, .max]
        let losses: [Int?] = [nil, 0, .max, .min]
        var base = Timebase(nominalRate: 100)
        var last = Int64.min
        var blocks = 0
        for monotonic in far {
            for wall in far {
                for lost in losses {
                    let reading = ClockReading(monotonic: monotonic, wall: wall)
                    let later = ClockReading(monotonic: wall, wall: monotonic)
                    for observation in [
                        Timebase.Observation.stamped(reading), .level(before: reading, after: later, left: .max),
                    ] {
                        let steps = base.clockSteps
                        let block = base.take(count: 16, lost: lost, observation)
                        #expect(block.lostBefore >= 0)
                        if base.clockSteps == steps, !block.isDuplicate { #expect(block.time >= last) }
                        if !block.isDuplicate { last = block.time }
                        blocks += 1
                    }
                }
            }
        }
        #expect(blocks == far.count * far.count * losses.count * 2)
        // And it finds back to a clock that is as it should be.
        var end = BlockTime(time: 0, gapBefore: false, lostBefore: 0)
        for i in 1...100 {
            let now = 2_000_000_000_000 + Int64(i) * 160_000_000
            end = base.take(
                count: 16, lost: 0, .stamped(ClockReading(monotonic: now, wall: 1_700_000_000_000_000_000 + now)))
        }
        let truth: Int64 = 1_700_002_016_000_000_000 - 150_000_000
        #expect(abs(end.time - truth) < 2_000_000, "\(end.time - truth) ns off")
        #expect(base.rate.map { abs($0.rate - 100) < 0.01 } == true)
    }
}
