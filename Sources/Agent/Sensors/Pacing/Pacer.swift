import MiniSEED

/// Delivers blocks at the moments at which a real sensor would have completed them. Every deadline is computed from
/// the number of samples since the start, so lateness never adds up: who was late catches up.
struct Pacer: Sendable {
    private let clock: any SensorClock
    private let timeline: SampleTimeline
    /// Times real time; 0 or less: never wait.
    private let speed: Double
    /// Monotonic time of the start.
    private let origin: Int64

    init(clock: any SensorClock, rate: Double, speed: Double) {
        self.clock = clock
        self.speed = speed
        timeline = SampleTimeline(start: 0, rate: rate)
        origin = clock.monotonic()
    }

    /// Waits until so many samples since the start would be complete.
    func wait(samples: Int) {
        guard speed > 0 else { return }
        clock.sleep(until: deadline(samples: samples))
    }

    /// Monotonic time at which the last of so many samples is complete.
    func deadline(samples: Int) -> Int64 {
        let real = timeline.offset(of: samples)
        if speed == 1 { return origin &+ real }
        let scaled = (Double(real) / speed).rounded()
        return scaled < 9e18 - Double(origin) ? origin &+ Int64(scaled) : .max
    }
}
