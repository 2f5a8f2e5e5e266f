/// Specification of a filter by a person, free of any sample rate. A kind of filter has a line in each of the three
/// lists here; the rest of it is in its own file (see ``FilterKind``).
public indirect enum FilterSpecification: Sendable, Equatable {
    case butterworth(ButterworthSpecification)
    case simple(SimpleSpecification)
    case notch(NotchSpecification)
    /// Pass-through.
    case none
    /// A filter of the app Shake, by its name.
    case shake(ShakeFilter)
    /// Several filters in series, first to last; at most 8.
    case chain([FilterSpecification])

    /// A filter of each kind at its defaults, in the order of the schema.
    static let kinds: [Self] = [
        .butterworth(.init()),
        .simple(.init()),
        .notch(.init()),
    ]

    /// Shows the filter, when it is of a kind, to a visit, which may change its parameters.
    mutating func receive(_ visit: inout FilterVisit) {
        switch self {
        case .butterworth(let filter): self = .butterworth(visit.look(at: filter))
        case .simple(let filter): self = .simple(visit.look(at: filter))
        case .notch(let filter): self = .notch(visit.look(at: filter))
        case .none, .shake, .chain: break
        }
    }
}
