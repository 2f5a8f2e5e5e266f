import CLinux
import Glibc

/// The command line of the program, the program's name first. Unlike `CommandLine.arguments` it needs no /proc.
public enum ProgramArguments {
    public static var all: [String] {
        guard let words = clinux_arguments() else { return [] }
        var texts: [String] = []
        while let word = words[texts.count] { texts.append(String(cString: word)) }
        return texts
    }
}

/// Output of a program beside its results.
public enum ProgramOutput {
    /// The whole text; in one write where it is taken, so that lines of several threads do not mix.
    public static func write(_ text: String, to descriptor: Int32 = STDERR_FILENO) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// One or more lines to standard error.
    public static func printError(_ text: String) { write(text + "\n") }
}

/// Exit statuses, where they can be those of sysexits.h.
public enum ExitStatus: Int32, Sendable {
    case fault = 1
    case usage = 64
    /// Input that is wrong, or is not there.
    case data = 65
    case noInput = 66
    /// A broker, sensor or service cannot be had.
    case unavailable = 69
    /// A file that cannot be read or written.
    case files = 74
    case settings = 78
}

/// SIGTERM and Ctrl-C, as something that a service is asked for: its loop looks whether it has come.
public enum EndSignals {
    private static let flag = Atomic<Bool>(false)

    /// Whether one has come, or ``end()`` was called.
    public static var came: Bool { flag.load(ordering: .relaxed) }

    /// From now on these signals do not end the program. (SIGPIPE is of no use to a program with connections.)
    /// - Parameter others: signals that mean the same, besides SIGINT and SIGTERM.
    public static func listen(_ others: [Int32] = []) {
        // (The flag is made here, and not by the first signal.)
        _ = came
        for number in [SIGINT, SIGTERM] + others {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { @Sendable _ in EndSignals.flag.store(true, ordering: .relaxed) }
            sigaction(number, &action, nil)
        }
        _ = signal(SIGPIPE, SIG_IGN)
    }

    /// As if a signal had come.
    public static func end() { flag.store(true, ordering: .relaxed) }
}

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
