import Messages

/// One thing that is wrong with the settings: what, where, what was given and what would be right.
public struct SettingError: Error, Sendable, Equatable {
    /// The codes that also go on the wire.
    public enum Code: String, Sendable, CaseIterable {
        case syntax, type, range, locked, conflict, downgrade, busy, unavailable
        case unknownKey = "unknown_key"
        case crossField = "cross_field"
        case tooLarge = "too_large"
    }

    /// JSON pointer (RFC 6901) of the setting, such as `/axes/x/detection/window`; empty for the whole document.
    public var path: String
    public var code: Code
    /// A sentence for people.
    public var message: String
    /// What was given; nil when there is nothing to show.
    public var got: Value?
    /// What is allowed, in words or as an interval; nil when the message says it all.
    public var allowed: String?
    /// With `unknownKey`: the known key that looks most like it.
    public var nearest: String?
    /// Where it was written.
    public var source: SettingSource?
    /// Line and column in a file, from 1; nil when it does not come from a file.
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
}

/// Everything that is wrong with the settings, in the order in which it was found; never empty when thrown.
public struct SettingErrors: Error, Sendable, Equatable {
    public var errors: [SettingError]
    public init(_ errors: [SettingError]) { self.errors = errors }
}

/// Where a value comes from; a later case goes above an earlier one.
public enum SettingSource: String, Sendable, CaseIterable {
    case `default`, preset, file, overlay
    case commandLine = "command line"
}
