import Messages
import Values

/// A field of a message as its declaration tells it, without a value.
struct DescribedField: Equatable {
    indirect enum Kind: Equatable {
        case number, integer, flag, time
        /// A whole number that is always this one.
        case constant(Int)
        case uuid
        /// - allowed: all texts that there may be; empty: any.
        case text(allowed: [String])
        /// An object with members that are declared elsewhere, and one with a number for each name.
        case tree, counts
        case any
        case list(Kind)
        case object([DescribedField])
    }

    var name: String
    var kind: Kind
    var presence: Field.Presence
    var unit: String
    var help: String
}

/// Collects the fields of one object.
struct FieldCollector: FieldVisitor {
    private(set) var fields: [DescribedField] = []

    private mutating func add(_ field: Field, name: String? = nil, _ kind: DescribedField.Kind) {
        fields.append(
            DescribedField(
                name: name ?? "\(field.name)", kind: kind, presence: field.presence, unit: "\(field.unit)",
                help: "\(field.help)"))
    }

    private static func object<T>(_ value: T, _ fields: (T, inout FieldCollector) -> Void) -> DescribedField.Kind {
        var inner = FieldCollector()
        fields(value, &inner)
        return .object(inner.fields)
    }

    mutating func visit(_ field: Field, _ value: Double?) { add(field, .number) }
    mutating func visit(_ field: Field, _ value: Int?) { add(field, .integer) }
    mutating func visit(_ field: Field, _ value: Bool?) { add(field, .flag) }
    mutating func visit(_ field: Field, _ value: String?, allowed: () -> [String]) {
        add(field, .text(allowed: allowed()))
    }
    mutating func visit(_ field: Field, _ values: [String]?) { add(field, .list(.text(allowed: []))) }
    mutating func visit(time field: Field, _ value: Int64?) { add(field, .time) }
    mutating func visit(_ field: Field, _ tree: Value?) { add(field, .tree) }
    mutating func visit(any field: Field, _ value: Value?) { add(field, .any) }
    mutating func visit(_ field: Field, _ counts: [NamedCount]) { add(field, .counts) }
    mutating func visit(_ field: Field, _ samples: ArraySlice<Double>) { add(field, .list(.number)) }
    mutating func visit(_ field: Field, _ flags: ArraySlice<UInt8>) { add(field, .list(.integer)) }

    mutating func visit<T>(_ field: Field, _ value: T?, blank: () -> T, _ fields: (T, inout FieldCollector) -> Void) {
        add(field, Self.object(value ?? blank(), fields))
    }

    mutating func visit<T>(_ field: Field, _ values: [T], blank: () -> T, _ fields: (T, inout FieldCollector) -> Void) {
        add(field, .list(Self.object(blank(), fields)))
    }

    mutating func visit<T>(
        _ field: Field, named name: String?, _ value: T, _ fields: (T, inout FieldCollector) -> Void
    ) { add(field, name: name, Self.object(value, fields)) }
}
