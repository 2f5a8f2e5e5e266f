/// A connection that cannot be made or used as asked; the sentence names the object.
public struct MQTTError: Error, Sendable, Equatable, CustomStringConvertible {
    public var message: String
    public init(_ message: String) { self.message = message }
    public var description: String { message }
}
