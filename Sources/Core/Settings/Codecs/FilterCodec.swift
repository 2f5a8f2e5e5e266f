import Messages
import SignalProcessing
import Values

extension Codec where T == FilterSpecification {
    /// `none`, `shake:lp5` and its like, a filter of one of the kinds, such as `{simple: {type, corner_hz, adaptive}}`, or
    /// `{chain: [...]}`.
    static let filter = Codec(
        type: "filter", unit: nil, allowed: filterForms, schema: ["$ref": "#/$defs/filter"],
        decode: { value, path, findings in decodeFilter(value, path, inChain: false, &findings) },
        encode: encodeFilter)

    /// Schema of `#/$defs/filter`.
    static var filterDefinition: Value {
        ["anyOf": [["$ref": "#/$defs/filter_stage"], variant("chain", chainSchema)]]
    }

    /// Schema of `#/$defs/filter_stage`: a filter that is not a chain.
    static var filterStageDefinition: Value {
        [
            "anyOf": .array(
                [["enum": .array((["none"] + shakeNames).map { .string($0) })]] + FilterFacts.all.map(\.schema))
        ]
    }
}

extension Codec where T == FilterSpecification? {
    /// A filter of its own, or `axes` for those of the axes.
    static let ownFilter = Codec(
        type: "filter", unit: nil, allowed: "axes, \(filterForms)",
        schema: ["anyOf": [["const": "axes"], ["$ref": "#/$defs/filter"]]],
        decode: { value, path, findings in
            if case .string("axes") = value { return .some(nil) }
            return decodeFilter(value, path, inChain: false, &findings).map { .some($0) }
        },
        encode: { $0.map(encodeFilter) ?? "axes" })
}

private let filterForms =
    (["none"] + FilterFacts.all.map(\.form)).joined(separator: ", ")
    + ", {chain: [...]} or shake: and one of " + ShakeFilter.allCases.map(\.rawValue).joined(separator: ", ")
private let shakePrefix = "shake:"
private let shakeNames = ShakeFilter.allCases.map { shakePrefix + $0.rawValue }
private let chainLength = 1...8

private var chainSchema: Value {
    [
        "type": "array", "items": ["$ref": "#/$defs/filter_stage"], "minItems": .int(Int64(chainLength.lowerBound)),
        "maxItems": .int(Int64(chainLength.upperBound)),
    ]
}

/// An object with exactly one key.
func variant(_ key: String, _ schema: Value) -> Value {
    [
        "type": "object", "additionalProperties": false, "required": [.string(key)],
        "properties": .object([.init(key, schema)]),
    ]
}

private func decodeFilter(
    _ value: Value, _ path: String, inChain: Bool, _ findings: inout Findings
) -> FilterSpecification? {
    if case .string(let word) = value {
        if word == "none" { return FilterSpecification.none }
        if let place = shakeNames.firstIndex(of: word) { return .shake(ShakeFilter.allCases[place]) }
        findings.add(
            path, .range, "There is no such filter.", got: value, allowed: filterForms,
            nearest: Spelling.nearest(to: word, in: shakeNames))
        return nil
    }
    guard case .object = value else {
        findings.wrongType(path, "a filter", got: value, allowed: filterForms)
        return nil
    }
    let kinds = FilterFacts.all.map(\.name) + (inChain ? [] : ["chain"])
    guard let fields = Fields(value, at: path, keys: kinds, &findings) else { return nil }
    guard fields.members.count == 1, let kind = fields.members.first else {
        findings.add(path, .type, "A filter is one thing, not \(fields.members.count).", allowed: filterForms)
        return nil
    }
    let below = JSONPointer.appending(kind.key, to: path)
    if let facts = FilterFacts.all.first(where: { $0.name == kind.key }) {
        return facts.read(kind.value, below, &findings)
    }
    guard case .array(let stages) = kind.value else {
        findings.wrongType(below, "a list of filters", got: kind.value)
        return nil
    }
    guard chainLength.contains(stages.count) else {
        findings.add(
            below, .range, "The chain has \(stages.count) filters.", got: .int(Int64(stages.count)),
            allowed: "\(chainLength.lowerBound)…\(chainLength.upperBound) filters")
        return nil
    }
    let decoded = stages.enumerated().map { decodeFilter($1, "\(below)/\($0)", inChain: true, &findings) }
    let whole = decoded.compactMap { $0 }
    return whole.count == stages.count ? .chain(whole) : nil
}

