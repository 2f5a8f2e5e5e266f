import Messages
import Threads
import Values

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
        guard let state = try? JSONReader.read(file), let written = state["written_ns"]?.number else {
            (isWell, words) = (false, "the state file cannot be read")
            return
        }
        let age = Double(now) - written
        let sensor = Self.text(state["health"]?["sensor"])
        let isConnected = state["connected"]?.flag == true
        let isFresh = age >= 0 && age <= Double(AgentState.patience)
        // (A recording that is over has nothing to sample any more.)
        let samples = sensor == "ok" || state["waiting"]?.flag == true || state["ended"]?.flag == true
        isWell = isFresh && isConnected && samples
        words =
            isFresh
            ? "sensor \(sensor), broker \(Self.text(state["broker"]))"
            : "its newest state is \(Int(max(0, age) / 1e9)) s old: it hangs or has ended"
    }

    private static func text(_ value: Value?) -> String {
        if case .string(let text) = value { return text }
        return "unknown"
    }
}
