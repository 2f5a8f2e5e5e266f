/// Why the agent cannot start; the sentence names the object.
public struct AgentError: Error, Sendable, Equatable, CustomStringConvertible {
    public var message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}
