import SignalProcessing

@testable import Sensors

/// A chip with a clock of its own and a host that reads it, both in virtual time, so that the truth is known.
struct SimulatedChip {
    /// How the host reads.
    enum Reading {
        /// FIFO level, at the timebase's own moments, every so many samples.
        case level(watermark: Int)
        /// FIFO level, always at the same phase of the samples: every so many samples, this share of one later.
        case lockstep(watermark: Int, phase: Double)
        /// The moment of the last of so many samples, late by the interrupt's latency.
        case stamped(block: Int)
    }

    var nominal = 100.0
    /// Relative deviation of the true rate, and its change per second.
    var deviation = 0.0
    var drift = 0.0
    var reading = Reading.level(watermark: 16)
    /// Latest that the host wakes after it wanted to (ns), and latency of an interrupt.
    var jitter = 200_000.0
    var latency = 30_000.0
    /// Duration of a read of the level, at least and at most (ns).
    var read = (200_000.0, 400_000.0)
    /// Share of wake-ups, and of reads, that come 100 ms late.
    var stalls = 0.0

    var monotonic: Int64 = 5_000_000_000_000
    var offset: Int64 = 1_700_000_000_000_000_000
    var random = SplitMix(state: 1)

    private var start = 1_000_000.0
    private var taken = 0
    private var wanted = 0.0

    init() {}

    /// What came of one block.
    struct Outcome {
        var time: BlockTime
        var count: Int
        /// Error of the block's time, in samples.
        var error: Double
        /// Seconds since the start.
        var elapsed: Double
    }

    /// From the next sample on the chip runs otherwise.
    mutating func change(deviation new: Double) {
        let now = moment(Double(taken - 1))
        deviation = new
        start += now - moment(Double(taken - 1))
    }

    /// Nanoseconds since the start at which sample n (0, 1 ...) was taken.
    func moment(_ n: Double) -> Double {
        let period = 1e9 / (nominal * (1 + deviation))
        let t = n * period
        return start + t - drift * t * t / 2e9
    }

    var truePeriod: Double { moment(Double(taken) + 1) - moment(Double(taken)) }

    /// The chip loses so many samples, as after a FIFO that ran over; the host is away meanwhile.
    mutating func lose(_ count: Int) { taken += count }

    private func level(at time: Double) -> Int {
        var n = Int((time - start) / (1e9 / nominal) * (1 + deviation))
        while moment(Double(n)) > time { n -= 1 }
        while moment(Double(n + 1)) <= time { n += 1 }
        return n + 1
    }

    private func clocks(_ time: Double) -> ClockReading {
        let now = monotonic + Int64(time)
        return ClockReading(monotonic: now, wall: now + offset)
    }

    mutating func next(_ base: inout Timebase, lost: Int? = 0) -> Outcome {
        let first = taken
        let time: BlockTime
        switch reading {
        case .stamped(let block):
            taken += block
            var late = random.unit() * latency
            if random.unit() < stalls { late += 100_000_000 }
            let reading = clocks(moment(Double(taken - 1)) + late)
            time = base.take(count: block, lost: lost, .stamped(reading))
            wanted = moment(Double(taken - 1)) + late
        case .level(let watermark), .lockstep(let watermark, _):
            var wake = Double(base.due(samples: watermark, now: monotonic + Int64(wanted)) - monotonic)
            if case .lockstep(_, let phase) = reading { wake = moment(Double(taken + watermark - 1) + phase) }
            wake = max(wake, wanted)
            var now = wake
            var count = 0
            while count <= 0 {
                now += random.unit() * jitter
                if random.unit() < stalls { now += 100_000_000 }
                let before = now
                var duration = read.0 + random.unit() * (read.1 - read.0)
                if random.unit() < stalls { duration += 100_000_000 }
                let seen = level(at: before + random.unit() * duration)
                now = before + duration
                count = seen - taken
                guard count > 0 else {
                    now += moment(1) / 8
                    continue
                }
                // The FIFO is emptied but for what would not fit into the block.
                let left = max(0, count - 2 * watermark)
                count -= left
                taken += count
                wanted = now
                given = base.take(
                    count: count, lost: lost, .level(before: clocks(before), after: clocks(now), left: left))
            }
            time = given ?? BlockTime(time: 0, gapBefore: true, lostBefore: 0)
        }
        let truth = Double(monotonic) + moment(Double(first))
        let error = (Double(time.time - offset) - truth) / truePeriod
        return Outcome(time: time, count: taken - first, error: error, elapsed: wanted * 1e-9)
    }

    private var given: BlockTime?

    /// Reads for so many seconds.
    mutating func run(_ base: inout Timebase, seconds: Double) -> [Outcome] {
        var outcomes: [Outcome] = []
        let end = wanted * 1e-9 + seconds
        repeat { outcomes.append(next(&base)) } while (outcomes.last?.elapsed ?? end) < end
        return outcomes
    }

    /// The host is away.
    mutating func wait(seconds: Double) { wanted += seconds * 1e9 }

    /// Relative error of the measured rate.
    func rateError(_ base: Timebase) -> Double {
        guard let rate = base.rate else { return .infinity }
        return rate.rate * truePeriod * 1e-9 - 1
    }
}

/// The same random numbers on every machine.
struct SplitMix {
    var state: UInt64

    mutating func unit() -> Double {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return Double((z ^ (z >> 31)) >> 11) * 0x1p-53
    }
}
