import Messages
import Values

extension CodedError {
    /// One line for people: place, path, sentence, code, what was given and what is allowed.
    ///
    /// - Parameter fileName: of the settings file; nil when there is none.
    public func text(fileName: String? = nil) -> String {
        var text = ""
        switch source {
        case .file: text += fileName ?? "file"
        case .preset, .overlay, .commandLine, .default: text += source?.rawValue ?? ""
        case nil: break
        }
        if let line { text += ":\(line)" + (column.map { ":\($0)" } ?? "") }
        if !text.isEmpty { text += ": " }
        if !path.isEmpty { text += path + ": " }
        text += message
        var details = [code.rawValue]
        if let got { details.append("got \(Self.short(got))") }
        if let allowed { details.append("allowed: \(allowed)") }
        if let nearest { details.append("did you mean `\(nearest)`?") }
        return text + " [" + details.joined(separator: "; ") + "]"
    }

    /// The object that replies carry (interface.md), with the place in a file where there is one.
    public var value: Value {
        var members: [Value.Member] = [
            .init("path", .string(path)), .init("code", .string(code.rawValue)), .init("message", .string(message)),
        ]
        if let got { members.append(.init("got", got)) }
        if let allowed { members.append(.init("allowed", .string(allowed))) }
        if let nearest { members.append(.init("nearest", .string(nearest))) }
        if let source { members.append(.init("source", .string(source.rawValue))) }
        if let line { members.append(.init("line", .int(Int64(line)))) }
        if let column { members.append(.init("column", .int(Int64(column)))) }
        return .object(members)
    }

    /// A value in a sentence: not longer than a line.
    private static func short(_ value: Value) -> String {
        if case .double(let number) = value, !number.isFinite {
            return number.isNaN ? ".nan" : number < 0 ? "-.inf" : ".inf"
        }
        let text = String(decoding: value.json(), as: UTF8.self)
        return text.count > 80 ? text.prefix(77) + "..." : text
    }
}

extension CodedErrors {
    /// One line for each error.
    public func text(fileName: String? = nil) -> String {
        errors.map { $0.text(fileName: fileName) }.joined(separator: "\n")
    }
}
