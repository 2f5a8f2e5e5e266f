import Foundation
import Platform

/// A program that never outlives the test: a small shell beside it reads a pipe whose other end only the test process
/// has, and kills the program when that end is closed, however the test process ends. (PDEATHSIG will not do: it
/// follows the thread that started the program, and test threads come and go.)
public final class ChildProcess: Sendable {
    private let process: Process
    private let lifeline: Pipe
    private let folder: TemporaryFolder
    /// Process id of the program itself.
    public let pid: pid_t

    private static let launcher = """
        out=$1; shift
        "$@" >"$out/stdout" 2>"$out/stderr" </dev/null 3<&- & p=$!
        echo $p >"$out/pid.new"; mv "$out/pid.new" "$out/pid"
        ( wait_for_end() { while read -r _; do :; done; kill -9 $p 2>/dev/null; }; wait_for_end ) <&3 &
        w=$!
        exec 3<&-
        wait $p; s=$?
        echo $s >"$out/status.new"; mv "$out/status.new" "$out/status"
        kill $w 2>/dev/null
        exit 0
        """

    public init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        process = Process()
        lifeline = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments =
            ["-c", "exec 3<&0 </dev/null\n" + Self.launcher, "launcher", folder.url.path, program] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // What others start must not have the end that is closed at the end.
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        process.standardInput = lifeline.fileHandleForReading
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // The threads of tests have all signals blocked, which children would inherit.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        let pidFile = folder.path("pid")
        var found: pid_t = 0
        guard
            eventually(
                within: 20,
                {
                    let text = (try? String(contentsOfFile: pidFile, encoding: .utf8)) ?? ""
                    found = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
                    return found != 0
                })
        else { throw TestFailure("\(program) did not start") }
        pid = found
    }

    deinit {
        try? lifeline.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    public func signal(_ number: Int32) { _ = kill(pid, number) }

    /// Exit status, 128 + n after signal n; nil while it runs.
    public var status: Int? {
        guard let text = try? String(contentsOfFile: folder.path("status"), encoding: .utf8) else { return nil }
        return Int(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    public var isRunning: Bool { status == nil }

    /// Waits for the end; nil when it has not come in time.
    public func wait(within seconds: Double) -> Int? {
        _ = eventually(within: seconds) { status != nil }
        return status
    }

    public var output: String { (try? String(contentsOfFile: folder.path("stdout"), encoding: .utf8)) ?? "" }
    public var errors: String { (try? String(contentsOfFile: folder.path("stderr"), encoding: .utf8)) ?? "" }

    /// The number in the first line `port NUMBER` of its output; nil when that does not come in time.
    public func port(within seconds: Double = 20) -> Int? {
        var port: Int?
        _ = eventually(within: seconds) {
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
            port = lines.count > 1 ? Int(lines[0].dropFirst(5)) : nil
            return port != nil
        }
        return port
    }

    /// Seconds of processor time used so far.
    public var cpuSeconds: Double {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
}
