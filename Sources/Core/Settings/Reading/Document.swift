import Values

/// A tree as it was read, and where in the text each of its nodes began.
struct Document: Sendable, Equatable {
    struct Mark: Sendable, Equatable {
        /// From 1.
        var line: Int
        var column: Int
    }

    var root: Value
    /// By JSON pointer; for the member of an object, the place of its key. Empty when the text has no lines.
    var marks: [String: Mark] = [:]

    /// The place of a node, or of the nearest node around it.
    func mark(at pointer: String) -> Mark? {
        var path = Substring(pointer)
        while true {
            if let mark = marks[String(path)] { return mark }
            guard let slash = path.lastIndex(of: "/") else { return nil }
            path = path[..<slash]
        }
    }
}
