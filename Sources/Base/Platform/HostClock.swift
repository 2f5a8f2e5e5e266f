import Glibc

/// The host's clocks.
public enum HostClock {
    /// Nanoseconds of UTC since 1970-01-01.
    public static func wall() -> Int64 { read(CLOCK_REALTIME) }

    /// Nanoseconds of a clock that never jumps.
    public static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }

    /// Nanoseconds since the machine was started.
    public static func sinceBoot() -> Int64 { read(CLOCK_BOOTTIME) }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Seconds of the clock that never jumps.
package func monotonicSeconds() -> Double { Double(HostClock.monotonic()) / 1e9 }

/// Nanoseconds of UTC.
package func realNanoseconds() -> Int64 { HostClock.wall() }
