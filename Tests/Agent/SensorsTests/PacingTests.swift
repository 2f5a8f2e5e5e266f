import Instruments
import SignalProcessing
import Testing

@testable import Sensors

@Suite struct PacingTests {
    private func blocks(_ count: Int, speed: Double, rate: Double, clock: VirtualClock, late: Int64 = 0) throws
        -> [Int64]
    {
        var settings = SensorConfiguration()
        settings.rate = rate
        var sensor = SimulateSensor(settings, speed: speed, clock: clock)
        _ = try sensor.open()
        var block = SampleBlock(capacity: 16)
        return try (0..<count).map { _ in
            _ = try sensor.read(into: &block)
            let now = clock.monotonic()
            clock.advance(late)
            return now
        }
    }

    @Test func blocksComeWhenTheirLastSampleIsComplete() throws {
        let times = try blocks(100, speed: 1, rate: 100, clock: VirtualClock(monotonic: 7))
        let expected: [Int64] = (1...100).map { (block: Int64) -> Int64 in 7 + block * 160_000_000 }
        #expect(times == expected)
    }

    @Test func speedDividesTime() throws {
        #expect(
            try blocks(3, speed: 4, rate: 100, clock: VirtualClock(monotonic: 0)) == [
                40_000_000, 80_000_000, 120_000_000,
            ])
        #expect(try blocks(2, speed: 0.5, rate: 100, clock: VirtualClock(monotonic: 0)) == [320_000_000, 640_000_000])
    }

    @Test func asFastAsPossibleNeverSleeps() throws {
        let clock = VirtualClock()
        _ = try blocks(50, speed: 0, rate: 100, clock: clock)
        #expect(clock.deadlines.isEmpty)
    }

    @Test func deadlinesDoNotDriftAtOddRates() throws {
        let clock = VirtualClock(monotonic: 0)
        _ = try blocks(30_000, speed: 1, rate: 30, clock: clock)
        // 480 000 samples at 30 Hz are 16 000 s to the nanosecond.
        #expect(clock.deadlines.last == 16_000_000_000_000)
    }

    @Test func whoIsLateCatchesUp() throws {
        let clock = VirtualClock(monotonic: 0)
        // A consumer that takes 30 ms for each block of 160 ms does not move the schedule.
        #expect(try blocks(50, speed: 1, rate: 100, clock: clock, late: 30_000_000).last == 50 * 160_000_000)
        // One that stopped for a second gets what is due at once.
        let stopped = VirtualClock(monotonic: 0)
        var sensor = SimulateSensor(SensorConfiguration(), clock: stopped)
        _ = try sensor.open()
        stopped.advance(1_000_000_000)
        var block = SampleBlock(capacity: 50)
        _ = try sensor.read(into: &block)
        _ = try sensor.read(into: &block)
        #expect(stopped.monotonic() == 1_000_000_000)
        _ = try sensor.read(into: &block)
        #expect(stopped.monotonic() == 1_500_000_000)
    }

    @Test func replayIsPacedByItsSamples() throws {
        let clock = VirtualClock(monotonic: 0)
        try withFile(csv(100, rate: 50)) { path in
            var settings = ReplaySettings(file: path)
            settings.speed = 2
            var sensor = ReplaySensor(settings, clock: clock)
            _ = try sensor.open()
            _ = try Delivery(&sensor, block: 30)
            #expect(clock.deadlines == [300_000_000, 600_000_000, 900_000_000, 1_000_000_000])
        }
    }

    @Test func wallTimeStampsTheSimulation() throws {
        let clock = VirtualClock(wall: 1_767_608_430_123_456_789)
        var sensor = SimulateSensor(SensorConfiguration(), clock: clock)
        #expect(try sensor.open().clock == .host)
        let delivery = try Delivery(&sensor, block: 16, atMost: 48)
        #expect(delivery.times[0] == 1_767_608_430_123_456_789)
        #expect(delivery.times[32] == 1_767_608_430_443_456_789)
    }

    /// The host's own clock, once: the deadline has passed when the call returns.
    @Test func theSystemClockSleeps() {
        let clock = SystemSensorClock()
        let deadline = clock.monotonic() + 20_000_000
        clock.sleep(until: deadline)
        #expect(clock.monotonic() >= deadline)
        clock.sleep(until: deadline - 1_000_000_000)
        #expect(clock.wall() > 1_700_000_000_000_000_000)
    }
}
