import Glibc
import Platform

/// Ctrl-C, as something that is asked for while waiting.
package enum Interrupt {
    private static let flag = Atomic<Bool>(false)

    /// Whether it has come since `listen`.
    package static var came: Bool { flag.load(ordering: .relaxed) }

    /// Forgets the signal: it was for another program, such as an editor.
    package static func forget() { flag.store(false, ordering: .relaxed) }

    /// From now on SIGINT, SIGTERM and a terminal that is closed end what is waited for, and not the program.
    package static func listen() {
        _ = came
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var old = sigaction()
            sigaction(number, nil, &old)
            // (As nohup wants it.)
            if unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
            install(number) { _ in Interrupt.flag.store(true, ordering: .relaxed) }
        }
    }

    /// Finishes the work whatever signals come. (A terminal that is closed sends two.)
    package static func finish() {
        for number in [SIGINT, SIGTERM, SIGHUP] { _ = signal(number, SIG_IGN) }
        forget()
    }

    /// Does something that blocks in the kernel, which is interrupted when it takes longer.
    package static func after<R>(seconds: Double, _ body: () -> R) -> R {
        install(SIGALRM) { _ in }
        alarm(UInt32(max(1, min(seconds.rounded(.up), 3600))))
        defer { alarm(0) }
        return body()
    }

    /// Without SA_RESTART: a call that waits comes back.
    package static func install(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        sigaction(number, &action, nil)
    }
}
