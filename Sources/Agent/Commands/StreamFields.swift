import Messages
import Settings

/// The traces of a `stream`: fields as those of `trace`, with its rules and errors; the rate is the sensor's own where none
/// is given.
enum StreamFields {
    /// - Parameter rate: of the sensor (Hz).
    static func read(_ fields: Value, rate: Double) throws(CodedErrors) -> TraceConfiguration {
        guard case .object(var members) = fields else { return Configuration().trace }
        if fields["rate_hz"] == nil { members.append(.init("rate_hz", .double(rate))) }
        do throws(CodedErrors) {
            var trace = try Settings.load(
                overlay: ["sensor": ["rate_hz": .double(rate)], "trace": .object(members)]
            ).configuration.trace
            trace.enabled = true
            trace.onlyInEvents = false
            return trace
        } catch {
            throw CodedErrors(
                error.errors.map { one in
                    var one = one
                    if one.path.hasPrefix("/trace") { one.path = String(one.path.dropFirst("/trace".count)) }
                    return one
                })
        }
    }
}
