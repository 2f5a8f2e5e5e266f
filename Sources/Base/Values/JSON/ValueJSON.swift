extension JSONWriter {
    private mutating func canonical(_ tree: Value) {
        switch tree {
        case .double(let number): ecmaScript(number)
        case .array(let elements):
            beginArray()
            for element in elements { canonical(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members.sorted(by: { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }) {
                key(text: member.key)
                canonical(member.value)
            }
            endObject()
        default: value(tree)
        }
    }

    fileprivate mutating func canonicalTree(_ tree: Value) { canonical(tree) }
}

extension JSONWriter {
    /// The bytes of an object.
    /// - Parameter members: writes what is in it.
    package static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return writer.bytes
    }
}

extension Value {
    /// Compact JSON, members in their own order.
    public func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }

    /// The one JSON text of this tree that everybody can make again, for digests: RFC 8785 (members sorted by the UTF-16
    /// units of their keys, no blanks, numbers as ECMAScript writes them). Integers keep all their digits, also beyond
    /// 2⁵³ where RFC 8785 would round them.
    public func canonicalJSON() -> [UInt8] {
        var writer = JSONWriter()
        writer.isCanonical = true
        writer.canonicalTree(self)
        return writer.bytes
    }
}
