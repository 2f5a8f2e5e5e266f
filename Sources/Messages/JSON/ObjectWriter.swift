/// What writes a message, value by value, as the same object in one encoding or another. The caller keeps objects and
/// arrays balanced, and writes a key before each value of an object.
protocol ObjectWriter {
    mutating func beginObject()
    mutating func endObject()
    /// - Parameter count: how many values follow.
    mutating func beginArray(count: Int)
    mutating func endArray()
    mutating func key(_ name: StaticString)
    mutating func bool(_ value: Bool)
    mutating func int(_ value: Int)
    mutating func double(_ value: Double)
    mutating func float(_ value: Float)
    mutating func string(_ value: String)
    mutating func string(literal value: StaticString)
    mutating func time(_ nanoseconds: Int64)
}

extension ObjectWriter {
    /// A member that is left out when there is no value.
    mutating func optional(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        key(name)
        double(value)
    }
}

extension JSONWriter: ObjectWriter {
    mutating func beginArray(count: Int) { beginArray() }
}
