import Values

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
