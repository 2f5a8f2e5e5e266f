import Glibc

/// What is waited for, on one line of a terminal that is written over.
final class WaitingLine {
    private let isShown: Bool
    private let start = monotonicSeconds()
    private var shown = ""

    init(enabled: Bool) { isShown = enabled && isatty(STDERR_FILENO) != 0 }

    /// Shown once it has lasted for half a second.
    func show(_ text: String) {
        guard isShown, monotonicSeconds() - start > 0.5, text != shown else { return }
        shown = text
        put("\r\u{1b}[K" + text)
    }

    /// Makes room for other output.
    func clear() {
        guard !shown.isEmpty else { return }
        put("\r\u{1b}[K")
        shown = ""
    }

    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