private func encodeFilter(_ filter: FilterSpecification) -> Value {
    switch filter {
    case .none: return "none"
    case .shake(let filter): return .string(shakePrefix + filter.rawValue)
    case .chain(let stages): return ["chain": .array(stages.map(encodeFilter))]
    default: return filter.facts?.value ?? "none"
    }
}

/// A single filter as text, in the form that the settings have it.
public enum FilterText {
    /// Reads a filter in YAML or JSON: `shake:lp5`, `{butterworth: {type: lowpass, corner_hz: 5, order: 2}}`.
    ///
    /// - Parameter rate: samples per second that its corners must fit.
    /// - Throws: everything that is wrong with it.
    public static func read(_ text: String, rate: Double) throws(CodedErrors) -> FilterSpecification {
        var findings = Findings()
        do throws(CodedError) {
            let document = try YAMLReader.read(Array(text.utf8))
            let filter = Codec<FilterSpecification>.filter.decode(document.root, "", &findings)
            if let filter, findings.errors.isEmpty {
                CrossFieldRules.check(filter, "", rate, named: "the rate", &findings)
                if findings.errors.isEmpty { return filter }
            }
        } catch {
            findings.add(error)
        }
        throw CodedErrors(findings.errors)
    }

    /// The kinds of filters for people, each with its keys and what it does.
    public static var kinds: [String] {
        FilterFacts.all.map { "\($0.form): \($0.help)" }
    }

    /// The canonical form of a filter.
    public static func value(_ filter: FilterSpecification) -> Value {
        Codec<FilterSpecification>.filter.encode(filter)
    }

    /// The same on one line of YAML.
    public static func line(_ filter: FilterSpecification) -> String {
        if case .string(let name) = value(filter) { return name }
        return YAMLText.flow(value(filter))
    }
}

// What the settings make of the parameters that each kind of filter declares in its file.

private let corner = Codec<Double>.frequency(.above(0, to: 5000))

extension FilterParameter {
    /// The keys that it has in the settings.
    var keys: [String] {
        if case .band = kind { return ["type", "corner_hz", "corners_hz"] }
        return [key]
    }

    /// Nil, with the reason among the findings, when it is not allowed or missing.
    /// - Parameter late: for the errors of corners, which come after those of the other parameters.
    fileprivate func read(_ fields: Fields, _ findings: inout Findings, late: inout Findings) -> Value? {
        if !isRequired, !fields.has(key) { return value }
        switch kind {
        case .word(let all, _): return fields.read(key, .word(all), &findings).map { .word($0) }
        case .flag: return fields.read(key, .bool, &findings).map { .flag($0) }
        case .count(let range): return fields.read(key, .integer(range), &findings).map { .count($0) }
        case .number(let interval): return fields.read(key, .number(interval), &findings).map { .number($0) }
        case .frequency: return fields.read(key, corner, &findings).map { .number($0) }
        case .band:
            guard let band = fields.read(key, Codec<FilterBand>.choice(), &findings) else { return nil }
            return readCorners(fields, band, &late).map { .band(band, $0) }
        }
    }

    /// The canonical form.
    fileprivate var members: [Values.Value.Member] {
        switch value {
        case .word(let word): [.init(key, .string(word))]
        case .flag(let flag): [.init(key, .bool(flag))]
        case .count(let count): [.init(key, .int(Int64(count)))]
        case .number(let number): [.init(key, .shortest(number))]
        case .band(let band, let corners):
            [
                .init(key, .string(band.rawValue)),
                band.hasTwoCorners
                    ? .init("corners_hz", .array(corners.map { .shortest($0) }))
                    : .init("corner_hz", .shortest(corners.first ?? 0)),
            ]
        }
    }

