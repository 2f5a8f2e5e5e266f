import Glibc
import SignalProcessing

/// State of a FIFO by its own registers.
struct FIFOLevel {
    var count = 0
    /// Samples were overwritten since it was read last.
    var overrun = false
    var before: ClockReading
    var after: ClockReading
}

extension I2CSession {
    /// Waits until the FIFO should have reached its watermark, and reads what it has, as far as the block has room.
    func readFIFO(_ fifo: Chip.FIFO, into block: inout SampleBlock) throws(SensorError) {
        let wanted = min(block.capacity, choice.watermark)
        let started = clock.monotonic()
        // Twice the time of the samples, and a second for a chip that is slow to start.
        let limit = started + Int64(2 * Double(wanted) * period) + Self.second
        var due = timebase.due(samples: wanted, now: started)
        if mustEmpty { due = try empty(fifo, wanted) }
        var recoveries = 0
        while true {
            let edge = try wait(until: min(due, limit))
            let level = try self.level(fifo)
            let whole = contiguous(fifo, level, pace: sampleTime / period)
            // The flag of some chips stays until the read after the next. A bus that is too slow finds the FIFO full again
            // and again: after the second time it gets what it can.
            if level.overrun && (recoveries == 0 || recoveries == 1 && level.count >= fifo.depth)
                || whole == 0 && recoveries < 2
            {
                due = try recover(fifo, level, wanted, empties: recoveries > 0 || whole == 0)
                recoveries += 1
                continue
            }
            let isLate = level.after.monotonic >= limit
            // Somewhat early is as good: the exact moment of a wake-up is dithered.
            if 2 * level.count >= wanted || level.count > 0 && isLate {
                if try take(fifo, level, edge, min(level.count, block.capacity, max(1, whole)), into: &block) { return }
            }
            if isLate { try stalled() }
            due = level.after.monotonic + Int64(Double(max(1, wanted - level.count)) * period)
        }
    }

    /// After an overrun. While a full FIFO is read it goes on overwriting, and its level says nothing of time: half of it
    /// is thrown away, and what is left is read with a level of its own. Where the bus takes longer for a sample than the
    /// chip, that never ends: the FIFO is emptied.
    /// - Returns: when to look again.
    private func recover(
        _ fifo: Chip.FIFO, _ level: FIFOLevel, _ wanted: Int, empties: Bool
    ) throws(SensorError) -> Int64 {
        condition.overruns += 1
        gap = true
        if empties || fifo.flushAfterOverrun || sampleTime > period { return try empty(fifo, wanted) }
        _ = try transfer(fifo, level.count, fifo.depth / 2)
        return clock.monotonic() + Int64(Double(wanted - min(wanted, fifo.depth / 2)) * period)
    }

    /// Throws away what the FIFO has.
    /// - Returns: when it will have what is wanted.
    private func empty(_ fifo: Chip.FIFO, _ wanted: Int) throws(SensorError) -> Int64 {
        mustEmpty = false
        gap = true
        if fifo.flush.isEmpty {
            try device.reset(chip, choice)
            try device.start(chip, choice, interrupt: line != nil)
        } else {
            try device.run(fifo.flush, choice)
        }
        return clock.monotonic() + Int64(Double(wanted) * period)
    }

    /// How many samples can be read until the FIFO, which goes on filling, may have run over: those behind them need not
    /// follow. Behind a gap there is always one, which has none to follow.
    /// - Parameter pace: samples that come while one is read.
    private func contiguous(_ fifo: Chip.FIFO, _ level: FIFOLevel, pace: Double) -> Int {
        guard pace > 1 else { return .max }
        let room = Double(fifo.depth - 1 - level.count) - pace
        let count = room < 0 ? 0 : Int(min(room / (pace - 1), 1e6)) + 1
        return gap ? max(1, count) : count
    }

    /// Sleeps, or waits for the line; gives the time at which the line rose, if it did.
    private func wait(until due: Int64) throws(SensorError) -> Int64? {
        defer { condition.wakeUps += 1 }
        guard let line else {
            clock.sleep(until: due)
            return nil
        }
        // The line may fail; the FIFO then is read by time, a little late.
        let slack = Int64(2 * period) + 5_000_000
        return try line.wait(until: due + slack, now: clock.monotonic())
    }

    /// Reads the level; between the two times.
    private func level(_ fifo: Chip.FIFO) throws(SensorError) -> FIFOLevel {
        let before = clock.reading()
        try device.read(fifo.level.register, into: scratch.bytes, count: fifo.level.bytes)
        var level = FIFOLevel(before: before, after: clock.reading())
        let (first, second) = (UInt16(scratch.bytes[0]), UInt16(scratch.bytes[1]))
        let raw = fifo.level.bytes == 1 ? first : fifo.level.bigEndian ? first << 8 | second : second << 8 | first
        condition.retries = device.retries
        level.count = Int(raw & fifo.level.mask) / fifo.level.unit
        if raw & fifo.level.full != 0 { level.count = fifo.depth }
        let isFull = level.count >= fifo.depth
        level.count = min(level.count, fifo.depth)
        levelTime += (Double(level.after.monotonic - level.before.monotonic) - levelTime) * (levelTime == 0 ? 1 : 0.25)
        if fifo.level.overrun != 0 {
            level.overrun = raw & fifo.level.overrun != 0
        } else if isFull, let flag = fifo.overrun {
            // Only a full FIFO can have run over since it was read.
            level.overrun = try device.read(flag.register) & flag.mask != 0
        } else {
            level.overrun = isFull
        }
        return level
    }

