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
