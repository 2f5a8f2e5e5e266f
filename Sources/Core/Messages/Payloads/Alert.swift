import Values

/// An active fault (`state/alert/<code>`).
public struct AlertMessage: Sendable, Equatable {
    public enum Severity: String, Sendable, CaseIterable { case info, warning, error }
    public var code: String
    public var severity: Severity
    /// Nanoseconds of UTC.
    public var since: Int64
    public var message: String
    /// An object.
    public var details: Value

    public init(code: String, severity: Severity, since: Int64, message: String, details: Value = .object([])) {
        self.code = code
        self.severity = severity
        self.since = since
        self.message = message
        self.details = details
    }

    /// The object without its envelope, for a reply.
    public func json() -> [UInt8] { JSONWriter.object { fields(&$0) } }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("code", code, "Code of the fault, one topic level, such as `sensor_missing`.")
        f.choice("severity", severity, "How bad it is.")
        f.time("since", since, "When the fault was first seen.")
        f.text("message", message, "A sentence for people.")
        f.tree("details", details, "What programs may want to know of it; members depend on the code.")
    }
}
