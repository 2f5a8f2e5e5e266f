import Testing

@testable import Sensors

@Suite("IIO: holes in the row of time stamps") struct IIOStampTrackTests {
    private static let start: Int64 = 1_800_000_000_000_000_000

    /// A pseudo-random number from 0 to 1.
    private struct Noise {
        var state: UInt64 = 42
        mutating func next() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 11) / 9_007_199_254_740_992
        }
    }

    @Test("A steady row has none, whatever the chip's true rate", arguments: [0.95, 0.962, 1, 1.003, 1.05])
    func steady(ratio: Double) {
        var track = StampTrack(rate: 100)
        var noise = Noise()
        for index in 0..<20_000 {
            let late = noise.next() * 300_000
            let stamp = Self.start + Int64(Double(index) * 1e7 / ratio + late)
            #expect(track.take(stamp) == .next)
        }
    }

    @Test("Triggers without a sample are counted exactly")
    func missing() {
        var track = StampTrack(rate: 200)
        var noise = Noise()
        var (expected, found, tick) = (0, 0, 0)
        for index in 0..<30_000 {
            let isHole = index > 300 && index % 97 == 0
            let lost = isHole ? 1 + index % 7 : 0
            tick += 1 + lost
            expected += lost
            let stamp = Self.start + Int64(Double(tick) * 5e6 * 1.004 + noise.next() * 500_000)
            switch track.take(stamp) {
            case .missing(let count): found += count
            case .next: break
            case .duplicate, .backwards: Issue.record("at \(index)")
            }
        }
        #expect(expected > 1000)
        #expect(found == expected)
    }

    @Test("One that comes 0.7 periods late is late, not lost")
    func late() {
        var track = StampTrack(rate: 100)
        for index in 0..<1000 {
            let late: Int64 = index > 300 && index % 50 == 0 ? 7_000_000 : 0
            #expect(track.take(Self.start + Int64(index) * 10_000_000 + late) == .next)
        }
    }

    /// As seen on a slow machine at 1000 Hz: intervals of 1.71 and 0.15, 2.83 and 0.16, 2.3 and 0.7 periods.
    @Test("Late, and lost and late: the stamps that follow decide", arguments: [5, 250])
    func lateAndLost(settled: Int) {
        var track = StampTrack(rate: 1000)
        var stamps: [Int64] = []
        var tick: Int64 = 0
        func add(_ count: Int) {
            for _ in 0..<count {
                stamps.append(Self.start + tick * 1_000_000)
                tick += 1
            }
        }
        func addLate(_ late: Int64, lost: Int64) {
            tick += lost
            stamps.append(Self.start + tick * 1_000_000 + late)
            tick += 1
        }
        add(settled)
        addLate(713_000, lost: 0)
        add(40)
        addLate(826_000, lost: 1)
        add(40)
        addLate(300_000, lost: 1)
        add(40)
        addLate(950_000, lost: 0)
        addLate(600_000, lost: 0)
        add(40)
        var missing: [Int: Int] = [:]
        for (index, stamp) in stamps.enumerated() {
            let step = track.take(stamp) { index + $0 < stamps.count ? stamps[index + $0] : nil }
            if case .missing(let count) = step { missing[index] = count }
        }
        #expect(missing == [settled + 41: 1, settled + 82: 1])
    }

    @Test("On a machine that is hopelessly busy the count is right within a per cent", arguments: [0.96, 1, 1.04])
    func busy(ratio: Double) {
        var track = StampTrack(rate: 100)
        var noise = Noise()
        var (tick, lost, found) = (0, 0, 0)
        var stamps: [Int64] = []
        for _ in 0..<4000 {
            while noise.next() < 0.4 {
                tick += 1
                lost += 1
            }
            let late = noise.next() < 0.5 ? min(0.95, noise.next() * noise.next()) : 0
            stamps.append(Self.start + Int64((Double(tick) / ratio + late) * 1e7))
            tick += 1
        }
        for (index, stamp) in stamps.enumerated() {
            let end = min(stamps.count, (index / 16 + 1) * 16)
            let step = track.take(stamp) { index + $0 < end ? stamps[index + $0] : nil }
            if case .missing(let count) = step { found += count }
        }
        #expect(abs(found - lost) <= tick / 100, "\(found) of \(lost)")
    }

    @Test("The same stamp again is a duplicate, one from before is a clock that was set back")
    func duplicate() {
        var track = StampTrack(rate: 100)
        #expect(track.take(Self.start) == .next)
        #expect(track.take(Self.start + 10_000_000) == .next)
        #expect(track.take(Self.start + 10_000_000) == .duplicate)
        #expect(track.take(Self.start + 20_000_000) == .next)
        #expect(track.take(Self.start - 3_000_000_000) == .backwards)
        #expect(track.take(Self.start - 2_990_000_000) == .next)
    }

    @Test("After a restart the first stamp is no hole")
    func restart() {
        var track = StampTrack(rate: 100)
        for index in 0..<50 { _ = track.take(Self.start + Int64(index) * 10_000_000) }
        track.restart()
        #expect(track.take(Self.start + 9_000_000_000) == .next)
        #expect(track.take(Self.start + 9_010_000_000) == .next)
    }

    @Test("Stamps of a FIFO, spread by the driver, jump by some periods; a long hole is one all the same")
    func loose() {
        var track = StampTrack(rate: 400, looseness: 20)
        var stamp = Self.start
        for index in 0..<4000 {
            stamp += index % 32 == 0 ? 9_000_000 : 2_250_000
            #expect(track.take(stamp) == .next)
        }
        stamp += 500_000_000
        guard case .missing(let count) = track.take(stamp) else {
            Issue.record("no hole")
            return
        }
        #expect(abs(count - 199) < 12)
    }
}
