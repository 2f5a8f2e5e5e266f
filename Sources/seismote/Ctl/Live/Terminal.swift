import Glibc

/// A terminal that is drawn over, on its other screen, so that what was there comes back.
final class Terminal {
    static var isThere: Bool { isatty(STDOUT_FILENO) != 0 }

    private var isOpen = false
    /// https://no-color.org
    let hasColor = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true

    func open() {
        isOpen = true
        put("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")
    }

    func close() {
        if isOpen { put("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l") }
        isOpen = false
    }

    deinit { close() }

    /// Characters.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (min(Int(size.ws_col), 500), min(Int(size.ws_row), 200))
    }

    /// Puts lines on the screen in the place of what is there.
    func draw(_ lines: [String]) {
        let shown = lines.prefix(size.height)
        put("\u{1b}[H" + shown.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J")
    }

    /// Text in red, or as it is where there is no colour.
    func red(_ text: String) -> String { hasColor ? "\u{1b}[31m\(text)\u{1b}[0m" : text }

    func dim(_ text: String) -> String { hasColor ? "\u{1b}[2m\(text)\u{1b}[0m" : text }

    private func put(_ text: String) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                write(STDOUT_FILENO, raw.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            done += count
        }
    }
}
