import Messages
import Values

/// One kind of value: how it is read, how it is written, how it is described.
public struct Codec<T: Sendable>: Sendable {
    /// For people: `number`, `text`, `one of`.
    let type: String
    /// Unit of a bare number; nil where there is none.
    let unit: String?
    /// Allowed values, in words or as an interval; goes into errors and documentation.
    let allowed: String
    /// JSON Schema (2020-12) of what `decode` takes, apart from what depends on other settings.
    let schema: Value
    /// Null is a value of this kind.
    var takesNull = false
    /// Reads a value at a pointer; nil, with the reason among the findings, when it is not allowed.
    let decode: @Sendable (Value, String, inout Findings) -> T?
    /// The canonical form: SI numbers.
    let encode: @Sendable (T) -> Value
}

/// The errors found so far.
struct Findings {
    private(set) var errors: [CodedError] = []
    /// A hostile text can hold a hundred thousand errors: beyond this many they are not listed any more.
    static let limit = 200

    mutating func add(_ error: CodedError) {
        if errors.count < Self.limit {
            errors.append(error)
        } else if errors.count == Self.limit {
            errors.append(CodedError("", error.code, "There are more errors than these \(Self.limit)."))
        }
    }

    mutating func add(
        _ path: String, _ code: CodedError.Code, _ message: String, got: Value? = nil, allowed: String? = nil,
        nearest: String? = nil
    ) {
        add(CodedError(path, code, message, got: got, allowed: allowed, nearest: nearest))
    }

    /// A value of the wrong type.
    mutating func wrongType(_ path: String, _ wanted: String, got: Value, allowed: String? = nil) {
        add(path, .type, "This must be \(wanted), not \(got.kind).", got: got, allowed: allowed)
    }

    /// Leaves of what was given, in the errors from a position on, only what may be shown.
    mutating func hideGiven(from start: Int, _ shown: (Value) -> Value?) {
        for i in errors.indices.dropFirst(start) {
            errors[i].got = errors[i].got.map { shown($0) ?? .string(Secrets.mask) }
        }
    }

    /// Takes over errors that were found elsewhere.
    mutating func add(contentsOf others: [CodedError]) {
        for error in others { add(error) }
    }

    /// Puts source, line and column on the errors from a position on.
    mutating func locate(from start: Int, _ place: (String) -> (source: SettingSource, mark: Document.Mark?)) {
        for i in errors.indices.dropFirst(start) where errors[i].source == nil {
            let (source, mark) = place(errors[i].path)
            errors[i].source = source
            errors[i].line = mark?.line
            errors[i].column = mark?.column
        }
    }
}

extension Value {
    /// Kind of value, for sentences.
    public var kind: String {
        switch self {
        case .null: "nothing"
        case .bool: "true or false"
        case .int: "a number"
        case .double(let number): number.isFinite ? "a number" : "a number that is not finite"
        case .string: "text"
        case .array: "a list"
        case .object: "an object"
        }
    }

    /// A whole number as an integer, any other as it is.
    static func shortest(_ number: Double) -> Value {
        guard let whole = Int64(exactly: number), abs(whole) < 1 << 53 else { return .double(number) }
        return .int(whole)
    }

    /// The object with one more member, or with a member's value replaced.
    public func with(_ key: String, _ value: Value?) -> Value {
        guard case .object(var members) = self, let value else { return self }
        if let i = members.firstIndex(where: { $0.key == key }) {
            members[i].value = value
        } else {
            members.append(.init(key, value))
        }
        return .object(members)
    }
}
