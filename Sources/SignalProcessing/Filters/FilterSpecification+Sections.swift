extension FilterSpecification {
    /// A filter made for a rate: sections, and for each how its delays start.
    public struct Design: Sendable, Equatable {
        public var sections: [Section]
        public var starts: [FilterStart]
        /// Adaptive filters, each with the number of sections before it.
        var adaptive: [(before: Int, axis: AdaptiveStage.Axis)] = []

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
        case .none: break
        case .butterworth(let specification):
            let sections = try specification.sections(rate: rate)
            design.sections += sections
            design.starts += sections.map { _ in specification.start }
        case .simple(let specification):
            let (k, rest) = try specification.constant(rate: rate)
            if specification.adaptive {
                design.adaptive.append((design.sections.count, .init(band: specification.band, k: k, rest: rest)))
            } else {
                design.sections.append(SimpleSpecification.section(specification.band, k: k, rest: rest))
                design.starts.append(.zero)
            }
        case .shake(let filter): try filter.specification.append(to: &design, rate: rate, depth: depth)
        case .chain(let filters):
            guard filters.count <= 8, depth < 8 else { throw .chainLength }
            for filter in filters { try filter.append(to: &design, rate: rate, depth: depth + 1) }
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
