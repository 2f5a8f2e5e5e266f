import Feed
import Threads

func monotonicSeconds() -> Double { Double(HostClock.monotonic()) / 1e9 }

/// Nanoseconds of UTC.
func realNanoseconds() -> Int64 { HostClock.wall() }

/// A line of the log.
func printError(_ words: String) { FeedSettings.printError(words) }
