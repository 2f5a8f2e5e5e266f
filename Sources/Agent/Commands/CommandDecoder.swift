import Messages
import Settings

/// From the bytes of a command to what they ask for. Pure; nothing in the bytes is trusted.
public enum CommandDecoder {
    /// What could be read; the id also of a command with errors, so that they can be answered.
    public struct Decoded: Sendable, Equatable {
        public var id: String?
        /// Nil when there are errors.
        public var request: CommandRequest?
        public var errors: [CodedError] = []
    }

    /// - Parameters:
    ///   - verb: behind `cmd/`, not known to be one.
    ///   - payload: empty stands for `{}`.
    public static func decode(verb text: String, payload: [UInt8]) -> Decoded {
        var decoded = Decoded()
        var root: Value = .object([])
        if !payload.isEmpty {
            do throws(CodedError) { root = try JSONReader.read(payload) } catch {
                decoded.errors = [CodedError("", error.code == .tooLarge ? .tooLarge : .syntax, error.message)]
                if let line = error.line {
                    decoded.errors[0].message += " (line \(line), column \(error.column ?? 0))"
                }
                return decoded
            }
        }
        var fields = CommandFields(root)
        if let id = fields.text("id") {
            if let allowed = Topics.problem(inRequestID: id) {
                fields.add(
                    CodedError(
                        "/id", .range, "This cannot be the id of a command.", got: Value.string(id).shown,
                        allowed: allowed))
            } else {
                decoded.id = id
            }
        }
        let expires = fields.time("expires")
        let source = fields.text("source") ?? ""
        guard let verb = Verb(rawValue: text) else {
            let shown = String(text.prefix(80))
            let names = Verb.allCases.map(\.rawValue)
            decoded.errors =
                [
                    CodedError(
                        "", .unknownKey, "There is no command `\(shown)`.", got: .string(shown),
                        allowed: names.joined(separator: ", "), nearest: Spelling.nearest(to: text, in: names))
                ] + fields.errors
            return decoded
        }
        let action = action(verb, &fields)
        if case .object = root { fields.finish() }
        decoded.errors = fields.errors
        guard let action, decoded.errors.isEmpty else { return decoded }
        decoded.request = CommandRequest(
            verb: verb, action: action, id: decoded.id, expires: expires, source: Self.line(source),
            digest: digest(verb, root))
        return decoded
    }

    /// Nil only where there are errors too.
    private static func action(_ verb: Verb, _ fields: inout CommandFields) -> CommandRequest.Action? {
        switch verb {
        case .config:
            fields.missing("set", "an object with the settings to change")
            guard let patch = fields.object("set") else {
                _ = change(.reset, &fields)
                return nil
            }
            return .change(change(.merge(patch), &fields))
        case .configReset: return .change(change(.reset, &fields))
        case .configRollback:
            return .change(change(.rollback(to: fields.whole("to_rev", in: 0...Int(Int32.max))), &fields))
        case .configConfirm: return .confirm(revision: fields.whole("rev", in: 0...Int(Int32.max)))
        case .configGet: return .configGet
        case .snapshot:
            needsID(&fields)
            return span(&fields).map { .snapshot($0) }
        case .stream:
            needsID(&fields)
            fields.missing("duration_s", "a number of seconds up to \(Int(CommandLimits.stream.upperBound))")
            let seconds = fields.number("duration_s", in: CommandLimits.stream, unit: "s")
            let trace = fields.raw(["rate_hz", "block_s", "signals", "filter", "encoding"])
            return seconds.map { .stream(trace, seconds: $0) }
        case .resetExtremes: return .resetExtremes
        case .calibrate:
            return .calibrate(seconds: fields.number("duration_s", in: CommandLimits.calibration, unit: "s") ?? 20)
        case .selftest: return .selfTest
        case .testEvent: return .testEvent
        case .alerts: return .alerts
        case .status: return .status
        case .rebirth: return .rebirth
        case .ping: return .ping
        case .restart: return .restart
        case .log:
            let seconds = fields.number("duration_s", in: CommandLimits.log, unit: "s") ?? 60
            guard let name = fields.text("level") else { return .log(.info, seconds: seconds) }
            guard let level = LogConfiguration.Level(rawValue: name) else {
                let names = LogConfiguration.Level.allCases.map(\.rawValue)
                fields.add(
                    CodedError(
                        "/level", .range, "There is no such level.", got: Value.string(name).shown,
                        allowed: names.joined(separator: ", "), nearest: Spelling.nearest(to: name, in: names)))
                return nil
            }
            return .log(level, seconds: seconds)
        }
    }

    /// Of commands whose data go to a topic with the id in it.
    private static func needsID(_ fields: inout CommandFields) {
        fields.missing("id", "a name for the topic that the data go to")
    }

    private static func change(
        _ kind: CommandRequest.ConfigChange.Kind, _ fields: inout CommandFields
    ) -> CommandRequest.ConfigChange {
        var change = CommandRequest.ConfigChange(kind: kind)
        change.ifRevision = fields.whole("if_rev", in: 0...Int(Int32.max))
        change.isDryRun = fields.flag("dry_run")
        change.confirm = fields.number("confirm_s", in: CommandLimits.confirm, unit: "s")
        return change
    }

    private static func span(_ fields: inout CommandFields) -> CommandRequest.Span? {
        let last = fields.number("last_s", in: CommandLimits.snapshot, unit: "s")
        let (from, to) = (fields.time("from"), fields.time("to"))
        if fields.has("last_s") {
            if fields.has("from") || fields.has("to") {
                fields.add(CodedError("/last_s", .crossField, "Either `last_s`, or `from` and `to`."))
            }
            return last.map { .last($0) }
        }
        guard fields.has("from"), fields.has("to") else {
            fields.add(CodedError("", .crossField, "Which interval? Either `last_s`, or `from` and `to`."))
            return nil
        }
        guard let from, let to else { return nil }
        let (length, overflow) = to.subtractingReportingOverflow(from)
        guard !overflow, length > 0, Double(length) <= CommandLimits.snapshot.upperBound * 1e9 else {
            fields.add(
                CodedError(
                    "/to", .crossField, "`to` must be later than `from`.",
                    allowed: "up to \(Int(CommandLimits.snapshot.upperBound)) s after `from`"))
            return nil
        }
        return .between(from, to)
    }

    /// A sentence of the requester's as one short line.
    private static func line(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(100) {
            line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? " " : scalar)
        }
        return line
    }

    private static func digest(_ verb: Verb, _ root: Value) -> String {
        guard case .object(let members) = root else { return verb.rawValue }
        let rest = members.filter { !["id", "expires", "source"].contains($0.key) }
        return "\(verb.rawValue) " + SHA256.hexDigest(of: Value.object(rest).canonicalJSON()).prefix(16)
    }
}
