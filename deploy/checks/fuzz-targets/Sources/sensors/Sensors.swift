import Checking
import Glibc
import Instruments
import LibFuzzer
import Sensors
import SignalProcessing

/// Whatever a chip answers, and whatever times a kernel or a remote machine puts on samples: no crash, every value within
/// what the chip can measure, every block within its room, and every reading ends.
private func sensors(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
    var bytes = FuzzBytes(Array(UnsafeBufferPointer(start: data, count: size)))
    if bytes.next() & 3 == 0 { time(&bytes) } else { chip(&bytes) }
    return 0
}

@main enum Program {
    static func main() {
        var (count, words) = (CommandLine.argc, Optional(CommandLine.unsafeArgv))
        exit(LLVMFuzzerRunDriver(&count, &words, sensors))
    }
}

private func chip(_ bytes: inout FuzzBytes) {
    let chip = Chip.all[bytes.next() % Chip.all.count]
    var settings = SensorConfiguration()
    settings.i2c.chip = bytes.next() & 1 == 0 ? chip.name : "auto"
    settings.rate = Double(1 + bytes.next() * 16)
    settings.range = Double(1 + bytes.next())
    let capacity = 1 + bytes.next() % 64
    let clock = FuzzClock()
    var sensor = I2CSensor(settings, bus: HostileBus(chip, bytes), clock: clock)
    guard let description = try? sensor.open() else { return }
    check(description.rate > 0 && description.rate < 1e5, "rate \(description.rate)")
    var block = SampleBlock(capacity: capacity)
    for _ in 0..<64 {
        let began = clock.now
        do {
            _ = try sensor.read(into: &block)
        } catch {
            break
        }
        check(block.count > 0 && block.count <= capacity, "a block of \(block.count)")
        check(clock.now - began < 600_000_000_000, "a read of \((clock.now - began) / 1_000_000_000) s")
        for axis in 0..<3 {
            for i in 0..<block.count { check(block[axis, i].magnitude < 1e4, "\(block[axis, i]) m/s²") }
        }
    }
    _ = try? sensor.selfTest()
    sensor.close()
}

private func time(_ bytes: inout FuzzBytes) {
    var base = Timebase(nominalRate: Double(1 + bytes.next() * 16))
    var now: Int64 = 1_000_000_000
    var last: Int64?
    for _ in 0..<200 where bytes.left > 0 {
        let count = 1 + bytes.next()
        let choice = bytes.next()
        now &+= choice & 32 == 0 ? Int64(count) * 10_000_000 : bytes.integer()
        let reading = ClockReading(
            monotonic: choice & 64 == 0 ? now : bytes.integer(), wall: choice & 128 == 0 ? now : bytes.integer())
        let steps = base.clockSteps
        let lost: Int? = choice & 3 == 0 ? nil : choice & 3 == 1 ? 0 : Int(clamping: bytes.integer())
        let block: BlockTime
        if choice & 4 == 0 {
            block = base.take(count: count, lost: lost, .stamped(reading))
        } else {
            let after = ClockReading(
                monotonic: reading.monotonic &+ bytes.integer(), wall: reading.wall &+ bytes.integer())
            block = base.take(
                count: count, lost: lost, .level(before: reading, after: after, left: Int(clamping: bytes.integer())))
        }
        check(block.lostBefore >= 0, "\(block.lostBefore) lost")
        if let last, base.clockSteps == steps, !block.isDuplicate {
            check(block.time >= last, "time goes back from \(last) to \(block.time)")
        }
        if !block.isDuplicate { last = block.time }
        if choice & 8 != 0 { base.interrupt() }
        _ = base.due(samples: 1 + bytes.next(), now: now)
        if let rate = base.rate { check(rate.rate > 0 && rate.rate.isFinite, "rate \(rate.rate)") }
    }
}
