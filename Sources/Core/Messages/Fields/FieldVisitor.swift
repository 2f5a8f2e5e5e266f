import Values

/// Is told the fields of a message, one after the other, each with its value.
///
/// Every message, and every object within one, has a function `fields` that does so: the only declaration of its names,
/// units and meanings. The writers of JSON and CBOR take the names and the values; the command-line tool makes the JSON
/// Schema and the documentation from all the rest (`seismote interface`). What a writer does not use is inlined away, so
/// that no unit and no help text is in the agent.
package protocol FieldVisitor {
    mutating func visit(_ field: Field, _ value: Double?)
    mutating func visit(_ field: Field, _ value: Int?)
    mutating func visit(_ field: Field, _ value: Bool?)
    /// - Parameter allowed: all texts that there may be; empty: any.
    mutating func visit(_ field: Field, _ value: String?, allowed: () -> [String])
    mutating func visit(_ field: Field, _ values: [String]?)
    /// Nanoseconds of UTC, written as text.
    mutating func visit(time field: Field, _ value: Int64?)
    /// An object whose members are not declared here.
    mutating func visit(_ field: Field, _ tree: Value?)
    /// Any value.
    mutating func visit(any field: Field, _ value: Value?)
    /// An object with a number for each name.
    mutating func visit(_ field: Field, _ counts: [NamedCount])
    /// A column of samples, written as floats.
    mutating func visit(_ field: Field, _ samples: ArraySlice<Double>)
    /// A column of 0 and 1.
    mutating func visit(_ field: Field, _ flags: ArraySlice<UInt8>)
    /// An object that is always there, or one that is named elsewhere, such as by a detector.
    /// - Parameters:
    ///   - name: nil: that of the field.
    ///   - fields: tells the fields of a value.
    mutating func visit<T>(_ field: Field, named name: String?, _ value: T, _ fields: (T, inout Self) -> Void)
    /// An object that there may be.
    /// - Parameters:
    ///   - blank: any value, for a visitor that describes a message in which there is none.
    ///   - fields: tells the fields of a value.
    mutating func visit<T>(_ field: Field, _ value: T?, blank: () -> T, _ fields: (T, inout Self) -> Void)
    /// A list of objects.
    mutating func visit<T>(_ field: Field, _ values: [T], blank: () -> T, _ fields: (T, inout Self) -> Void)
}

/// Description of a field besides its value.
package struct Field {
    package enum Presence {
        /// In every message.
        case always
        /// Left out when there is no value.
        case optional
        /// `null` when there is no value.
        case nullable
    }

    /// Its key in the object.
    package let name: StaticString
    package let presence: Presence
    /// Empty where there is none.
    package let unit: StaticString
    /// A sentence or two for people.
    package let help: StaticString

    @inline(__always)
    init(_ name: StaticString, _ help: StaticString, _ presence: Presence = .always, unit: StaticString = "") {
        (self.name, self.presence, self.unit, self.help) = (name, presence, unit, help)
    }
}

/// A counter with its name.
public struct NamedCount: Sendable, Equatable {
    public var name: String
    public var count: Int
    public init(_ name: String, _ count: Int) { (self.name, self.count) = (name, count) }
}

// What the declarations call. A value that may be nil is left out then.
extension FieldVisitor {
    @inline(__always)
    mutating func number(_ name: StaticString, _ value: Double, unit: StaticString = "", _ help: StaticString) {
        visit(Field(name, help, unit: unit), value)
    }

    @inline(__always)
    mutating func number(_ name: StaticString, _ value: Double?, unit: StaticString = "", _ help: StaticString) {
        visit(Field(name, help, .optional, unit: unit), value)
    }

    @inline(__always)
    mutating func integer(_ name: StaticString, _ value: Int, unit: StaticString = "", _ help: StaticString) {
        visit(Field(name, help, unit: unit), value)
    }

    @inline(__always)
    mutating func integer(_ name: StaticString, _ value: Int?, unit: StaticString = "", _ help: StaticString) {
        visit(Field(name, help, .optional, unit: unit), value)
    }

    @inline(__always)
    mutating func flag(_ name: StaticString, _ value: Bool, _ help: StaticString) { visit(Field(name, help), value) }

    @inline(__always)
    mutating func flag(_ name: StaticString, _ value: Bool?, _ help: StaticString) {
        visit(Field(name, help, .optional), value)
    }

    @inline(__always)
    mutating func text(_ name: StaticString, _ value: String, _ help: StaticString) {
        visit(Field(name, help), value) { [] }
    }

    @inline(__always)
    mutating func text(_ name: StaticString, _ value: String?, _ help: StaticString) {
        visit(Field(name, help, .optional), value) { [] }
    }

    /// One text out of several.
    @inline(__always)
    mutating func choice<T: RawRepresentable<String> & CaseIterable>(
        _ name: StaticString, _ value: T, _ help: StaticString
    ) { visit(Field(name, help), value.rawValue) { T.allCases.map(\.rawValue) } }

    @inline(__always)
    mutating func choice<T: RawRepresentable<String> & CaseIterable>(
        _ name: StaticString, _ value: T?, _ help: StaticString
    ) { visit(Field(name, help, .optional), value?.rawValue) { T.allCases.map(\.rawValue) } }

    @inline(__always)
    mutating func texts(_ name: StaticString, _ values: [String], _ help: StaticString) {
        visit(Field(name, help), values)
    }

    @inline(__always)
    mutating func texts(_ name: StaticString, _ values: [String]?, _ help: StaticString) {
        visit(Field(name, help, .optional), values)
    }

    @inline(__always)
    mutating func time(_ name: StaticString, _ value: Int64, _ help: StaticString) {
        visit(time: Field(name, help), value)
    }

    @inline(__always)
    mutating func time(_ name: StaticString, _ value: Int64?, _ help: StaticString) {
        visit(time: Field(name, help, .optional), value)
    }

    @inline(__always)
    mutating func tree(_ name: StaticString, _ value: Value, _ help: StaticString) { visit(Field(name, help), value) }

    @inline(__always)
    mutating func tree(_ name: StaticString, _ value: Value?, _ help: StaticString) {
        visit(Field(name, help, .optional), value)
    }

    @inline(__always)
    mutating func object<T>(
        _ name: StaticString, _ value: T, _ help: StaticString, _ fields: (T, inout Self) -> Void
    ) { visit(Field(name, help), named: nil, value, fields) }

    @inline(__always)
    mutating func object<T>(
        _ name: StaticString, _ value: T?, _ presence: Field.Presence = .optional, blank: @autoclosure () -> T,
        _ help: StaticString, _ fields: (T, inout Self) -> Void
    ) { visit(Field(name, help, presence), value, blank: blank, fields) }

    @inline(__always)
    mutating func objects<T>(
        _ name: StaticString, _ values: [T], blank: @autoclosure () -> T, _ help: StaticString,
        _ fields: (T, inout Self) -> Void
    ) { visit(Field(name, help), values, blank: blank, fields) }
}
