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

/// Which frequencies a filter lets through.
public enum FilterBand: String, Sendable, CaseIterable {
    case lowpass, highpass, bandpass, bandstop

    /// Whether it has two corners.
    public var hasTwoCorners: Bool { self == .bandpass || self == .bandstop }
}

/// How a filter's delays are filled before the first sample and after a gap.
public enum FilterStart: String, Sendable, CaseIterable {
    /// All delays are zero.
    case zero
    /// As if the first sample had been the input for ever: no transient for a constant input.
    case steady

    /// For people.
    static let help = "The delays before the first sample: zero, or as if that sample had been the input for ever."
}

/// Reason why a filter cannot be made.
public enum FilterDesignError: Error, Sendable, Equatable {
    /// The order is not within 1…10.
    case order(Int)
    /// Another parameter that is not within its limits.
    case parameter(String, Double, Interval)
    /// One corner for low and high pass, two for band filters.
    case cornerCount(expected: Int, got: Int)
    /// A corner that is not strictly between 0 and half the sample rate (Hz).
    case corner(Double, rate: Double)
    /// Two corners of a band that do not rise.
    case cornerOrder(Double, Double)
    /// The sample rate is not a positive number.
    case rate(Double)
    /// More than 8 filters in one chain, or chains inside chains deeper than 8.
    case chainLength
}

extension FilterDesignError {
    /// Beyond these a square of a corner is no number any more.
    static func check(rate: Double) throws(FilterDesignError) {
        guard rate >= 1e-6, rate <= 1e9 else { throw .rate(rate) }
    }

    /// A corner 10¹² times below the rate would settle in 10¹² samples; further down numbers vanish.
    static func check(corner: Double, rate: Double) throws(FilterDesignError) {
        guard corner >= rate * 1e-12, corner < rate / 2 else { throw .corner(corner, rate: rate) }
    }
}

extension FilterDesignError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .order(let order): "order \(order) is not allowed: 1 to 10"
        case .parameter(let key, let number, let allowed):
            "\(key) \(number) is not allowed: \(allowed.isOpen ? "above " : "")\(shortText(allowed.lower)) to \(shortText(allowed.upper))"
        case .cornerCount(let expected, let got): "\(got) corner frequencies given, \(expected) needed"
        case .corner(let corner, let rate):
            "corner \(corner) Hz is not allowed: above \(rate * 1e-12) and below \(rate / 2) Hz at \(rate) samples per second"
        case .cornerOrder(let low, let high):
            "corners \(low) and \(high) Hz are not allowed: the second must be higher, by more than rounding"
        case .rate(let rate): "\(rate) samples per second is not allowed: 1e-6 to 1e9"
        case .chainLength: "a chain holds at most 8 filters, 8 deep"
        }
    }
}
