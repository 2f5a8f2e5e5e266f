import Threads

/// Seconds of the monotonic clock.
package func monotonicSeconds() -> Double { Double(HostClock.monotonic()) / 1e9 }

/// Nanoseconds of UTC.
package func realNanoseconds() -> Int64 { HostClock.wall() }
