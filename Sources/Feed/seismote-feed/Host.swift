import Feed
import Glibc

/// A line of the log.
func printError(_ words: String) { FeedSettings.printError(words) }

/// Seconds of a processor that this thread has had.
func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// From now on all other threads, of this program and of others, go before the calling one where there are too few processors.
/// (On Linux a priority is a thread's own, setpriority(2).)
func letOthersGoFirst() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
