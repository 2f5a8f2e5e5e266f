import Messages
import Settings
import Values

/// Settings of a program with one fault each, made from its schema: every member with a value of another type, with
/// values beyond each end of its range, and under a name that lacks its first letter.
public struct WrongSettings {
    var file: Value
    var path: String
    var code: CodedError.Code
    /// The text at the place that the refusal names.
    var mark: String
    var nearest: String?

    /// Reads all of them, from a file and from the command line.
    /// - Parameter elements: what is right beside the fault, by the path of an element.
    /// - Returns: how many there were, and a sentence for each that was not refused as it has to be.
    public static func misread<Program: ProgramSettings>(
        by: Program.Type, elements: [String: Value] = [:]
    ) -> (count: Int, sentences: [String]) {
        let chapter = Program.chapter
        guard let schema = Program.schema["properties"]?[chapter] else { return (0, ["no chapter"]) }
        let all = WrongSettingsMaker(elements: elements).faults(schema, "/\(chapter)") { [chapter: $0] }
        var sentences: [String] = []
        for one in all {
            let text = String(decoding: one.file.json(), as: UTF8.self)
            let option = "\(chapter)=" + String(decoding: (one.file[chapter] ?? .null).json(), as: UTF8.self)
            let ways: [(bytes: [UInt8]?, overrides: [String])] = [(Array(text.utf8), []), (nil, [option])]
            for (bytes, overrides) in ways {
                let errors = refusals(Program.self, bytes, overrides)
                guard let error = errors.first, errors.count == 1, error.path == one.path, error.code == one.code,
                    one.nearest == nil || error.nearest == one.nearest, error.allowed != nil,
                    error.source == (bytes == nil ? .commandLine : .file)
                else {
                    sentences.append("\(text): \(CodedErrors(errors).text())")
                    continue
                }
                let place = text.dropFirst((error.column ?? 1) - 1)
                if bytes != nil, error.line != 1 || !place.hasPrefix(one.mark) {
                    sentences.append("\(text): the place is \(error.line ?? 0):\(error.column ?? 0)")
                }
            }
        }
        return (all.count, sentences)
    }

    private static func refusals<Program: ProgramSettings>(
        _: Program.Type, _ file: [UInt8]?, _ overrides: [String]
    ) -> [CodedError] {
        do throws(CodedErrors) {
            _ = try Program.load(file: file, overrides: overrides)
            return []
        } catch { return error.errors }
    }
}

private struct WrongSettingsMaker {
    let elements: [String: Value]

    /// - Parameter put: the tree with a value at the path.
    func faults(_ schema: Value, _ path: String, _ put: @escaping (Value) -> Value) -> [WrongSettings] {
        let last = String(path.split(separator: "/").last ?? "")
        var faults: [WrongSettings] = []
        func add(_ value: Value, _ code: CodedError.Code) {
            let json = String(decoding: value.json(), as: UTF8.self)
            let mark = Int(last) == nil ? "\"\(last)\"" : json
            faults.append(WrongSettings(file: put(value), path: path, code: code, mark: mark))
        }
        let bounds = schema["anyOf"]?.list?.first ?? schema
        add(schema["type"] == "object" ? 3 : [:], .type)
        if schema["type"] == "string" || schema["enum"] != nil { add("\u{1}", .range) }
        if let least = bounds["minimum"]?.number { add(.double(least - 1), .range) }
        if let most = bounds["maximum"]?.number { add(.double(most + 1), .range) }
        if let most = schema["maxItems"]?.whole, schema["items"] != nil {
            add(.array(Array(repeating: 0, count: most + 1)), .range)
        }
        if let items = schema["items"] {
            let base = elements[path + "/0"]
            faults += self.faults(items, path + "/0") { put([Self.merged(base, $0)]) }
        }
        for (index, item) in (schema["prefixItems"]?.list ?? []).enumerated() {
            faults += self.faults(item, "\(path)/\(index)") { value in
                var list: [Value] = Array(repeating: 0, count: schema["minItems"]?.whole ?? 0)
                list[index] = value
                return put(.array(list))
            }
        }
        if case .object? = schema["additionalProperties"] {
            faults += self.faults(schema["additionalProperties"] ?? .null, path + "/a") { put(["a": $0]) }
        }
        if case .object(let members)? = schema["properties"] {
            for member in members {
                let wrong = String(member.key.dropFirst())
                faults.append(
                    WrongSettings(
                        file: put([wrong: 0]), path: "\(path)/\(wrong)", code: .unknownKey, mark: "\"\(wrong)\"",
                        nearest: member.key))
                faults += self.faults(member.value, "\(path)/\(member.key)") { put([member.key: $0]) }
            }
        }
        return faults
    }

    /// The base with the members of a value in place of its own.
    private static func merged(_ base: Value?, _ value: Value) -> Value {
        guard let base, case .object(let members) = value else { return value }
        return members.reduce(base) { $0.with($1.key, $1.value) }
    }
}
