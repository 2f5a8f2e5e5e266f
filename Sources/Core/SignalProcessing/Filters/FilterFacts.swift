/// Facts about a kind, or about a filter.
public struct FilterFacts: Sendable {
    public let name: String
    public let title: String
    public let help: String
    public let parameters: [FilterParameter]
    public let problem: FilterProblem?

    /// All kinds, each with a filter at its defaults.
    public static let all = FilterSpecification.kinds.compactMap { $0.facts }

    /// The frequencies among the parameters.
    public var frequencies: [FilterFrequency] {
        parameters.flatMap { parameter -> [FilterFrequency] in
            switch (parameter.kind, parameter.value) {
            case (.frequency(let what), .number(let frequency)):
                [.init(path: "\(name)/\(parameter.key)", what: what, frequency: frequency)]
            case (_, .band(let band, let corners)):
                corners.enumerated().map { i, corner in
                    let key = band.hasTwoCorners ? "corners_hz/\(i)" : "corner_hz"
                    return .init(path: "\(name)/\(key)", what: "The corner", frequency: corner)
                }
            default: []
            }
        }
    }
}

/// A frequency among the parameters of a filter.
public struct FilterFrequency: Sendable {
    /// From the filter's name on, such as `butterworth/corners_hz/1`.
    public var path: String
    /// Its name in messages.
    public var what: String
    /// Hz.
    public var frequency: Double
}

/// One look at a filter whose kind the caller does not know.
struct FilterVisit: ~Copyable {
    /// Values of all parameters in their order, that the filter takes over; none: they stay.
    var given: [FilterParameter.Value] = []
    /// The filter is designed for this rate in Hz; nil: it is not.
    var rate: Double?
    private(set) var facts: FilterFacts?
    private(set) var design: Result<FilterSpecification.Design, FilterDesignError>?

    mutating func look<Kind: FilterKind>(at old: Kind) -> Kind {
        var (filter, parameters) = (old, FilterParameters(given: given))
        filter.parameters(&parameters)
        facts = FilterFacts(
            name: Kind.name, title: Kind.title, help: Kind.help, parameters: parameters.all, problem: filter.problem)
        guard let rate else { return filter }
        do throws(FilterDesignError) { design = .success(try filter.design(rate: rate)) } catch {
            design = .failure(error)
        }
        return filter
    }
}

extension FilterSpecification {
    /// Nil when it is not of a kind.
    public var facts: FilterFacts? {
        var filter = self
        var visit = FilterVisit()
        filter.receive(&visit)
        return visit.facts
    }

    /// Nil when there is no kind of that name.
    /// - Parameter values: of all its parameters, in their order.
    public init?(kind name: String, values: [FilterParameter.Value]) {
        guard var filter = Self.kinds.first(where: { $0.facts?.name == name }) else { return nil }
        var visit = FilterVisit(given: values)
        filter.receive(&visit)
        self = filter
    }

    /// The filter of a kind at a sample rate in Hz; nil when it is not of a kind.
    func ownDesign(rate: Double) throws(FilterDesignError) -> Design? {
        var filter = self
        var visit = FilterVisit(rate: rate)
        for parameter in facts?.parameters ?? [] {
            if case (.number(let allowed), .number(let number)) = (parameter.kind, parameter.value),
                !allowed.contains(number)
            {
                throw .parameter(parameter.key, number, allowed)
            }
        }
        filter.receive(&visit)
        return try visit.design?.get()
    }
}
