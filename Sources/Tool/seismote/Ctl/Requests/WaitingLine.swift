import Glibc
import MQTT
import Threads

/// Line of a terminal that names what is waited for, and is written over.
final class WaitingLine {
    private let isShown: Bool
    private let start = monotonicSeconds()
    private var shown = ""

    init(enabled: Bool) { isShown = enabled && isatty(STDERR_FILENO) != 0 }

    /// Shown once it has lasted for half a second.
    func show(_ text: String) {
        guard isShown, monotonicSeconds() - start > 0.5, text != shown else { return }
        shown = text
        ProgramOutput.write("\r\u{1b}[K" + Terminal.cut(text, to: width))
    }

    /// Makes room for other output.
    func clear() {
        guard !shown.isEmpty else { return }
        ProgramOutput.write("\r\u{1b}[K")
        shown = ""
    }

    /// One less than the terminal's: behind a full line some go on in the next one, which would not be written over.
    private var width: Int {
        let width = Terminal.size(of: STDERR_FILENO)?.width ?? 80
        return (width > 1 ? width : 80) - 1
    }
}
