import Glibc
import Threads

/// SIGTERM and Ctrl-C, as something that is asked for.
enum Signals {
    private static let flag = Atomic<Bool>(false)

    static var came: Bool { flag.load(ordering: .relaxed) }

    static func listen() {
        _ = came
        for number in [SIGINT, SIGTERM] {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { @Sendable _ in Signals.flag.store(true, ordering: .relaxed) }
            sigaction(number, &action, nil)
        }
        _ = signal(SIGPIPE, SIG_IGN)
    }

    static func end() { flag.store(true, ordering: .relaxed) }
}

func monotonicSeconds() -> Double { Double(HostClock.monotonic()) / 1e9 }

/// Nanoseconds of UTC.
func realNanoseconds() -> Int64 { HostClock.wall() }

/// A line of the log, without control characters.
func printError(_ words: String) {
    let line = String(
        words.unicodeScalars.prefix(1000).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
    var bytes = Array("seismote-feed: \(line)\n".utf8)
    _ = write(2, &bytes, bytes.count)
}