    /// Reads samples into the block; false when there turned out to be none, and the level has to be asked for again.
    private func take(
        _ fifo: Chip.FIFO, _ level: FIFOLevel, _ edge: Int64?, _ count: Int, into block: inout SampleBlock
    ) throws(SensorError) -> Bool {
        let read = try transfer(fifo, level.count, count)
        let pace = Double(clock.monotonic() - level.before.monotonic) / period / Double(max(1, read))
        var done = min(read, contiguous(fifo, level, pace: pace))
        if done == 0, read > 0 {
            (done, gap) = (1, true)
            condition.overruns += 1
        }
        let (samples, misplaced) = decoder.tidy(buffer.bytes, count: done)
        if misplaced > 0 { try realign(fifo, axes: misplaced) }
        guard samples > 0 else { return false }
        decoder.decode(buffer.bytes, count: samples, into: &block)
        // The line rose with the last of the watermark's samples; only they may be read for that to be this block's.
        if let edge, !level.overrun, done == choice.watermark, samples == done, edge <= level.before.monotonic {
            let wall = level.before.wall - (level.before.monotonic - edge)
            stamp(&block, .stamped(ClockReading(monotonic: edge, wall: wall)))
        } else {
            stamp(&block, .level(before: level.before, after: level.after, left: level.count - done))
        }
        if done < read {
            condition.overruns += 1
            mustEmpty = true
        }
        return true
    }

    /// Reads samples into the buffer, in as few transfers as the adapter takes. Gives how many; fewer than asked for
    /// when a transfer failed, and a gap follows if it took samples with it.
    private func transfer(_ fifo: Chip.FIFO, _ level: Int, _ count: Int) throws(SensorError) -> Int {
        var (done, failures) = (0, 0)
        let began = clock.monotonic()
        defer {
            if done > 0 {
                let time = Double(clock.monotonic() - began) / Double(done)
                sampleTime += (time - sampleTime) * (sampleTime == 0 ? 1 : 0.25)
            }
        }
        while done < count {
            let part = min(count - done, chunk)
            let target = buffer.bytes + done * fifo.slot
            let code =
                fifo.kind == .slots
                ? device.bus.read(device.address, fifo.register, into: target, size: fifo.slot, slots: part)
                : device.bus.read(device.address, fifo.register, into: target, size: fifo.slot * part, slots: 1)
            if code == 0 {
                done += part
            } else if code == EOPNOTSUPP, chunk > 1 {
                // Some adapters take one read per transfer (i2c-bcm2835), some only so many bytes.
                chunk /= 2
            } else {
                failures += 1
                guard I2CDevice.mayPass(code), failures < I2CDevice.attempts else { throw device.error(code) }
                device.waitBeforeRetry()
                if try self.level(fifo).count < level - done {
                    gap = true
                    return done
                }
            }
        }
        condition.retries = device.retries
        return done
    }

    /// Takes single axes out of a FIFO, until x is next. What was read with them is lost.
    private func realign(_ fifo: Chip.FIFO, axes: Int) throws(SensorError) {
        gap = true
        condition.overruns += 1
        for _ in 0..<axes { try device.read(fifo.register, into: scratch.bytes, count: chip.format.bytes) }
    }
}

/// A sample that was read from a chip without FIFO.
struct PacedSample {
    var x = 0.0
    var y = 0.0
    var z = 0.0
    /// Samples before it were overwritten.
    var overwritten = false
    /// It had not been there just before: its moment is known.
    var isFresh = false
    var before: ClockReading
    var after: ClockReading

    var observation: Timebase.Observation {
        guard isFresh else { return .level(before: before, after: after, left: 0) }
        let half = (after.monotonic &- before.monotonic) / 2
        return .stamped(ClockReading(monotonic: before.monotonic &+ half, wall: before.wall &+ half))
    }
}

