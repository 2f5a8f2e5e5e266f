import Administration
import ArgumentParser
import Glibc
import MQTT

/// The service on this machine.
enum AgentService {
    enum Start: Equatable {
        case runs
        /// It has not begun, and nothing goes on with former settings: those that are there are in force from its start.
        case later(String)
        /// systemd was not told: an agent that runs goes on with former settings.
        case failed(String)

        /// Reason why it does not run.
        var problem: String? {
            switch self {
            case .runs: nil
            case .later(let why), .failed(let why): why
            }
        }
    }

    /// Seconds that systemd has for each answer. (A board whose system has just started is slow.)
    static let patience = 60.0

    /// Starts it with the settings that are there, now and at each boot.
    /// - Parameter path: the settings file, for an agent that systemd does not supervise.
    static func start(settings path: String) -> Start {
        if access("/run/systemd/system", F_OK) == 0 { return start(seconds: patience) }
        // An agent that somebody else supervises begins anew with what was saved.
        guard let process = AgentProcesses.with(settings: path), kill(pid_t(process), SIGHUP) == 0 else {
            return .later("systemd does not run here; to start it by hand: seismoted --config \(path)")
        }
        return .runs
    }

    /// Starts it by systemd. The order comes first: what systemd has taken, it does, however long that lasts.
    static func start(seconds: Double, by systemctl: String = "systemctl") -> Start {
        func status(_ words: String...) -> Int32? { ProgramRun([systemctl] + words, seconds: seconds)?.status }
        _ = status("daemon-reload")
        _ = status("enable", "seismote")
        guard status("--no-block", "restart", "seismote") == 0 else {
            return .failed("systemctl restart seismote failed: journalctl -u seismote -n 50 says why")
        }
        // (Waits for the order, or finds that it is done.)
        switch status("start", "seismote") {
        case 0?: return .runs
        case nil: return .later("it takes longer than \(Int(seconds)) s: systemctl status seismote")
        default: return .later("it ended: journalctl -u seismote -n 50 says why")
        }
    }
}

/// Programs of packages of their own, which commands of this one stand for.
enum PackagedProgram {
    /// Becomes another program: the one that lies beside this, or the one in `PATH`.
    /// - Parameters:
    ///   - program: its name.
    ///   - arguments: what follows the name.
    /// - Returns: why that cannot be; otherwise it does not come back.
    static func become(_ program: String, _ arguments: [String] = []) -> String {
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { words.forEach { free($0) } }
        for path in [beside(program), program].compactMap(\.self) { execvp(path, &words) }
        return "the program \(program) cannot be run: \(String(cString: strerror(errno))). "
            + "It is in the package \(program): apt install \(program)"
    }

    private static func beside(_ program: String) -> String? {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count - 1)
        guard count > 0 else { return nil }
        let own = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return own.lastIndex(of: "/").map { own[...$0] + program }
    }
}

/// `seismote feed`: runs the server, which is a program and a package of its own.
struct FeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "Serve stations by SeedLink, FDSN web services and /metrics.",
        discussion: """
            seismote feed --broker mqtts://broker.local:8883 --listen 0.0.0.0

            Runs the program seismote-feed, which the package of the same name brings, with the options that follow: see \
            `seismote-feed --help`.
            """)

    @Argument(parsing: .captureForPassthrough, help: "Options of seismote-feed.")
    var options: [String] = []

    func run() throws { try ctl { try start() } }

    /// Does not come back unless the program cannot be run.
    private func start() throws -> CtlStatus {
        throw CtlError(status: .files, PackagedProgram.become("seismote-feed", options))
    }
}

/// A run of another program, found by PATH (and in /usr/sbin and /sbin), with a time limit; Ctrl-C ends it.
struct ProgramRun {
    /// Exit status; nil: ended by a signal, by the time limit or by Ctrl-C.
    let status: Int32?
    let output: String
    let errors: String

    /// Where it is; nil when it is not installed.
    static func path(_ name: String) -> String? { ChildProgram.path(name) }

    /// - Returns: nil when it is not installed or cannot be started.
    init?(_ words: [String], input: String = "", seconds: Double = 10) {
        guard
            let run = ChildProgram(
                words, input: Array(input.utf8), seconds: seconds, isCancelled: { Interrupt.came })
        else { return nil }
        (status, output, errors) = (run.status, run.text, run.errorText)
    }

    /// Lines `KEY=VALUE` of the output.
    var properties: [String: String] {
        var found: [String: String] = [:]
        for line in output.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { found[String(parts[0])] = String(parts[1]) }
        }
        return found
    }
}
