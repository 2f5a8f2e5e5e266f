import Glibc

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
