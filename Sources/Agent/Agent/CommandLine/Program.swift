import CLinux
import Glibc
import Messages
import Settings
import Threads

/// The program `seismoted`, by its command line.
public enum Program {
    /// `EX_USAGE` and `EX_CONFIG` of sysexits.h.
    static let badUsage: Int32 = 64
    static let badSettings: Int32 = 78

    /// - Parameter arguments: without the program's name.
    /// - Returns: exit status.
    public static func run(_ arguments: [String]) -> Int32 {
        let parsed: Arguments
        do throws(AgentError) { parsed = try Arguments(arguments) } catch {
            say("seismoted: \(error)\n\n\(Arguments.usage)", to: STDERR_FILENO)
            return badUsage
        }
        if parsed.help {
            say(Arguments.usage, to: STDOUT_FILENO)
            return 0
        }
        if parsed.version {
            say("seismoted \(productVersion) (\(Identity.build))\n", to: STDOUT_FILENO)
            return 0
        }
        if parsed.health {
            let health = AgentHealth(
                file: try? SettingsFile.read(StateFile().path ?? AgentState.usualPath, isOwn: true))
            say("seismoted: \(health.words)\n", to: STDOUT_FILENO)
            return health.isWell ? 0 : 1
        }
        if let path = parsed.clock {
            say("seismoted: --clock \(path): \(String(cString: strerror(ClockWatch.run(path))))\n", to: STDERR_FILENO)
            return 1
        }
        let keeper: SettingsKeeper
        do throws(CodedErrors) {
            let layers = try SettingsLayers(
                path: parsed.config, preset: parsed.preset, overrides: parsed.overrides,
                stationID: HostStatus.stationID())
            keeper = try SettingsKeeper(layers, setsAside: !parsed.check)
        } catch {
            say(error.text(fileName: parsed.config) + "\n", to: STDERR_FILENO)
            return badSettings
        }
        if parsed.check {
            for note in keeper.notes { say("seismoted: \(note.message)\n", to: STDERR_FILENO) }
            say("\(parsed.config ?? "settings"): valid\n", to: STDOUT_FILENO)
            return 0
        }
        // An arena of its own for each thread costs 0.9 MB in all, and the thread that samples allocates nothing then.
        clinux_use_little_memory()
        do throws(AgentError) {
            keeper.started()
            let status = try Agent(keeper: keeper, exitAtEnd: parsed.exitAtEnd).run()
            return status == Agent.anew ? beginAnew() : status
        } catch {
            say("seismoted: \(error)\n", to: STDERR_FILENO)
            return 1
        }
    }

    /// Becomes the same program with the same command line, as the same process.
    private static func beginAnew() -> Int32 {
        let path = ProgramArguments.all.first ?? ""
        execv(path.contains("/") ? path : "/proc/self/exe", clinux_arguments())
        say("seismoted: \(path): \(String(cString: strerror(errno)))\n", to: STDERR_FILENO)
        return 1
    }

    private static func say(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}
