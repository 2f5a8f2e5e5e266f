import Messages
import Values

/// YAML as a plain tree, for programs that have a table of settings of their own.
public enum PlainTree {
    /// - Throws: an error of code `syntax` or `tooLarge`, with line and column.
    public static func read(yaml bytes: [UInt8]) throws(CodedError) -> Value { try YAMLReader.read(bytes).root }

    /// The tree of a text, and where in it each value stands.
    public struct Located: Sendable {
        public var root: Value
        private let document: Document

        /// - Throws: an error of code `syntax` or `tooLarge`, with line and column.
        public init(yaml bytes: [UInt8]) throws(CodedError) {
            document = try YAMLReader.read(bytes)
            root = document.root
        }

        /// Line and column, from 1, of a value or of the nearest one around it.
        /// - Parameter keys: from the root, such as `["feed", "days"]`.
        public func place(of keys: [String]) -> (line: Int, column: Int)? {
            let pointer = keys.reduce("") { JSONPointer.appending($1, to: $0) }
            return document.mark(at: pointer).map { ($0.line, $0.column) }
        }
    }
}
