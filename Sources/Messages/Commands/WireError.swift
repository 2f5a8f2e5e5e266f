/// One thing that is wrong with a command, as a reply says it.
public struct WireError: Error, Sendable, Equatable {
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

    /// JSON pointer of the key, such as `/axes/x/detection/window` or `/confirm_s`; empty for the whole command.
    public var path: String
    public var code: Code
    /// A sentence for people.
    public var message: String
    /// What was given; nil, and left out, when there is nothing to show.
    public var got: Value?
    /// What is allowed, in words or as an interval.
    public var allowed: String?
    /// With `unknownKey`: the known word that looks most like it.
    public var nearest: String?

    public init(
        _ path: String, _ code: Code, _ message: String, got: Value? = nil, allowed: String? = nil,
        nearest: String? = nil
    ) {
        self.path = path
        self.code = code
        self.message = message
        self.got = got
        self.allowed = allowed
        self.nearest = nearest
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.text(
            "path", path, "JSON pointer of the member, such as `/axes/x/detection/window`; empty for the whole command."
        )
        f.choice("code", code, "Kind of error.")
        f.text("message", message, "A sentence for people.")
        f.tree("got", got, "What was given; left out when there is nothing to show.")
        f.text("allowed", allowed, "What is allowed, in words or as an interval.")
        f.text("nearest", nearest, "With `unknown_key`: the known word that looks most like it.")
    }
}
