import CLinux
import Glibc
import Messages
import Platform
import Settings
import Values

/// The program `seismoted`, by its command line.
public enum Program {
    /// - Parameter arguments: without the program's name.
    /// - Returns: exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        let parsed: Arguments
        do throws(AgentError) { parsed = try Arguments(arguments) } catch {
            ProgramOutput.write("seismoted: \(error)\n\n\(Arguments.usage)")
            return ExitStatus.usage.rawValue
        }
        if parsed.help {
            ProgramOutput.write(Arguments.usage, to: STDOUT_FILENO)
            return 0
        }
        if parsed.version {
            ProgramOutput.write("seismoted \(productVersion) (\(Identity.build))\n", to: STDOUT_FILENO)
            return 0
        }
        if parsed.health {
            let health = AgentHealth(
                file: try? SettingsFile.read(StateFile().path ?? AgentState.usualPath, isOwn: true))
            ProgramOutput.write("seismoted: \(health.words)\n", to: STDOUT_FILENO)
            return health.isWell ? 0 : 1
        }
        if let path = parsed.clock {
            ProgramOutput.write("seismoted: --clock \(path): \(String(cString: strerror(ClockWatch.run(path))))\n")
            return 1
        }
        let keeper: SettingsKeeper
        do throws(CodedErrors) {
            let layers = try SettingsLayers(
                path: parsed.config, preset: parsed.preset, overrides: parsed.overrides,
                stationID: HostStatus.stationID())
            keeper = try SettingsKeeper(layers, setsAside: !parsed.check)
        } catch {
            ProgramOutput.write(error.text(fileName: parsed.config) + "\n")
            return ExitStatus.settings.rawValue
        }
        if parsed.check {
            for note in keeper.notes { ProgramOutput.write("seismoted: \(note.message)\n") }
            ProgramOutput.write("\(parsed.config ?? "settings"): valid\n", to: STDOUT_FILENO)
            return 0
        }
        // An arena of its own for each thread costs 0.9 MB in all, and the thread that samples allocates nothing then.
        clinux_use_little_memory()
        do throws(AgentError) {
            keeper.started()
            let status = try Agent(keeper: keeper, exitAtEnd: parsed.exitAtEnd).run()
            return status == Agent.anew ? beginAnew() : status
        } catch {
            ProgramOutput.write("seismoted: \(error)\n")
            return 1
        }
    }

    /// Becomes the same program with the same command line, as the same process.
    private static func beginAnew() -> Int32 {
        let path = ProgramArguments.all.first ?? ""
        execv(path.contains("/") ? path : "/proc/self/exe", clinux_arguments())
        ProgramOutput.write("seismoted: \(path): \(String(cString: strerror(errno)))\n")
        return 1
    }
}

/// The agent's command line. Read by hand: an argument parser would bring FoundationEssentials into the agent.
struct Arguments: Sendable, Equatable {
    var config: String?
    var preset: String?
    /// `key=value` of each `--set`.
    var overrides: [String] = []
    var exitAtEnd = false
    var check = false
    var version = false
    var help = false
    var health = false
    /// File for the state of the kernel's clock.
    var clock: String?

    static let usage = """
        usage: seismoted [--config FILE] [--preset NAME] [--set KEY=VALUE]... [--exit-at-end]
               seismoted --check [--config FILE] [--preset NAME] [--set KEY=VALUE]...
               seismoted --health
               seismoted --clock FILE
               seismoted --version | --help

          --config FILE     settings file (YAML)
          --preset NAME     settings below it: a preset, or the path of a file
          --set KEY=VALUE   one setting above it, such as trace.rate_hz=10
          --exit-at-end     end with a recording instead of living on
          --check           check the settings and do nothing
          --health          say how the agent is that has the folder $RUNTIME_DIRECTORY, else /run/seismote, and end with
                            0 (it samples and is connected) or 1; containers do so
          --clock FILE      write the state of the kernel's clock to FILE every 2 s and do nothing else, for an
                            agent that may not ask the kernel (ProtectClock)

        Exit status: 0 after an orderly stop, 64 for a wrong command line, 78 for wrong settings.

        """

    /// - Parameter arguments: without the program's name.
    /// - Throws: a sentence that names the argument.
    init(_ arguments: [String]) throws(AgentError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = argument.hasPrefix("--") ? String(parts.first ?? "") : argument
            var value = argument.hasPrefix("--") && parts.count == 2 ? String(parts[1]) : nil
            func needed() throws(AgentError) -> String {
                if let given = value {
                    value = nil
                    return given
                }
                guard let next = rest.popFirst() else { throw AgentError("\(name) needs a value") }
                return next
            }
            switch name {
            case "--config", "-c": config = try needed()
            case "--preset": preset = try needed()
            case "--set": overrides.append(try needed())
            case "--exit-at-end": exitAtEnd = true
            case "--check": check = true
            case "--health": health = true
            case "--version": version = true
            case "--help", "-h": help = true
            case "--clock": clock = try needed()
            default: throw AgentError("unknown argument: \(argument)")
            }
            if value != nil { throw AgentError("\(name) takes no value") }
        }
    }
}

/// How an agent is, judged by another process from the agent's state file.
struct AgentHealth: Equatable {
    var isWell: Bool
    var words: String

    /// - Parameters:
    ///   - file: what the file holds; nil where there is none.
    ///   - now: of the monotonic clock, nanoseconds.
    init(file: [UInt8]?, now: Int64 = HostClock.monotonic()) {
        guard let file else {
            (isWell, words) = (false, "no agent runs here, or it has no RUNTIME_DIRECTORY")
            return
        }
        guard let state = (try? JSONReader.read(file)).map(AgentStateReading.init), let written = state.written else {
            (isWell, words) = (false, "the state file cannot be read")
            return
        }
        let age = Double(now) - written
        let sensor = state.health?.sensor ?? "unknown"
        let isConnected = state.isConnected == true
        let isFresh = age >= 0 && age <= Double(AgentState.patience)
        // (A recording that is over has nothing to sample any more.)
        let samples = sensor == "ok" || state.isWaiting || state.isEnded
        isWell = isFresh && isConnected && samples
        words =
            isFresh
            ? "sensor \(sensor), broker \(state.broker ?? "unknown")"
            : "its newest state is \(Int(max(0, age) / 1e9)) s old: it hangs or has ended"
    }
}
