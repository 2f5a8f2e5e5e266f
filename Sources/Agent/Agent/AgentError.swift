import Threads

/// Reason why the agent cannot start; the sentence names the object.
public struct AgentError: Error, Sendable, Equatable, CustomStringConvertible {
    public var message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}

extension Wake {
    static func make() throws(AgentError) -> Wake {
        do throws(WakeError) { return try Wake() } catch { throw AgentError(error.description) }
    }
}
