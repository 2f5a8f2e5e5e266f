extension FilterSpecification {
    /// A filter made for a rate: sections, and for each how its delays start.
    public struct Design: Sendable, Equatable {
        public var sections: [Section]
        public var starts: [FilterStart]
        /// Adaptive filters, each with the number of sections before it.
        var adaptive: [(before: Int, axis: AdaptiveStage.Axis)] = []

        /// Sections that all start alike.
        init(_ sections: [Section], start: FilterStart) {
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
