import CYAML
import Messages
import Values

/// Reads YAML 1.2 (so JSON too) by way of libyaml's events.
///
/// Settings need plain trees and come from anywhere, so what makes YAML dangerous or ambiguous is refused with a
/// clear error: anchors and aliases (a few hundred bytes of them unfold to gigabytes), tags, keys that are not text,
/// the same key twice, more than one document, depth and size beyond ``ReadingLimit``.
enum YAMLReader {
    /// - Throws: an error of code `syntax` or `tooLarge` with line and column.
    static func read(_ bytes: [UInt8]) throws(CodedError) -> Document {
        do throws(ReadingError) { try ReadingLimit.checkSize(bytes) } catch { throw CodedError(error) }
        // (Editors of Windows write a byte-order mark, for which libyaml moves the first line to the right.)
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let result: Result<Document, CodedError> = bytes[mark...].withUnsafeBufferPointer { buffer in
            let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
            defer { parser.deallocate() }
            guard yaml_parser_initialize(parser) == 1 else {
                return .failure(CodedError("", .unavailable, "No memory to read the settings."))
            }
            defer { yaml_parser_delete(parser) }
            yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
            yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
            var builder = TreeBuilder(parser: parser)
            do throws(CodedError) {
                return .success(try builder.document())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// Builds the tree from events; recursion is bounded by the depth limit.
private struct TreeBuilder {
    enum Event {
        case streamStart, streamEnd, documentStart, documentEnd
        case sequenceStart, sequenceEnd, mappingStart, mappingEnd
        case scalar(String, plain: Bool)
        case alias
    }

    let parser: UnsafeMutablePointer<yaml_parser_t>
    private var marks: [String: Document.Mark] = [:]
    private var mark = Document.Mark(line: 1, column: 1)

    init(parser: UnsafeMutablePointer<yaml_parser_t>) { self.parser = parser }

    mutating func document() throws(CodedError) -> Document {
        _ = try next()
        guard case .documentStart = try next() else {
            throw failure("The document is empty.", allowed: "at least one setting")
        }
        let first = try next()
        marks[""] = mark
        if case .scalar("", plain: true) = first {
            throw failure("The document is empty.", allowed: "at least one setting")
        }
        let root = try node(first, at: "", depth: 0)
        _ = try next()
        guard case .streamEnd = try next() else {
            throw failure("The file has more than one YAML document.", allowed: "one document")
        }
        return Document(root: root, marks: marks)
    }

    private mutating func node(_ event: Event, at pointer: String, depth: Int) throws(CodedError) -> Value {
        guard depth <= ReadingLimit.depth else {
            throw failure("Nested too deeply.", allowed: "at most \(ReadingLimit.depth) levels", at: pointer)
        }
        switch event {
        case .scalar(let text, let plain):
            return plain ? YAMLCoreSchema.resolve(text) : .string(text)
        case .sequenceStart: return try sequence(at: pointer, depth: depth)
        case .mappingStart: return try mapping(at: pointer, depth: depth)
        case .alias: throw failure("Aliases (*name) are not read in settings.", at: pointer)
        default: throw failure("Not readable as YAML here.", at: pointer)
        }
    }

    private mutating func sequence(at pointer: String, depth: Int) throws(CodedError) -> Value {
        var elements: [Value] = []
        while true {
            let event = try next()
            if case .sequenceEnd = event { return .array(elements) }
            let path = pointer + "/\(elements.count)"
            marks[path] = mark
            elements.append(try node(event, at: path, depth: depth + 1))
        }
    }

    private mutating func mapping(at pointer: String, depth: Int) throws(CodedError) -> Value {
        var members: [Value.Member] = []
        var seen: Set<String> = []
        while true {
            let event = try next()
            if case .mappingEnd = event { return .object(members) }
            guard case .scalar(let key, _) = event else {
                throw failure("A key must be plain text.", at: pointer)
            }
            let path = JSONPointer.appending(key, to: pointer)
            guard seen.insert(key).inserted else {
                throw failure("The key \(key) occurs twice.", at: path)
            }
            marks[path] = mark
            members.append(.init(key, try node(try next(), at: path, depth: depth + 1)))
        }
    }

    private mutating func next() throws(CodedError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw syntaxError() }
        defer { yaml_event_delete(&event) }
        mark = .init(line: Int(event.start_mark.line) + 1, column: Int(event.start_mark.column) + 1)
        switch event.type {
        case YAML_STREAM_START_EVENT: return .streamStart
        case YAML_STREAM_END_EVENT: return .streamEnd
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_ALIAS_EVENT: return .alias
        case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
        case YAML_MAPPING_END_EVENT: return .mappingEnd
        case YAML_SEQUENCE_START_EVENT:
            let data = event.data.sequence_start
            try refuse(anchor: data.anchor, tag: data.tag)
            return .sequenceStart
        case YAML_MAPPING_START_EVENT:
            let data = event.data.mapping_start
            try refuse(anchor: data.anchor, tag: data.tag)
            return .mappingStart
        case YAML_SCALAR_EVENT:
            let data = event.data.scalar
            try refuse(anchor: data.anchor, tag: data.tag)
            let text = String(decoding: UnsafeBufferPointer(start: data.value, count: data.length), as: UTF8.self)
            return .scalar(text, plain: data.style == YAML_PLAIN_SCALAR_STYLE)
        default: throw failure("Not readable as YAML here.")
        }
    }

    private func refuse(anchor: UnsafeMutablePointer<UInt8>?, tag: UnsafeMutablePointer<UInt8>?) throws(CodedError) {
        if anchor != nil { throw failure("Anchors (&name) are not read in settings.") }
        if tag != nil { throw failure("Tags (!name) are not read in settings.") }
    }

    private func failure(_ message: String, allowed: String? = nil, at pointer: String = "") -> CodedError {
        CodedError(pointer, .syntax, message, allowed: allowed, line: mark.line, column: mark.column)
    }

    /// Error of libyaml about the text.
    private func syntaxError() -> CodedError {
        let state = parser.pointee
        let problem = state.problem.map { String(cString: $0) } ?? "unknown error"
        if state.error == YAML_READER_ERROR {
            let byte = state.problem_value >= 0 ? " (value \(state.problem_value))" : ""
            return CodedError(
                "", .syntax, "Not UTF-8 text at byte \(state.problem_offset): \(problem)\(byte).",
                allowed: "YAML in UTF-8")
        }
        if state.error == YAML_MEMORY_ERROR {
            return CodedError("", .unavailable, "No memory to read the settings.")
        }
        let context = state.context.map { String(cString: $0) + ", " } ?? ""
        let hint = problem.hasText("cannot start any token") ? " (a tab, `@`, `%` or a back quote?)" : ""
        return CodedError(
            "", .syntax, "Not readable as YAML: \(context)\(problem)\(hint).",
            line: Int(state.problem_mark.line) + 1, column: Int(state.problem_mark.column) + 1)
    }
}

/// A tree as it was read, and where in the text each of its nodes began.
struct Document: Sendable, Equatable {
    struct Mark: Sendable, Equatable {
        /// From 1.
        var line: Int
        var column: Int
    }

    var root: Value
    /// By JSON pointer; for the member of an object, the place of its key. Empty when the text has no lines.
    var marks: [String: Mark] = [:]

    /// The place of a node, or of the nearest node around it.
    func mark(at pointer: String) -> Mark? {
        var path = Substring(pointer)
        while true {
            if let mark = marks[String(path)] { return mark }
            guard let slash = path.lastIndex(of: "/") else { return nil }
            path = path[..<slash]
        }
    }
}

/// YAML as a plain tree, for programs that have a table of settings of their own.
enum PlainTree {
    /// - Throws: an error of code `syntax` or `tooLarge`, with line and column.
    static func read(yaml bytes: [UInt8]) throws(CodedError) -> Value { try YAMLReader.read(bytes).root }

    /// The tree of a text, and where in it each value stands.
    struct Located: Sendable {
        var root: Value
        private let document: Document

        /// - Throws: an error of code `syntax` or `tooLarge`, with line and column.
        init(yaml bytes: [UInt8]) throws(CodedError) {
            document = try YAMLReader.read(bytes)
            root = document.root
        }

        /// Line and column, from 1, of a value or of the nearest one around it.
        /// - Parameter keys: from the root, such as `["feed", "days"]`.
        func place(of keys: [String]) -> (line: Int, column: Int)? {
            let pointer = keys.reduce("") { JSONPointer.appending($1, to: $0) }
            return document.mark(at: pointer).map { ($0.line, $0.column) }
        }
    }
}

/// Meaning of plain (unquoted) YAML text by the core schema of YAML 1.2.2, section 10.3.2: only `true` and `false` are
/// truth values (`yes`, `no`, `on` and `off` are text), `0o17` is octal and `017` is seventeen.
enum YAMLCoreSchema {
    static func resolve(_ text: String) -> Value {
        switch text {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        case ".nan", ".NaN", ".NAN": return .double(.nan)
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": return .double(.infinity)
        case "-.inf", "-.Inf", "-.INF": return .double(-.infinity)
        default: return number(text) ?? .string(text)
        }
    }

    private static func number(_ text: String) -> Value? {
        guard text.utf8.count <= 400 else { return nil }
        if text.hasPrefix("0o"), let value = Int64(digits: text.dropFirst(2), radix: 8) { return .int(value) }
        if text.hasPrefix("0x"), let value = Int64(digits: text.dropFirst(2), radix: 16) { return .int(value) }
        guard let shape = DecimalNumber(text) else { return nil }
        if shape.isInteger, let value = Int64(text) { return .int(value) }
        return Double(text).map { .double($0) }
    }
}

extension Int64 {
    /// Digits alone, no sign.
    fileprivate init?(digits: Substring, radix: Int) {
        guard let first = digits.first, first != "+", first != "-" else { return nil }
        self.init(digits, radix: radix)
    }
}

/// The shape `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?` of a decimal number.
struct DecimalNumber {
    /// Neither point nor exponent.
    let isInteger: Bool
    /// Up to the `e`.
    let mantissa: Substring
    /// After the `e`, 0 when there is none; nil when it does not fit.
    let exponent: Int?

    /// The whole text must have the shape.
    init?(_ text: some StringProtocol) {
        guard let (number, rest) = Self.prefix(of: Substring(text)), rest.isEmpty else { return nil }
        self = number
    }

    private init(isInteger: Bool, mantissa: Substring, exponent: Int?) {
        self.isInteger = isInteger
        self.mantissa = mantissa
        self.exponent = exponent
    }

    /// The longest number at the start of a text, and what comes after it.
    static func prefix(of text: Substring) -> (DecimalNumber, rest: Substring)? {
        let utf8 = text.utf8
        var i = utf8.startIndex
        func digit(_ at: Substring.Index) -> Bool { at < utf8.endIndex && utf8[at].isDigit }
        func sign(_ at: Substring.Index) -> Bool { at < utf8.endIndex && (utf8[at] == 43 || utf8[at] == 45) }
        func skipDigits() -> Int {
            var n = 0
            while digit(i) {
                i = utf8.index(after: i)
                n += 1
            }
            return n
        }
        if sign(i) { i = utf8.index(after: i) }
        var digits = skipDigits()
        var isInteger = true
        if i < utf8.endIndex, utf8[i] == UInt8(ascii: ".") {
            isInteger = false
            i = utf8.index(after: i)
            let fraction = skipDigits()
            if digits == 0, fraction == 0 { return nil }
            digits += fraction
        }
        guard digits > 0 else { return nil }
        let mantissa = text[..<i]
        var exponent: Int? = 0
        if i < utf8.endIndex, utf8[i] | 0x20 == UInt8(ascii: "e") {
            let e = i
            i = utf8.index(after: i)
            let start = i
            if sign(i) { i = utf8.index(after: i) }
            if skipDigits() > 0 {
                exponent = Int(text[start..<i])
                isInteger = false
            } else {
                i = e
            }
        }
        return (DecimalNumber(isInteger: isInteger, mantissa: mantissa, exponent: exponent), text[i...])
    }
}
