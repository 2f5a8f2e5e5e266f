/// An active fault (`state/alert/<code>`).
public struct AlertMessage: Sendable, Equatable {
    public enum Severity: String, Sendable, CaseIterable { case info, warning, error }
    /// One topic level, such as `sensor_missing`.
    public var code: String
    public var severity: Severity
    /// Nanoseconds of UTC.
    public var since: Int64
    /// A sentence for people.
    public var message: String
    /// What programs may want to know of it, an object.
    public var details: Value

    public init(code: String, severity: Severity, since: Int64, message: String, details: Value = .object([])) {
        self.code = code
        self.severity = severity
        self.since = since
        self.message = message
        self.details = details
    }

    /// The same as a tree.
    public var value: Value {
        [
            "code": .string(code), "severity": .string(severity.rawValue),
            "since": .string(Timestamp(nanoseconds: since).description), "message": .string(message),
            "details": details,
        ]
    }

    func write(to json: inout JSONWriter) {
        json.key("code")
        json.string(code)
        json.key("severity")
        json.string(severity.rawValue)
        json.key("since")
        json.time(since)
        json.key("message")
        json.string(message)
        json.key("details")
        json.value(details)
    }
}
