import Glibc

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
