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

/// Output of a program for people and other programs.
public enum ProgramOutput {
    /// Why a write to standard output has failed, an errno; 0 if none has.
    private static let fault = Atomic<Int32>(0)

    /// For the beginning of a program, before it opens anything. Where standard input, output or error are closed, no other
    /// file gets their numbers, and what is written there fails. From now on the program waits for who reads its standard
    /// output, also where another program that has the same pipe or terminal has made it non-blocking. If it would end with
    /// 0, though something that it printed could not be written, it says so and ends with ``ExitStatus/files``; where the
    /// reader has gone, as behind `| head -1`, by SIGPIPE and without a word.
    public static func begin() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // (The lowest number that is free is this one.)
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
        let flags = fcntl(STDOUT_FILENO, F_GETFL)
        if flags >= 0, flags & O_NONBLOCK != 0 {
            // (An opening of its own: the other program's stays as it is. A socket cannot be opened.)
            let kept = flags & (O_ACCMODE | O_APPEND)
            let own = open("/proc/self/fd/\(STDOUT_FILENO)", kept | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            if own >= 0 {
                _ = fcntl(own, F_SETFL, kept)
                dup2(own, STDOUT_FILENO)
                close(own)
            }
        }
        on_exit({ status, _ in if status == 0 { ProgramOutput.end() } }, nil)
    }

    private static func end() {
        var number = fault.load(ordering: .relaxed)
        if number == 0 { number = clinux_finish_output() }
        guard number != 0 else { return }
        if number == EPIPE { endAsBrokenPipe() }
        let reason = number > 0 ? String(cString: strerror(number)) : "a part is missing; the disk may be full"
        printError("cannot write standard output: \(reason)")
        _exit(ExitStatus.files.rawValue)
    }

    /// Ends like a program whose reader has gone: by the signal, without a word.
    public static func endAsBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(141)
    }

    /// The whole text; in one write where it is taken, so that lines of several threads do not mix. Waits for a slow
    /// reader.
    public static func write(_ text: String, to descriptor: Int32 = STDERR_FILENO) {
        var text = text
        let isWhole = text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, isOnlyLater(descriptor) { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        if !isWhole, descriptor == STDOUT_FILENO { fault.store(errno, ordering: .relaxed) }
    }

    /// Whether a write failed (see `errno`) only because a signal came, or because the file, which another program has made
    /// non-blocking, takes nothing for now; then this waits until it takes more.
    public static func isOnlyLater(_ descriptor: Int32) -> Bool {
        if errno == EINTR { return true }
        guard errno == EAGAIN else { return false }
        var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&ready, 1, -1)
        return true
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
