/// Reason why a text is not read as a tree.
public struct ReadingError: Error, Sendable, Equatable {
    public enum Kind: Sendable { case syntax, tooLarge }

    public var kind: Kind
    /// A sentence for people. It has nothing of what was given, which may be a secret.
    public var message: String
    /// JSON pointer of the member; empty for the whole.
    public var path: String
    /// Nil when there is nothing to show.
    public var got: Value?
    /// In words; nil when the message says it all.
    public var allowed: String?
    /// From 1; nil where it is not known.
    public var line: Int?
    public var column: Int?

    init(
        _ kind: Kind, _ message: String, at path: String = "", got: Value? = nil, allowed: String? = nil,
        line: Int? = nil, column: Int? = nil
    ) {
        self.kind = kind
        self.message = message
        self.path = path
        self.got = got
        self.allowed = allowed
        self.line = line
        self.column = column
    }
}
