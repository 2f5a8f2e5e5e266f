import Glibc
import MiniSEED
import Platform

/// The clocks that a driver without hardware needs; given to it, so that tests can bring their own.
public protocol SensorClock: Sendable {
    /// Nanoseconds of a clock that never jumps.
    func monotonic() -> Int64
    /// Nanoseconds of UTC since 1970-01-01.
    func wall() -> Int64
    /// Returns when the monotonic clock has reached a time; at once when it has passed.
    func sleep(until deadline: Int64)
}

/// The host's clocks: `CLOCK_MONOTONIC` and `CLOCK_REALTIME`.
public struct SystemSensorClock: SensorClock {
    public init() {}

    public func monotonic() -> Int64 { HostClock.monotonic() }

    public func wall() -> Int64 { HostClock.wall() }

    public func sleep(until deadline: Int64) {
        guard deadline > 0 else { return }
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        // An absolute deadline: after a signal the same call goes on waiting for the same moment.
        while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &time, nil) == EINTR {}
    }
}

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
