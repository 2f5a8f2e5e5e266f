import Values

/// A line of the log over MQTT (`event/log/<level>`).
public struct LogLine: Sendable, Equatable {
    public var level: String
    /// Nanoseconds of UTC.
    public var time: Int64
    public var message: String
    public var fields: [Value.Member]

    public init(level: String, time: Int64, message: String, fields: [Value.Member] = []) {
        self.level = level
        self.time = time
        self.message = message
        self.fields = fields
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("level", level, "`debug`, `info`, `notice`, `warning` or `error`.")
        f.text("message", message, "A sentence for people.")
        f.tree("fields", .object(fields), "Text or numbers by name.")
    }
}
