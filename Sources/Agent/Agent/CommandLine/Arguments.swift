/// The agent's command line. Read by hand: an argument parser would bring FoundationEssentials into the agent.
public struct Arguments: Sendable, Equatable {
    public var config: String?
    public var preset: String?
    /// `key=value` of each `--set`.
    public var overrides: [String] = []
    public var exitAtEnd = false
    public var check = false
    public var version = false
    public var help = false
    public var health = false
    /// File for the state of the kernel's clock.
    public var clock: String?

    public static let usage = """
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
    public init(_ arguments: [String]) throws(AgentError) {
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
