import Messages
import Settings
import Values

extension Command {
    public static let stream = Command(
        "stream", "Receive traces at the full rate, or other traces, for a while.",
        members: [
            .init(
                "duration_s", .number(0...3600, unit: "s"), "for so long; 0 ends it", standard: "0 ends it",
                isNeeded: true),
            .init("rate_hz", .any, "samples per second", standard: "the sensor's"),
            .init("block_s", .any, "seconds in a message"),
            .init("signals", .any, "such as `raw` and `filtered`"),
            .init("filter", .any, "before the rate is lowered"),
            .init("encoding", .any, "`json`, `cbor`, `mseed2` or `mseed3`"),
        ],
        result: "`accepted` with `until`, then `done`", needsID: true
    ) { request, context in
        guard let seconds = request.members.number("duration_s"), seconds > 0 else {
            return .effect(.sampling(.endStream))
        }
        let fields = request.members.object(of: request.command.members.map(\.name).filter { $0 != "duration_s" })
        do throws(CodedErrors) {
            return .effect(.sampling(.stream(try traces(fields, rate: context.rate), seconds: seconds)))
        } catch { return .refuse(error.told) }
    }

    /// Fields as those of `trace`, with its rules and errors; the rate is the sensor's own where none is given.
    /// - Parameter rate: of the sensor (Hz).
    static func traces(_ fields: Value, rate: Double) throws(CodedErrors) -> TraceConfiguration {
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
