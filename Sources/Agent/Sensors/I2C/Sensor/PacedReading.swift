import SignalProcessing

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
