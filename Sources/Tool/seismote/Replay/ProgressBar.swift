import Glibc

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
        put("\r\(bar) \(percent) %")
    }

    func finish() {
        if enabled, shown >= 0 { put("\r\u{1b}[K") }
    }

    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