extension I2CSession {
    /// For chips without FIFO: waits for each sample and reads it, until the block is full or samples are missing. For
    /// the last one it asks early and often, to see it come: that is what the time is known from.
    func readPaced(into block: inout SampleBlock) throws(SensorError) {
        var last = pending
        pending = nil
        if let last { block.append(last.x, last.y, last.z) }
        let limit = clock.monotonic() + Int64(2 * Double(block.capacity) * period) + Self.second
        while block.count < block.capacity {
            let isLast = block.count == block.capacity - 1
            let due = nextRead(block.count) &- (isLast ? Int64(period / 4) : 0)
            clock.sleep(until: min(due, limit))
            condition.wakeUps += 1
            let sample = try readReady(pause: Int64(period / (isLast ? 16 : 10)), limit)
            lastRead = sample.before.monotonic
            if sample.overwritten {
                condition.overruns += 1
                if block.count > 0 {
                    pending = sample
                    break
                }
                gap = true
            }
            block.append(sample.x, sample.y, sample.z)
            last = sample
        }
        guard let last else { return }
        stamp(&block, last.observation)
        if pending != nil { gap = true }
    }

    /// When to read the next sample: well before the one after it comes, which would overwrite it. Never later after
    /// the last one than the chip takes, so that a read that was late is not followed by one that is later.
    private func nextRead(_ count: Int) -> Int64 {
        let due = timebase.due(samples: count + 1, now: clock.monotonic(), spread: 0.5)
        guard lastRead > .min else { return clock.monotonic() }
        // While the rate is not known it may be some per cent higher than nominal.
        return min(due, lastRead &+ Int64(period * (timebase.rate == nil ? 0.94 : 1)))
    }

    /// Reads until a sample is there.
    private func readReady(pause: Int64, _ limit: Int64) throws(SensorError) -> PacedSample {
        guard let ready = chip.ready else { try stalled() }
        let size = 1 + 3 * chip.format.bytes
        var isFresh = false
        while true {
            let before = clock.reading()
            // The flags stand before the data: one transfer.
            try device.read(ready.register, into: buffer.bytes, count: size)
            condition.retries = device.retries
            let after = clock.reading()
            let flags = buffer.bytes[0]
            if flags & ready.ready != 0 {
                let (x, y, z) = decoder.sample(buffer.bytes + 1)
                return PacedSample(
                    x: x, y: y, z: z, overwritten: flags & ready.overwritten != 0, isFresh: isFresh, before: before,
                    after: after)
            }
            isFresh = true
            if after.monotonic >= limit { try stalled() }
            clock.sleep(until: after.monotonic + pause)
            condition.wakeUps += 1
        }
    }
}

/// Makes m/s² of a chip's bytes.
struct SampleDecoder {
    /// Bytes from one sample to the next, and before x.
    let slot: Int
    let offset: Int
    let format: Chip.Format
    /// m/s² per count.
    let scale: Double
    let kind: Chip.FIFO.Kind

    init(_ chip: Chip, scale: Double) {
        format = chip.format
        slot = chip.fifo?.slot ?? 3 * chip.format.bytes
        offset = chip.fifo?.offset ?? 0
        kind = chip.fifo?.kind ?? .burst
        self.scale = scale
    }

    /// One number: two's complement, shifted to the right.
    @inline(__always)
    func count(_ bytes: UnsafePointer<UInt8>) -> Int32 {
        if format.bytes == 3 {
            let bits = UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8
            return Int32(bitPattern: bits) >> Int32(8 + format.shift)
        }
        let (low, high) = format.bigEndian ? (bytes[1], bytes[0]) : (bytes[0], bytes[1])
        return Int32(Int16(bitPattern: UInt16(high) << 8 | UInt16(low)) >> Int16(format.shift))
    }

    /// The three numbers of a sample, in m/s².
    @inline(__always)
    func sample(_ bytes: UnsafePointer<UInt8>) -> (Double, Double, Double) {
        let (first, step) = (bytes + offset, format.bytes)
        return (
            Double(count(first)) * scale, Double(count(first + step)) * scale, Double(count(first + 2 * step)) * scale
        )
    }

    /// Puts the first samples of a buffer into a block, which has room for them.
    func decode(_ data: UnsafePointer<UInt8>, count: Int, into block: inout SampleBlock) {
        block.withPlanes(count: count) { x, y, z, count in
            for index in 0..<count { (x[index], y[index], z[index]) = sample(data + index * slot) }
        }
    }

    /// Leaves out what is no sample. Gives the number of samples, which then stand one behind the other, and how many
    /// axes lie before the first x where the order is broken: then there is no sample to be used.
    func tidy(_ data: UnsafeMutablePointer<UInt8>, count: Int) -> (samples: Int, misplaced: Int) {
        switch kind {
        case .slots, .burst: return (count, 0)
        case .tagged(let mask, let value):
            var samples = 0
            for index in 0..<count where data[index * slot] & mask == value {
                if samples != index { (data + samples * slot).update(from: data + index * slot, count: slot) }
                samples += 1
            }
            return (samples, 0)
        case .marked:
            let bytes = format.bytes
            for axis in 0..<3 * count where (data[axis * bytes + bytes - 1] & 1 == 1) != (axis % 3 == 0) {
                var first = 0
                while first < min(3, 3 * count), data[first * bytes + bytes - 1] & 1 == 0 { first += 1 }
                return (0, first % 3)
            }
            return (count, 0)
        }
    }
}
