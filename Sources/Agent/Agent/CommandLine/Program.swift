import CLinux
import Glibc
import Messages
import Settings
import Threads

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
