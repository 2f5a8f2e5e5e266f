import Glibc
import Threads

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
