import Messages
import Values

/// The members of a command that were given, each of its kind and within its bounds.
public struct CommandMembers: Sendable, Equatable {
    private var values: [Value.Member] = []
    /// Also those with errors.
    private var given: [String] = []

    init() {}

    mutating func note(_ name: String, _ value: Value?) {
        given.append(name)
        if let value { values.append(.init(name, value)) }
    }

    /// Puts them in the order in which they were written.
    mutating func order(as keys: [String]) {
        values = keys.compactMap { key in values.first { $0.key == key } }
    }

    /// Whether it was given, right or wrong.
    func has(_ name: String) -> Bool { given.contains(name) }

    subscript(name: String) -> Value? { values.first { $0.key == name }?.value }

    func number(_ name: String) -> Double? { self[name]?.number }

    func whole(_ name: String) -> Int? { self[name]?.integer.flatMap { Int(exactly: $0) } }

    func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }

    func flag(_ name: String) -> Bool { self[name] == true }

    /// Nanoseconds of UTC.
    func time(_ name: String) -> Int64? { text(name).flatMap { Timestamp($0)?.nanoseconds } }

    /// Members of these names, as an object, in the order in which they were written.
    func object(of names: [String]) -> Value { .object(values.filter { names.contains($0.key) }) }
}

extension CommandMembers {
    /// Fault of `from` and `to`, both of which may be missing.
    func orderProblem() -> CodedError? {
        guard let from = time("from"), let to = time("to"), to < from else { return nil }
        return CodedError("/to", .crossField, "`to` must not be earlier than `from`.")
    }
}
