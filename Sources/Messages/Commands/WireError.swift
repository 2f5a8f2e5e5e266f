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

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("path")
        json.string(path)
        json.key("code")
        json.string(code.rawValue)
        json.key("message")
        json.string(message)
        if let got {
            json.key("got")
            json.value(got)
        }
        json.optional("allowed", allowed)
        json.optional("nearest", nearest)
        json.endObject()
    }
}
