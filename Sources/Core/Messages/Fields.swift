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

/// Writer of a message, value by value, as the same object in one encoding or another. The caller keeps objects and
/// arrays balanced, and writes a key before each value of an object.
protocol ObjectWriter: FieldVisitor {
    mutating func beginObject()
    mutating func endObject()
    /// - Parameter count: how many values follow.
    mutating func beginArray(count: Int)
    mutating func endArray()
    mutating func key(_ name: StaticString)
    mutating func key(text name: String)
    mutating func null()
    mutating func bool(_ value: Bool)
    mutating func int(_ value: Int)
    mutating func double(_ value: Double)
    mutating func float(_ value: Float)
    mutating func string(_ value: String)
    mutating func string(literal value: StaticString)
    mutating func time(_ nanoseconds: Int64)
    mutating func value(_ tree: Value)
}

extension ObjectWriter {
    // MARK: Members of objects. They are left out when there is no value. Never inlined: a message has one call a field.

    @inline(never)
    mutating func member(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        key(name)
        double(value)
    }

    @inline(never)
    mutating func member(null name: StaticString) {
        key(name)
        null()
    }

    @inline(never)
    mutating func member(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        key(name)
        int(value)
    }

    @inline(never)
    mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        bool(value)
    }

    @inline(never)
    mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    @inline(never)
    mutating func member(_ name: StaticString, _ values: [String]?) {
        guard let values else { return }
        key(name)
        beginArray(count: values.count)
        for value in values { string(value) }
        endArray()
    }

    @inline(never)
    mutating func member(_ name: StaticString, time: Int64?) {
        guard let time else { return }
        key(name)
        self.time(time)
    }

    @inline(never)
    mutating func member(_ name: StaticString, _ samples: ArraySlice<Double>) {
        key(name)
        beginArray(count: samples.count)
        samples.withUnsafeBufferPointer { for sample in $0 { float(Float(sample)) } }
        endArray()
    }

    @inline(never)
    mutating func member(_ name: StaticString, _ flags: ArraySlice<UInt8>) {
        key(name)
        beginArray(count: flags.count)
        flags.withUnsafeBufferPointer { for flag in $0 { int(Int(flag)) } }
        endArray()
    }

    @inline(never)
    mutating func member(_ name: StaticString, _ tree: Value?) {
        guard let tree else { return }
        key(name)
        value(tree)
    }

    @inline(never)
    fileprivate mutating func beginMember(_ name: StaticString) {
        key(name)
        beginObject()
    }

    @inline(never)
    fileprivate mutating func beginMember(_ name: StaticString, count: Int) {
        key(name)
        beginArray(count: count)
    }

    @inline(never)
    fileprivate mutating func begin() { beginObject() }

    @inline(never)
    fileprivate mutating func end() { endObject() }

    @inline(never)
    fileprivate mutating func endList() { endArray() }
}

/// A writer takes name and value of a field.
extension ObjectWriter {
    @inline(__always)
    package mutating func visit(_ field: Field, _ value: Double?) {
        if value == nil, field.presence == .nullable { return member(null: field.name) }
        member(field.name, value)
    }

    @inline(__always)
    package mutating func visit(_ field: Field, _ value: Int?) {
        if value == nil, field.presence == .nullable { return member(null: field.name) }
        member(field.name, value)
    }

    @inline(__always)
    package mutating func visit(_ field: Field, _ value: Bool?) { member(field.name, value) }

    @inline(__always)
    package mutating func visit(_ field: Field, _ value: String?, allowed: () -> [String]) { member(field.name, value) }

    @inline(__always)
    package mutating func visit(_ field: Field, _ values: [String]?) { member(field.name, values) }

    @inline(__always)
    package mutating func visit(time field: Field, _ value: Int64?) { member(field.name, time: value) }

    @inline(__always)
    package mutating func visit(_ field: Field, _ tree: Value?) { member(field.name, tree) }

    @inline(__always)
    package mutating func visit(any field: Field, _ value: Value?) { member(field.name, value) }

    @inline(__always)
    package mutating func visit(_ field: Field, _ counts: [NamedCount]) {
        beginMember(field.name)
        for one in counts {
            key(text: one.name)
            int(one.count)
        }
        end()
    }

    @inline(__always)
    package mutating func visit(_ field: Field, _ samples: ArraySlice<Double>) { member(field.name, samples) }

    @inline(__always)
    package mutating func visit(_ field: Field, _ flags: ArraySlice<UInt8>) { member(field.name, flags) }

    @inline(__always)
    package mutating func visit<T>(_ field: Field, _ value: T?, blank: () -> T, _ fields: (T, inout Self) -> Void) {
        if let value {
            beginMember(field.name)
            fields(value, &self)
            end()
        } else if field.presence == .nullable {
            member(null: field.name)
        }
    }

    @inline(__always)
    package mutating func visit<T>(_ field: Field, _ values: [T], blank: () -> T, _ fields: (T, inout Self) -> Void) {
        beginMember(field.name, count: values.count)
        for value in values {
            begin()
            fields(value, &self)
            end()
        }
        endList()
    }

    @inline(__always)
    package mutating func visit<T>(_ field: Field, named name: String?, _ value: T, _ fields: (T, inout Self) -> Void) {
        if let name {
            key(text: name)
            beginObject()
        } else {
            beginMember(field.name)
        }
        fields(value, &self)
        end()
    }
}

extension JSONWriter: ObjectWriter {}

extension CBORWriter: ObjectWriter {}
