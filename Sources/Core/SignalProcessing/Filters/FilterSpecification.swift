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

extension FilterSpecification {
    /// A filter made for a rate: sections, and for each how its delays start.
    public struct Design: Sendable, Equatable {
        public var sections: [Section]
        public var starts: [FilterStart]
        /// Adaptive filters, each with the number of sections before it.
        var adaptive: [(before: Int, axis: AdaptiveStage.Axis)] = []

        /// Sections that all start alike.
        public init(_ sections: [Section], start: FilterStart) {
            (self.sections, starts) = (sections, sections.map { _ in start })
        }

        init(sections: [Section], starts: [FilterStart]) { (self.sections, self.starts) = (sections, starts) }

        /// Puts a filter behind.
        mutating func append(_ next: Self) {
            adaptive += next.adaptive.map { (sections.count + $0.before, $0.axis) }
            sections += next.sections
            starts += next.starts
        }

        public static func == (a: Design, b: Design) -> Bool {
            a.sections == b.sections && a.starts == b.starts
                && a.adaptive.elementsEqual(b.adaptive) { $0.before == $1.before && $0.axis == $1.axis }
        }
    }

    /// Designs the filter for a sample rate in Hz; `none` has no sections.
    public func design(rate: Double) throws(FilterDesignError) -> Design {
        try FilterDesignError.check(rate: rate)
        var design = Design(sections: [], starts: [])
        try append(to: &design, rate: rate, depth: 0)
        return design
    }

    private func append(to design: inout Design, rate: Double, depth: Int) throws(FilterDesignError) {
        switch self {
        case .shake(let filter): try filter.specification.append(to: &design, rate: rate, depth: depth)
        case .chain(let filters):
            guard filters.count <= 8, depth < 8 else { throw .chainLength }
            for filter in filters { try filter.append(to: &design, rate: rate, depth: depth + 1) }
        default:
            if let own = try ownDesign(rate: rate) { design.append(own) }
        }
    }
}

extension FilterSpecification.Design {
    /// Seconds until what the delays held at the start has decayed to 5 % (three time constants of the slowest pole).
    public func settlingTime(rate: Double) -> Double {
        var slowest = sections.map { $0.decayPerSample }.min() ?? .infinity
        // An adaptive filter is slowest at rest.
        for filter in adaptive { slowest = min(slowest, filter.axis.section(motion: 0).decayPerSample) }
        return 3 / slowest / rate
    }

    /// Whether the filter has an adaptive part, so that its response depends on the motion.
    public var isAdaptive: Bool { !adaptive.isEmpty }

    /// The filter with its adaptive parts held at a motion from 0 (rest) to 1.
    public func held(motion: Double) -> Self {
        var design = Self(sections: [], starts: [])
        var next = 0
        for filter in adaptive {
            design.sections += sections[next..<filter.before] + [filter.axis.section(motion: motion)]
            design.starts += starts[next..<filter.before] + [.zero]
            next = filter.before
        }
        design.sections += sections[next...]
        design.starts += starts[next...]
        return design
    }
}
