import Glibc
import Messages

/// The agent's own state as a file for this machine (`AgentState`), in the folder that systemd makes for it in memory. By
/// the main thread: a state that grows old is a main thread that hangs.
struct StateFile {
    /// Nil: nobody has given the agent a folder.
    let path: String?
    private var last: Int64?
    private(set) var problem: String?

    /// - Parameter environment: reads a variable of the environment.
    init(environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
        // (systemd names several with colons between them.)
        let folder = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init)
        path = folder.flatMap { $0.hasPrefix("/") ? "\($0)/\(AgentState.fileName)" : nil }
    }

    /// - Parameter now: of the monotonic clock.
    func isDue(isNew: Bool, now: Int64) -> Bool {
        guard path != nil, let last else { return path != nil }
        return isNew || now - last >= AgentState.interval
    }

    /// Replaces the file, for root and the agent's group.
    /// - Returns: why not, when that is new.
    mutating func write(_ state: AgentState) -> String? {
        guard let path else { return nil }
        last = state.written
        let before = problem
        problem = MemoryFile.replace(path, state.json(), mode: 0o640) ? nil : String(cString: strerror(errno))
        guard let problem, problem != before else { return nil }
        return "\(path) cannot be written, so that seismote doctor knows less: \(problem)"
    }

    /// The agent ends in order.
    func remove() { if let path { unlink(path) } }
}
