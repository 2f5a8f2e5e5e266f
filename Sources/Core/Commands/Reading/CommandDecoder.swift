import Messages
import Settings
import Values

/// From the bytes of a command to what they ask for. Pure; nothing in the bytes is trusted.
public enum CommandDecoder {
    /// The readable part of a command; the id also of a command with errors, so that they can be answered.
    public struct Decoded: Sendable, Equatable {
        public var id: String?
        /// Nil when there are errors.
        public var request: CommandRequest?
        public var errors: [CodedError] = []
    }

    /// - Parameters:
    ///   - verb: behind `cmd/`, not known to be the name of a command.
    ///   - payload: empty stands for `{}`.
    public static func decode(verb text: String, payload: [UInt8]) -> Decoded {
        var decoded = Decoded()
        var root: Value = .object([])
        if !payload.isEmpty {
            do throws(ReadingError) { root = try JSONReader.read(payload) } catch {
                decoded.errors = [CodedError("", error.kind == .tooLarge ? .tooLarge : .syntax, error.message)]
                if let line = error.line {
                    decoded.errors[0].message += " (line \(line), column \(error.column ?? 0))"
                }
                return decoded
            }
        }
        var fields = CommandFields(root)
        for member in CommandMember.common {
            fields.read(member)
            guard member.name == "id", let id = fields.members.text("id") else { continue }
            if let allowed = Topics.problem(inRequestID: id) {
                fields.add(
                    CodedError(
                        "/id", .range, "`\(id.prefix(80))` cannot be the id of a command.",
                        got: Value.string(id).shown, allowed: allowed))
            } else {
                decoded.id = id
            }
        }
        guard let command = Command.named(text) else {
            let shown = String(text.prefix(80))
            let names = Command.all.map(\.name)
            decoded.errors =
                [
                    CodedError(
                        "", .unknownKey, "There is no command `\(shown)`.", got: .string(shown),
                        allowed: names.joined(separator: ", "), nearest: Spelling.nearest(to: text, in: names))
                ] + fields.errors
            return decoded
        }
        if command.needsID, !fields.members.has("id") {
            fields.missing("id", "a name for the topic that the data go to")
        }
        for member in command.members { fields.read(member) }
        fields.add(command.check(fields.members))
        if case .object = root { fields.finish() }
        decoded.errors = fields.errors
        guard decoded.errors.isEmpty else { return decoded }
        decoded.request = CommandRequest(
            command: command, members: fields.members, id: decoded.id, expires: fields.members.time("expires"),
            source: Self.line(fields.members.text("source") ?? ""), digest: digest(command, root))
        return decoded
    }

    /// A sentence of the requester's as one short line.
    private static func line(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(100) {
            line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7f ? " " : scalar)
        }
        return line
    }

    private static func digest(_ command: Command, _ root: Value) -> String {
        guard case .object(let members) = root else { return command.name }
        let common = CommandMember.common.map(\.name)
        let rest = members.filter { !common.contains($0.key) }
        return "\(command.name) " + SHA256.hexDigest(of: Value.object(rest).canonicalJSON()).prefix(16)
    }
}
