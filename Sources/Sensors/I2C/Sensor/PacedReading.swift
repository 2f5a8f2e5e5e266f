import SignalProcessing

extension I2CSession {
    /// For chips without FIFO: waits for each sample and reads it, until the block is full or samples are missing.
    mutating func readPaced(into block: inout SampleBlock) throws(SensorError) {
        var last: (before: ClockReading, after: ClockReading)?
        if let first = pending {
            block.append(first.x, first.y, first.z)
            last = (first.before, first.after)
            pending = nil
        }
        let started = clock.monotonic()
        let limit = started + Int64(2 * Double(block.capacity) * period) + Self.second
        while block.count < block.capacity {
            // Read well before the next sample comes, which would overwrite this one.
            let due = timebase.due(samples: block.count + 1, now: clock.monotonic(), spread: 0.5)
            clock.sleep(until: min(due, limit))
            condition.wakeUps += 1
            let (sample, overwritten, before, after) = try readReady(limit)
            if overwritten { condition.overruns += 1 }
            if overwritten, block.count > 0 {
                pending = (sample.0, sample.1, sample.2, before, after)
                break
            }
            if overwritten { gap = true }
            block.append(sample.0, sample.1, sample.2)
            last = (before, after)
        }
        guard let last else { return }
        stamp(&block, .level(before: last.before, after: last.after, left: 0))
        if pending != nil { gap = true }
    }

    /// Reads until a sample is there.
    private mutating func readReady(
        _ limit: Int64
    ) throws(SensorError) -> ((Double, Double, Double), Bool, ClockReading, ClockReading) {
        guard let ready = chip.ready else { try stalled() }
        let size = 1 + 3 * chip.format.bytes
        while true {
            let before = clock.reading()
            // The flags stand before the data: one transfer.
            try device.read(ready.register, into: buffer.bytes, count: size)
            condition.retries = device.retries
            let after = clock.reading()
            let flags = buffer.bytes[0]
            if flags & ready.ready != 0 {
                return (decoder.sample(buffer.bytes + 1), flags & ready.overwritten != 0, before, after)
            }
            if after.monotonic >= limit { try stalled() }
            clock.sleep(until: after.monotonic + Int64(period / 10))
            condition.wakeUps += 1
        }
    }
}
