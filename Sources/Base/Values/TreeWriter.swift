/// Writer of a tree in one encoding or another. The caller keeps objects and arrays balanced, and writes a key before
/// each value of an object.
protocol TreeWriter {
    mutating func beginObject()
    mutating func endObject()
    /// - Parameter count: how many values follow.
    mutating func beginArray(count: Int)
    mutating func endArray()
    mutating func key(text name: String)
    mutating func null()
    mutating func bool(_ value: Bool)
    mutating func int(_ value: Int)
    mutating func double(_ value: Double)
    mutating func string(_ value: String)
}

extension TreeWriter {
    fileprivate mutating func write(_ tree: Value) {
        switch tree {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .int(let number): int(Int(number))
        case .double(let number): double(number)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray(count: elements.count)
            for element in elements { write(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(text: member.key)
                write(member.value)
            }
            endObject()
        }
    }
}

extension JSONWriter: TreeWriter {
    package mutating func beginArray(count: Int) { beginArray() }

    /// A whole tree, members in their own order.
    package mutating func value(_ tree: Value) { write(tree) }
}

extension CBORWriter {
    /// A whole tree, members in their own order.
    package mutating func value(_ tree: Value) { write(tree) }
}
