/// A tree of plain data, as JSON and YAML know it: what settings are read into and written from.
/// Objects keep the order of their keys.
public enum Value: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([Value])
    case object([Member])

    public struct Member: Sendable, Equatable {
        public var key: String
        public var value: Value
        public init(_ key: String, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// The member of an object by its key; nil for other kinds of value.
    public subscript(key: String) -> Value? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}
