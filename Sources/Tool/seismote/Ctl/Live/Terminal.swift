import Glibc
import MQTT
import Platform

/// A terminal that is drawn over, on its other screen, so that what was there comes back.
final class Terminal {
    /// Standard output is one, and can be drawn on.
    static var isThere: Bool {
        guard isatty(STDOUT_FILENO) != 0, let kind = getenv("TERM"), kind.pointee != 0 else { return false }
        return String(cString: kind) != "dumb"
    }

    /// Characters of a line, where standard output is a terminal that says so.
    static var width: Int? { size(of: STDOUT_FILENO)?.width }

    /// Characters, where a file is a terminal that says so; one that does not say its height has 0.
    static func size(of file: Int32) -> (width: Int, height: Int)? {
        var size = winsize()
        guard ioctl(file, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Ctrl-Z has come.
    private static let mustRest = Atomic<Bool>(false)
    /// After so many pictures all lines are drawn anew, whatever others have written between them.
    private static let freshAfter = 50

    private var isOpen = false
    /// Settings of the keyboard before.
    private var keyboard: termios?
    /// Content of the screen, nil: not known; and how large that was.
    private var shown: [String]?
    private var shownSize = (width: 0, height: 0)
    private var pictures = 0
    /// https://no-color.org
    let hasColor = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true

    func open() {
        isOpen = true
        var mode = termios()
        if tcgetattr(STDIN_FILENO, &mode) == 0 {
            keyboard = mode
            // Keys are not shown and come at once; Ctrl-C and Ctrl-Z stay what they are.
            mode.c_lflag &= ~tcflag_t(ECHO | ICANON)
            withUnsafeMutableBytes(of: &mode.c_cc) { codes in
                codes[Int(VMIN)] = 0
                codes[Int(VTIME)] = 0
            }
            tcsetattr(STDIN_FILENO, TCSANOW, &mode)
        }
        Self.mustRest.store(false, ordering: .relaxed)
        Interrupt.install(SIGTSTP) { _ in Terminal.mustRest.store(true, ordering: .relaxed) }
        put("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")
        shown = nil
    }

    func close() {
        guard isOpen else { return }
        put("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
        if var keyboard { tcsetattr(STDIN_FILENO, TCSANOW, &keyboard) }
        isOpen = false
    }

    deinit { close() }

    /// Characters.
    var size: (width: Int, height: Int) {
        guard let size = Self.size(of: STDOUT_FILENO), size.height > 0 else { return (80, 24) }
        return (min(size.width, 500), min(size.height, 200))
    }

    /// Puts lines on the screen in the place of what is there: those that are not there yet.
    func draw(_ lines: [String]) {
        let size = size
        pictures += 1
        if size != shownSize || pictures % Self.freshAfter == 0 { shown = nil }
        let new = lines.prefix(size.height).map { Self.cut($0, to: size.width) }
        var text = ""
        for (i, line) in new.enumerated() where shown.map({ i >= $0.count || $0[i] != line }) ?? true {
            text += "\u{1b}[\(i + 1);1H\u{1b}[2K\(line)"
        }
        if new.count < size.height, new.count < shown?.count ?? .max { text += "\u{1b}[\(new.count + 1);1H\u{1b}[J" }
        (shown, shownSize) = (new, size)
        if !text.isEmpty { put(text) }
    }

    /// A line that fits; what does not is left away, colours and the like are not.
    static func cut(_ line: String, to width: Int) -> String {
        func walk(_ body: (Character, _ isShown: Bool) -> Void) {
            var isCode = false
            for character in line {
                if character == "\u{1b}" { isCode = true }
                body(character, !isCode)
                if character.isLetter { isCode = false }
            }
        }
        var length = 0
        walk { if $1 { length += 1 } }
        guard length > width else { return line }
        var (result, count) = ("", 0)
        walk { character, isShown in
            if !isShown { return result.append(character) }
            count += 1
            if count <= width { result.append(count < width ? character : "…") }
        }
        return result
    }

    /// Takes the keys that were pressed.
    /// - Returns: true when it is to end.
    func wantsEnd() -> Bool {
        guard keyboard != nil else { return false }
        var keys = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &keys, keys.count)
        return count > 0 && keys[..<count].contains(UInt8(ascii: "q"))
    }

    /// Gives the terminal back while the program is stopped by Ctrl-Z.
    func restIfAsked() {
        guard Self.mustRest.exchange(false, ordering: .relaxed) else { return }
        close()
        raise(SIGSTOP)
        open()
    }

    /// Text in red, or as it is where there is no colour.
    func red(_ text: String) -> String { hasColor ? "\u{1b}[31m\(text)\u{1b}[0m" : text }

    func dim(_ text: String) -> String { hasColor ? "\u{1b}[2m\(text)\u{1b}[0m" : text }

    private func put(_ text: String) { ProgramOutput.write(text, to: STDOUT_FILENO) }
}

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
