/// A line of the log over MQTT (`event/log/<level>`).
public struct LogLine: Sendable, Equatable {
    /// `debug`, `info`, `notice`, `warning` or `error`.
    public var level: String
    /// Nanoseconds of UTC.
    public var time: Int64
    public var message: String
    /// Text or numbers by name.
    public var fields: [Value.Member]

    public init(level: String, time: Int64, message: String, fields: [Value.Member] = []) {
        self.level = level
        self.time = time
        self.message = message
        self.fields = fields
    }

    func write(to json: inout JSONWriter) {
        json.key("level")
        json.string(level)
        json.key("message")
        json.string(message)
        json.key("fields")
        json.value(.object(fields))
    }
}
