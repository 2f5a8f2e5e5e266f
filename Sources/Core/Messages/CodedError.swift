import Values

/// One thing that is wrong with a command, with the settings, or with what was asked of the station: what, where, what was
/// given and what would be right.
public struct CodedError: Error, Sendable, Equatable {
    /// These words also go on the wire.
    public enum Code: String, Sendable, CaseIterable {
        case syntax
        case unknownKey = "unknown_key"
        case type, range
        case crossField = "cross_field"
        case locked, conflict, downgrade, expired, duplicate
        case retainedCommand = "retained_command"
        case tooLarge = "too_large"
        case rateLimited = "rate_limited"
        case busy, unavailable
        case `internal`
    }

    /// JSON pointer (RFC 6901) of the member, such as `/axes/x/detection/window` or `/confirm_s`; empty for the whole.
    public var path: String
    public var code: Code
    /// A sentence for people.
    public var message: String
    /// Value given; nil, and left out, when there is nothing to show.
    public var got: Value?
    /// Allowed values, in words or as an interval; nil when the message has them.
    public var allowed: String?
    /// With `unknownKey`: the known word that looks most like it.
    public var nearest: String?
    /// Where it was written.
    public var source: SettingSource?
    /// Line and column in a text, from 1; nil when it does not come from one.
    public var line: Int?
    public var column: Int?

    public init(
        _ path: String, _ code: Code, _ message: String, got: Value? = nil, allowed: String? = nil,
        nearest: String? = nil, source: SettingSource? = nil, line: Int? = nil, column: Int? = nil
    ) {
        self.path = path
        self.code = code
        self.message = message
        self.got = got
        self.allowed = allowed
        self.nearest = nearest
        self.source = source
        self.line = line
        self.column = column
    }

    /// Error of reading a text.
    public init(_ error: ReadingError) {
        self.init(
            error.path, error.kind == .tooLarge ? .tooLarge : .syntax, error.message, got: error.got,
            allowed: error.allowed, line: error.line, column: error.column)
    }

    /// As a reply has it; the place in a text is the requester's own and stays away.
    package func fields(_ f: inout some FieldVisitor) {
        f.text(
            "path", path, "JSON pointer of the member, such as `/axes/x/detection/window`; empty for the whole command."
        )
        f.choice("code", code, "Kind of error.")
        f.text("message", message, "A sentence for people.")
        f.visit(any: Field("got", "What was given; left out when there is nothing to show.", .optional), got)
        f.text("allowed", allowed, "What is allowed, in words or as an interval.")
        f.text("nearest", nearest, "With `unknown_key`: the known word that looks most like it.")
    }
}

/// All errors, in the order in which they were found; never empty when thrown.
public struct CodedErrors: Error, Sendable, Equatable {
    public var errors: [CodedError]
    public init(_ errors: [CodedError]) { self.errors = errors }
}

/// Where the value of a setting comes from; a later case goes above an earlier one.
public enum SettingSource: String, Sendable, CaseIterable {
    case `default`, preset, file, overlay
    case commandLine = "command line"
}
