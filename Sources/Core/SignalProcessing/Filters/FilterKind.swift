/// A kind of filter: one file with its parameters, what does not fit together in them, and its design. `FilterSpecification.swift`
/// puts it into the settings, the schema, the rules against the sample rate, the command-line tool and the dashboard's form.
/// A value is what a person asks of a filter of this kind, free of any sample rate.
protocol FilterKind: Sendable, Equatable {
    /// Its key in the settings.
    static var name: String { get }
    /// For people; where there is a band, it comes behind: `Butterworth`, `low pass`.
    static var title: String { get }
    /// Effect of the filter, in a sentence or two for people.
    static var help: String { get }

    /// The defaults of the parameters that may be left out.
    init()
    /// Names the parameters, in the order in which they are written.
    mutating func parameters(_ parameters: inout FilterParameters)
    /// Contradiction between the parameters, each of which is allowed by itself.
    var problem: FilterProblem? { get }
    /// The filter at a sample rate in Hz; its numbers are within their limits.
    func design(rate: Double) throws(FilterDesignError) -> FilterSpecification.Design
}

extension FilterKind {
    public var problem: FilterProblem? { nil }
}

/// A parameter that does not fit the others of its filter.
public struct FilterProblem: Sendable {
    public var key: String
    public var message: String
    public var got: String
    public var allowed: String
}

/// One parameter of a filter with its value.
public struct FilterParameter: Sendable {
    public enum Kind: Sendable {
        /// One word out of several; `only`: those that a filter of this kind can have.
        case word(all: [String], only: [String])
        case flag
        case count(ClosedRange<Int>)
        case number(Interval)
        /// Hz, above 0 and below half of the sample rate. `what`: how a message calls it, such as `The corner`.
        case frequency(what: String)
        /// `type`, and `corner_hz` or, where it is a band, `corners_hz`.
        case band
    }

    public enum Value: Sendable {
        case word(String)
        case flag(Bool)
        case count(Int)
        case number(Double)
        case band(FilterBand, [Double])
    }

    public let key: String
    public let kind: Kind
    /// Where it is not, the filter's default holds when it is left out.
    public let isRequired: Bool
    /// A sentence for people.
    public let help: String
    public let value: Value
}

/// Lists the parameters of a filter, or gives them other values: a kind names its properties to it.
public struct FilterParameters {
    public private(set) var all: [FilterParameter] = []
    private let given: [FilterParameter.Value]

    /// - Parameter given: the values of all parameters in their order; none: they stay.
    init(given: [FilterParameter.Value] = []) { self.given = given }

    private mutating func add(
        _ key: String, _ kind: FilterParameter.Kind, required: Bool, _ help: String, _ value: FilterParameter.Value
    ) -> FilterParameter.Value {
        let value = all.count < given.count ? given[all.count] : value
        all.append(.init(key: key, kind: kind, isRequired: required, help: help, value: value))
        return value
    }

    public mutating func word<Word: CaseIterable & RawRepresentable<String>>(
        _ key: String, _ word: inout Word, only: [Word], required: Bool, _ help: String
    ) {
        let kind = FilterParameter.Kind.word(all: Word.allCases.map { $0.rawValue }, only: only.map { $0.rawValue })
        if case .word(let text) = add(key, kind, required: required, help, .word(word.rawValue)) {
            word = Word(rawValue: text) ?? word
        }
    }

    public mutating func flag(_ key: String, _ flag: inout Bool, _ help: String) {
        if case .flag(let new) = add(key, .flag, required: false, help, .flag(flag)) { flag = new }
    }

    public mutating func count(_ key: String, _ count: inout Int, _ range: ClosedRange<Int>, _ help: String) {
        if case .count(let new) = add(key, .count(range), required: false, help, .count(count)) { count = new }
    }

    public mutating func number(
        _ key: String, _ number: inout Double, _ interval: Interval, required: Bool, _ help: String
    ) {
        if case .number(let new) = add(key, .number(interval), required: required, help, .number(number)) {
            number = new
        }
    }

    public mutating func frequency(_ key: String, _ frequency: inout Double, _ what: String, _ help: String) {
        if case .number(let new) = add(key, .frequency(what: what), required: true, help, .number(frequency)) {
            frequency = new
        }
    }

    public mutating func band(_ band: inout FilterBand, corners: inout [Double], _ help: String) {
        if case .band(let type, let all) = add("type", .band, required: true, help, .band(band, corners)) {
            (band, corners) = (type, all)
        }
    }
}

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
