import Foundation
import Platform
import TestSupport

/// The real `seismote` on a terminal of its own, with somebody at its keyboard.
final class TerminalProcess: Sendable {
    private struct State {
        var screen: Screen
        var bytes: [UInt8] = []
        var status: Int32?
    }

    let pid: pid_t
    private let keyboard: Int32
    /// The program's end; open here too, so that it can be asked for its modes.
    private let line: Int32
    private let state: Mutex<State>
    private let reader = DispatchSemaphore(value: 0)

    init(
        _ arguments: [String], width: Int = 100, height: Int = 30, environment: [String: String] = [:]
    ) throws {
        // What posix_openpt, unlockpt and ptsname do (TIOCSPTLCK, TIOCGPTN), which the headers do not show to Swift.
        keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number): (Int32, UInt32) = (0, 0)
        guard keyboard >= 0, ioctl(keyboard, 0x4004_5431, &locked) == 0, ioctl(keyboard, 0x8004_5430, &number) == 0
        else { throw TestFailure("no terminal") }
        let path = "/dev/pts/\(number)"
        line = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
        state = Mutex(State(screen: Screen(width: width, height: height)))

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A session of its own (POSIX_SPAWN_SETSID), whose terminal is the one that it opens first; signals as usual.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, 0x80 | Int16(POSIX_SPAWN_SETSIGMASK))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var values = ProcessInfo.processInfo.environment
        values["NO_COLOR"] = nil
        values["TERM"] = "xterm"
        values.merge(environment) { $1 }
        let program = AgentProcess.builtProgram("seismote")
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(program)]
        for word in arguments { words.append(strdup(word)) }
        words.append(nil)
        var settings: [UnsafeMutablePointer<CChar>?] = []
        for (key, value) in values { settings.append(strdup("\(key)=\(value)")) }
        settings.append(nil)
        defer {
            for one in words { free(one) }
            for one in settings { free(one) }
        }
        var id = pid_t()
        let code = posix_spawn(&id, program, &actions, &attributes, &words, &settings)
        guard code == 0 else { throw TestFailure("\(program): \(String(cString: strerror(code)))") }
        pid = id
        Thread.detachNewThread { [keyboard, reader] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while true {
                var input = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
                guard poll(&input, 1, 20) >= 0 else { break }
                if input.revents & Int16(POLLIN) != 0 {
                    let count = read(keyboard, &chunk, chunk.count)
                    guard count > 0 else { break }
                    let new = Array(chunk[..<count])
                    self.state.withLock { state in
                        state.bytes += new
                        state.screen.write(new)
                    }
                } else if self.status != nil {
                    break
                }
            }
            reader.signal()
        }
    }

    deinit {
        close(keyboard)
        close(line)
    }

    /// Exit status, 128 + n after signal n; nil while it runs.
    var status: Int? {
        state.withLock { state in
            if state.status == nil {
                var code: Int32 = 0
                guard waitpid(pid, &code, WNOHANG) == pid else { return nil }
                state.status = code & 0x7f == 0 ? code >> 8 & 0xff : 128 + code & 0x7f
            }
            return state.status.map(Int.init)
        }
    }

    /// Waits for the end, and for all that was written until then; nil when it has not come in time.
    func wait(within seconds: Double = 20) -> Int? {
        guard eventually(within: seconds, { status != nil }) else { return nil }
        reader.wait()
        reader.signal()
        return status
    }

    var screen: Screen { state.withLock { $0.screen } }
    /// What it shows when nothing more is drawn for a while: not half a picture.
    var settled: Screen {
        var last = screen
        _ = eventually(within: 20) {
            usleep(300_000)
            defer { last = screen }
            return screen.lines == last.lines
        }
        return last
    }

    /// All that was written.
    var output: String { String(decoding: state.withLock { $0.bytes }, as: UTF8.self) }

    func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(keyboard, bytes, bytes.count)
    }

    func resize(width: Int, height: Int) {
        state.withLock { $0.screen.resize(width: width, height: height) }
        var size = winsize(ws_row: UInt16(height), ws_col: UInt16(width), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(keyboard, UInt(TIOCSWINSZ), &size)
    }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Whether the terminal shows what is typed.
    var echoes: Bool {
        var mode = termios()
        tcgetattr(line, &mode)
        return mode.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Whether it shows something in time.
    func shows(_ text: String, within seconds: Double = 20) -> Bool {
        eventually(within: seconds) { screen.text.contains(text) }
    }
}
