import Glibc
import MQTT

/// Lines that a person types. (The standard library's `readLine` goes on waiting when Ctrl-C comes.)
enum Keyboard {
    /// The next line without its end, at most 4 KB of it; nil at the end of the input, or when Ctrl-C has come.
    static func line() -> String? {
        var bytes: [UInt8] = []
        while !Interrupt.came {
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&input, 1, 500) > 0 else { continue }
            // A byte at a time: what comes behind the line is for others.
            var byte: UInt8 = 0
            let count = read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count <= 0 { return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            if bytes.count < 4096 { bytes.append(byte) }
        }
        return nil
    }
}

/// While it is there, the terminal does not show what is typed; where there is no terminal, nothing happens.
struct HiddenInput {
    private var keyboard: termios?

    init() {
        var now = termios()
        guard tcgetattr(STDIN_FILENO, &now) == 0 else { return }
        keyboard = now
        now.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &now)
    }

    /// The terminal is as it was.
    func end() {
        guard var keyboard else { return }
        tcsetattr(STDIN_FILENO, TCSANOW, &keyboard)
    }
}
