import Foundation
import Instruments
import SignalProcessing
import Testing

@testable import Sensors

@Suite struct ResampledSensorTests {
    /// A record of sines at an odd rate, with gaps where asked for: text of a CSV file with times of UTC.
    private static func record(rate: Double, count: Int, start: Double = 1_767_608_430.123_4, gapAt: Int? = nil)
        -> String
    {
        var text = "t,x,y,z\n"
        for n in 0..<count {
            let t = Double(n) / rate + (gapAt.map { n >= $0 } == true ? 2 : 0)
            let values = (sin(2 * .pi * 3 * t), cos(2 * .pi * 7 * t), 9.80665)
            text += String(format: "%.6f,%.12f,%.12f,%.12f\n", start + t, values.0, values.1, values.2)
        }
        return text
    }

    private static func replay(_ path: String) -> ReplaySensor {
        var settings = ReplaySettings(file: path)
        settings.speed = 0
        return ReplaySensor(settings)
    }

    /// The largest difference from what `record` was drawn from, but for 20 samples at each end.
    private static func worstError(_ delivery: Delivery, start: Double) -> Double {
        var worst = 0.0
        for i in 20..<delivery.x.count - 20 {
            let t = start + Double(i) / 100
            let (x, y) = (sin(6 * Double.pi * t), cos(14 * Double.pi * t))
            worst = max(worst, abs(delivery.x[i] - x), abs(delivery.y[i] - y), abs(delivery.z[i] - 9.80665))
        }
        return worst
    }

    @Test func aRecordOfAnOddRateComesOnTheGridOfUTC() throws {
        try withFile(Self.record(rate: 96.2, count: 3000)) { path in
            var sensor = ResampledSensor(Self.replay(path), rate: 100)
            let description = try sensor.open()
            #expect(description.rate == 100)
            let delivery = try Delivery(&sensor, block: 16)
            #expect(delivery.times.values.allSatisfy { $0 % 10_000_000 == 0 })
            #expect(abs(Double(delivery.x.count) - 3000 / 0.962) < 3)
            let start = Double(delivery.times[0] ?? 0) / 1e9 - 1_767_608_430.123_4
            #expect(start >= -1e-6 && start < 0.01)
            // A microsecond of the text's times is 4e-5 of the steepest sine.
            let worst = Self.worstError(delivery, start: start)
            #expect(worst < 1.5e-4)
            #expect(delivery.marks.count == 1)
        }
    }

    @Test func itKeepsWhatEveryDriverKeeps() throws {
        try withFile(Self.record(rate: 99.5, count: 1500, gapAt: 700)) { path in
            try DriverConformance.check({ ResampledSensor(Self.replay(path), rate: 100) }, limit: 1400)
        }
    }

    @Test func aGapStaysAGap() throws {
        try withFile(Self.record(rate: 99.5, count: 1500, gapAt: 700)) { path in
            var sensor = ResampledSensor(Self.replay(path), rate: 100)
            _ = try sensor.open()
            let delivery = try Delivery(&sensor, block: 16)
            #expect(delivery.marks.count == 2)
            let mark = try #require(delivery.marks.last)
            let before = try #require(delivery.times[0]) + Int64(mark.index - 1) * 10_000_000
            #expect((mark.time - before) / 10_000_000 - 1 == Int64(mark.lost) && (199...202).contains(mark.lost))
            #expect(delivery.z.allSatisfy { abs($0 - 9.80665) < 1e-9 })
        }
    }

    @Test func halfTheRateIsFilteredBefore() throws {
        try withFile(csv(2000, rate: 200)) { path in
            var sensor = ResampledSensor(Self.replay(path), rate: 100)
            #expect(try sensor.open().rate == 100)
            let delivery = try Delivery(&sensor, block: 30)
            #expect(delivery.x.count == 1000)
            // A ramp is a ramp.
            #expect((100..<900).allSatisfy { abs(delivery.x[$0] - Double(2 * $0)) < 1e-6 })
        }
    }

    @Test func whatCannotBeDoneIsSaid() throws {
        try withFile(csv(300, rate: 1000)) { path in
            var sensor = ResampledSensor(Self.replay(path), rate: 1)
            #expect(throws: SensorError.self) { _ = try sensor.open() }
            var block = SampleBlock(capacity: 4)
            #expect(throws: SensorError.self) { _ = try sensor.read(into: &block) }
        }
    }

    /// A live chip 3.8 % slow, timed by a timebase: what comes out lies where it says.
    struct LiveChip: SensorDriver {
        var chip = SimulatedChip()
        var base = Timebase(nominalRate: 100)
        var condition: SensorCondition {
            var condition = SensorCondition()
            condition.rate = base.rate
            return condition
        }
        init() {
            chip.deviation = -0.038
            chip.reading = .level(watermark: 16)
        }
        mutating func open() throws(SensorError) -> SensorDescription {
            SensorDescription(driver: "i2c", chip: "c", rate: 100, clock: .host)
        }
        mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
            let outcome = chip.next(&base)
            let offset = outcome.error * chip.truePeriod
            block = SampleBlock(capacity: max(block.capacity, outcome.count))
            block.removeAll()
            (block.time, block.gapBefore) = (outcome.time.time, outcome.time.gapBefore)
            for i in 0..<outcome.count {
                // What the ground does at the moment at which the sample was really taken.
                let truth = Double(outcome.time.time % 1_000_000_000_000) - offset + Double(i) * chip.truePeriod
                block.append(sin(2 * .pi * 2 * truth * 1e-9), 0, 9.8)
            }
            return .samples
        }
        mutating func close() {}
    }

    @Test func aLiveChipOffItsRateLiesOnTheGrid() throws {
        var sensor = ResampledSensor(LiveChip(), rate: 100)
        _ = try sensor.open()
        var block = SampleBlock(capacity: 16)
        var (count, worst, gaps) = (0, 0.0, 0)
        while count < 9000 {
            #expect(try sensor.read(into: &block) == .samples)
            #expect(block.time % 10_000_000 == 0)
            if block.gapBefore { gaps += 1 }
            for i in 0..<block.count where count > 3000 {
                let t = Double(block.time % 1_000_000_000_000) * 1e-9 + Double(i) / 100
                worst = max(worst, abs(block[0, i] - sin(2 * .pi * 2 * t)))
            }
            count += block.count
        }
        // 0.1 samples are 0.0126 of a sine of 2 Hz.
        #expect(gaps == 1 && worst < 0.0126)
    }
}
