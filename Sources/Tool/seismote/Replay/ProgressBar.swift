import Glibc
import Platform

/// Progress of a command, on a terminal only.
final class ProgressBar {
    private let enabled: Bool
    private var shown = -1

    init(enabled: Bool) { self.enabled = enabled && isatty(STDERR_FILENO) != 0 }

    func show(_ done: Int, of total: Int) {
        guard enabled, total > 0 else { return }
        let percent = min(100, done * 100 / total)
        guard percent != shown else { return }
        shown = percent
        let filled = percent * 40 / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 40 - filled)
        ProgramOutput.write("\r\(bar) \(percent) %")
    }

    func finish() {
        if enabled, shown >= 0 { ProgramOutput.write("\r\u{1b}[K") }
    }
}
