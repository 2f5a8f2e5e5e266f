import Messages

/// YAML as a plain tree, for programs that have a table of settings of their own.
public enum PlainTree {
    /// - Throws: an error of code `syntax` or `tooLarge`, with line and column.
    public static func read(yaml bytes: [UInt8]) throws(CodedError) -> Value { try YAMLReader.read(bytes).root }
}