    /// With its help for forms; nil for a band, which has two forms.
    fileprivate var schema: Values.Value? {
        let schema: Values.Value
        switch kind {
        case .word(_, let only): schema = ["enum": .array(only.map { .string($0) })]
        case .flag: schema = Codec<Bool>.bool.schema
        case .count(let range): schema = Codec<Int>.integer(range).schema
        case .number(let interval): schema = Codec<Double>.number(interval).schema
        case .frequency: schema = corner.schema
        case .band: return nil
        }
        return schema.with("description", .string(help))
    }
}

private func readCorners(_ fields: Fields, _ band: FilterBand, _ findings: inout Findings) -> [Double]? {
    let isBand = band.hasTwoCorners
    let (right, wrong) = isBand ? ("corners_hz", "corner_hz") : ("corner_hz", "corners_hz")
    if fields.has(wrong) {
        findings.add(
            JSONPointer.appending(wrong, to: fields.path), .crossField, "A \(band.rawValue) has `\(right)`.",
            allowed: isBand ? "corners_hz: [lower, upper]" : "corner_hz: one frequency")
        return nil
    }
    guard isBand else { return fields.read("corner_hz", corner, &findings).map { [$0] } }
    let pair = Codec<[Double]>.list(of: corner, count: 2...2, allowed: "[lower, upper], rising") { "\($0)" }
    guard let both = fields.read("corners_hz", pair, &findings) else { return nil }
    guard both[0] < both[1] else {
        findings.add(
            JSONPointer.appending("corners_hz", to: fields.path), .crossField,
            "The second corner must be higher than the first.",
            got: .array(both.map { .shortest($0) }), allowed: "the lower corner, then the upper")
        return nil
    }
    return both
}

extension FilterFacts {
    /// A kind's keys as a person reads them.
    var form: String {
        let keys = parameters.flatMap { $0.keys.count == 1 ? $0.keys : ["type", "corner_hz or corners_hz"] }
        return "{\(name): {\(keys.joined(separator: ", "))}}"
    }

    /// Reads a filter of this kind; nil with the reasons among the findings.
    func read(_ value: Value, _ path: String, _ findings: inout Findings) -> FilterSpecification? {
        guard let fields = Fields(value, at: path, keys: parameters.flatMap(\.keys), &findings) else { return nil }
        var late = Findings()
        let values = parameters.compactMap { $0.read(fields, &findings, late: &late) }
        findings.add(contentsOf: late.errors)
        guard values.count == parameters.count, let filter = FilterSpecification(kind: name, values: values) else {
            return nil
        }
        guard let problem = filter.facts?.problem else { return filter }
        findings.add(
            JSONPointer.appending(problem.key, to: path), .range, problem.message, got: .string(problem.got),
            allowed: problem.allowed)
        return nil
    }

    /// The canonical form of a filter.
    var value: Value { .object([.init(name, .object(parameters.flatMap(\.members)))]) }

    /// The schema of a kind, with its title and its help for forms.
    var schema: Value {
        let properties = parameters.compactMap { one in one.schema.map { Value.Member(one.key, $0) } }
        var required: [Value] = []
        var band: FilterParameter?
        for one in parameters where one.isRequired {
            if case .band = one.kind { band = one } else { required.append(.string(one.key)) }
        }
        func object(_ more: [Value.Member]) -> Value {
            [
                "type": "object", "additionalProperties": false,
                "required": .array(more.map { .string($0.key) } + required), "properties": .object(properties + more),
            ]
        }
        /// With the words of `type` that go with one corner, or with two.
        func form(_ two: Bool, _ key: String, _ schema: Value, _ help: String) -> Value {
            let words = FilterBand.allCases.filter { $0.hasTwoCorners == two }.map { Value.string($0.rawValue) }
            return object([
                .init("type", ["enum": .array(words)]), .init(key, schema.with("description", .string(help))),
            ])
        }
        var schema = object([])
        if let help = band?.help {
            let pair: Value = [
                "type": "array", "items": corner.schema, "minItems": 2, "maxItems": 2, "uniqueItems": true,
            ]
            schema = ["anyOf": [form(false, "corner_hz", corner.schema, help), form(true, "corners_hz", pair, help)]]
        }
        return variant(name, schema.with("title", .string(title)).with("description", .string(self.help)))
    }
}
