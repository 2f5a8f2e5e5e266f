/// A tree of plain data, as JSON and YAML know it: what settings are read into and written from.
/// Objects keep the order of their keys.
public enum Value: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([Value])
    case object([Member])

    public struct Member: Sendable, Equatable {
        public var key: String
        public var value: Value
        public init(_ key: String, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// The member of an object by its key; nil for other kinds of value.
    public subscript(key: String) -> Value? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }
}

// Kinds of a value, for those who read what others have sent, which may have any shape: everything is asked for, nothing is
// assumed.
extension Value {
    /// A finite number.
    public var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number.isFinite ? number : nil
        default: nil
        }
    }

    /// A number within a range.
    public func number(in range: ClosedRange<Double>) -> Double? {
        number.flatMap { range.contains($0) ? $0 : nil }
    }

    /// Nanoseconds of a text that is a time, whatever year it is.
    public var anyTime: Int64? { rawText.flatMap { Timestamp($0) }?.nanoseconds }

    /// Nanoseconds of a text that is a time from 1920 to 2199 (``Timestamp/sensible``).
    public var time: Int64? { anyTime.flatMap { Timestamp.sensible.contains($0) ? $0 : nil } }

    public var list: [Value]? {
        guard case .array(let list) = self else { return nil }
        return list
    }

    /// A whole number, also when it is written as 2.0.
    public var integer: Int64? {
        switch self {
        case .int(let number): number
        case .double(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The same where it fits into the machine's word, which may have 32 bits.
    public var whole: Int? { integer.flatMap { Int(exactly: $0) } }

    /// Text as it was sent: it may have anything in it, and is not for a terminal as it is.
    public var rawText: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The texts of a list as they were sent, without what is no text; empty where this is no list.
    public var rawTexts: [String] { (list ?? []).compactMap(\.rawText) }

    /// True or false; no other value stands for them.
    public var flag: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }
}

// Trees written down in code: `["type": "number", "minimum": 0]`.

extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension Value: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
}

extension Value: ExpressibleByArrayLiteral {
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
}

extension Value: ExpressibleByDictionaryLiteral {
    /// Keeps the order in which the members are written.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

/// Writer of a tree in one encoding or another. The caller keeps objects and arrays balanced, and writes a key before
/// each value of an object.
protocol TreeWriter {
    mutating func beginObject()
    mutating func endObject()
    /// - Parameter count: how many values follow.
    mutating func beginArray(count: Int)
    mutating func endArray()
    mutating func key(text name: String)
    mutating func null()
    mutating func bool(_ value: Bool)
    mutating func int(_ value: Int)
    mutating func double(_ value: Double)
    mutating func string(_ value: String)
}

extension TreeWriter {
    fileprivate mutating func write(_ tree: Value) {
        switch tree {
        case .null: null()
        case .bool(let flag): bool(flag)
        case .int(let number): int(Int(number))
        case .double(let number): double(number)
        case .string(let text): string(text)
        case .array(let elements):
            beginArray(count: elements.count)
            for element in elements { write(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members {
                key(text: member.key)
                write(member.value)
            }
            endObject()
        }
    }
}

extension JSONWriter: TreeWriter {
    package mutating func beginArray(count: Int) { beginArray() }

    /// A whole tree, members in their own order.
    package mutating func value(_ tree: Value) { write(tree) }
}

extension CBORWriter {
    /// A whole tree, members in their own order.
    package mutating func value(_ tree: Value) { write(tree) }
}
