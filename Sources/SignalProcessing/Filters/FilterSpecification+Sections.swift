extension FilterSpecification {
    /// A filter made for a rate: sections, and for each how its delays start.
    public struct Design: Sendable, Equatable {
        public var sections: [Section]
        public var starts: [FilterStart]
    }

    /// Designs the filter for a sample rate in Hz; `none` has no sections.
    public func design(rate: Double) throws(FilterDesignError) -> Design {
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
        case .chain(let filters):
            guard filters.count <= 8, depth < 8 else { throw .chainLength }
            for filter in filters { try filter.append(to: &design, rate: rate, depth: depth + 1) }
        }
    }
}

extension FilterSpecification.Design {
    /// Seconds until what the delays held at the start has decayed to 5 % (three time constants of the slowest pole).
    public func settlingTime(rate: Double) -> Double {
        let slowest = sections.map(\.decayPerSample).min() ?? .infinity
        return 3 / slowest / rate
    }
}
