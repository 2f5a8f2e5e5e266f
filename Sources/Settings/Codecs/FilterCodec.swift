import Messages
import SignalProcessing

extension Codec where T == FilterSpecification {
    /// `none`, `shake:lp5` and its like, `{butterworth: {type, corner_hz | corners_hz, order, start}}`,
    /// `{simple: {type, corner_hz, adaptive}}` or `{chain: [...]}`.
    static let filter = Codec(
        type: "filter", unit: nil, allowed: filterForms, schema: ["$ref": "#/$defs/filter"],
        decode: { value, path, findings in decodeFilter(value, path, inChain: false, &findings) },
        encode: encodeFilter)

    /// What `#/$defs/filter` stands for.
    static var filterDefinition: Value {
        ["anyOf": [["$ref": "#/$defs/filter_stage"], variant("chain", chainSchema)]]
    }

    /// What `#/$defs/filter_stage` stands for: a filter that is not a chain.
    static var filterStageDefinition: Value {
        [
            "anyOf": [
                ["enum": .array((["none"] + shakeNames).map { .string($0) })],
                variant("butterworth", butterworthSchema), variant("simple", simpleSchema),
            ]
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
    "none, {butterworth: {type, corner_hz or corners_hz, order, start}}, {simple: {type, corner_hz, adaptive}}, "
    + "{chain: [...]} or shake: and one of " + ShakeFilter.allCases.map(\.rawValue).joined(separator: ", ")
private let shakePrefix = "shake:"
private let shakeNames = ShakeFilter.allCases.map { shakePrefix + $0.rawValue }
private let butterworthKeys = ["type", "corner_hz", "corners_hz", "order", "start"]
private let simpleKeys = ["type", "corner_hz", "adaptive"]
private let simpleBands = ["lowpass", "highpass"]
private let corner = Codec<Double>.frequency(.above(0, to: 5000))
private let order = Codec<Int>.integer(1...10)
private let chainLength = 1...8

private var chainSchema: Value {
    [
        "type": "array", "items": ["$ref": "#/$defs/filter_stage"], "minItems": .int(Int64(chainLength.lowerBound)),
        "maxItems": .int(Int64(chainLength.upperBound)),
    ]
}

private var butterworthSchema: Value {
    let common: Value = ["order": order.schema, "start": Codec<FilterStart>.choice().schema]
    func form(_ bands: [FilterBand], _ key: String, _ schema: Value) -> Value {
        [
            "type": "object", "additionalProperties": false, "required": ["type", .string(key)],
            "properties": common.with("type", ["enum": .array(bands.map { .string($0.rawValue) })]).with(key, schema),
        ]
    }
    return [
        "anyOf": [
            form([.lowpass, .highpass], "corner_hz", corner.schema),
            form(
                [.bandpass, .bandstop], "corners_hz",
                ["type": "array", "items": corner.schema, "minItems": 2, "maxItems": 2, "uniqueItems": true]),
        ]
    ]
}

private var simpleSchema: Value {
    [
        "type": "object", "additionalProperties": false, "required": ["type", "corner_hz"],
        "properties": [
            "type": ["enum": .array(simpleBands.map { .string($0) })], "corner_hz": corner.schema,
            "adaptive": Codec<Bool>.bool.schema,
        ],
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
    let kinds = inChain ? ["butterworth", "simple"] : ["butterworth", "simple", "chain"]
    guard let fields = Fields(value, at: path, keys: kinds, &findings) else { return nil }
    guard fields.members.count == 1, let kind = fields.members.first else {
        findings.add(path, .type, "A filter is one thing, not \(fields.members.count).", allowed: filterForms)
        return nil
    }
    let below = Pointer.appending(kind.key, to: path)
    if kind.key == "butterworth" {
        return decodeButterworth(kind.value, below, &findings).map { .butterworth($0) }
    }
    if kind.key == "simple" { return decodeSimple(kind.value, below, &findings) }
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

private func decodeButterworth(
    _ value: Value, _ path: String, _ findings: inout Findings
) -> ButterworthSpecification? {
    guard let fields = Fields(value, at: path, keys: butterworthKeys, &findings) else { return nil }
    let band = fields.read("type", Codec<FilterBand>.choice(), &findings)
    let poles = fields.read("order", order, default: 2, &findings)
    let start = fields.read("start", Codec<FilterStart>.choice(), default: .zero, &findings)
    guard let band else { return nil }
    let corners = decodeCorners(fields, band, &findings)
    guard let poles, let start, let corners else { return nil }
    return ButterworthSpecification(band: band, corners: corners, order: poles, start: start)
}

private func decodeSimple(_ value: Value, _ path: String, _ findings: inout Findings) -> FilterSpecification? {
    guard let fields = Fields(value, at: path, keys: simpleKeys, &findings) else { return nil }
    let band = fields.read("type", Codec<FilterBand>.choice(), &findings)
    let frequency = fields.read("corner_hz", corner, &findings)
    let adaptive = fields.read("adaptive", .bool, default: false, &findings)
    guard let band, let frequency, let adaptive else { return nil }
    guard band == .lowpass || band == .highpass else {
        findings.add(
            path + "/type", .range, "A simple filter is of first order.", got: .string(band.rawValue),
            allowed: "lowpass, highpass")
        return nil
    }
    return .simple(SimpleSpecification(band: band, corner: frequency, adaptive: adaptive))
}

private func decodeCorners(_ fields: Fields, _ band: FilterBand, _ findings: inout Findings) -> [Double]? {
    let isBand = band == .bandpass || band == .bandstop
    let (right, wrong) = isBand ? ("corners_hz", "corner_hz") : ("corner_hz", "corners_hz")
    if fields.has(wrong) {
        findings.add(
            Pointer.appending(wrong, to: fields.path), .crossField, "A \(band.rawValue) has `\(right)`.",
            allowed: isBand ? "corners_hz: [lower, upper]" : "corner_hz: one frequency")
        return nil
    }
    guard isBand else { return fields.read("corner_hz", corner, &findings).map { [$0] } }
    let pair = Codec<[Double]>.list(of: corner, count: 2...2, allowed: "[lower, upper], rising") { "\($0)" }
    guard let both = fields.read("corners_hz", pair, &findings) else { return nil }
    guard both[0] < both[1] else {
        findings.add(
            Pointer.appending("corners_hz", to: fields.path), .crossField,
            "The second corner must be higher than the first.",
            got: .array(both.map { .shortest($0) }), allowed: "the lower corner, then the upper")
        return nil
    }
    return both
}

private func encodeFilter(_ filter: FilterSpecification) -> Value {
    switch filter {
    case .none: return "none"
    case .shake(let filter): return .string(shakePrefix + filter.rawValue)
    case .chain(let stages): return ["chain": .array(stages.map(encodeFilter))]
    case .simple(let s):
        return [
            "simple": [
                "type": .string(s.band.rawValue), "corner_hz": .shortest(s.corner), "adaptive": .bool(s.adaptive),
            ]
        ]
    case .butterworth(let b):
        let isBand = b.band == .bandpass || b.band == .bandstop
        let corners: Value = isBand ? .array(b.corners.map { .shortest($0) }) : .shortest(b.corners.first ?? 0)
        return [
            "butterworth": [
                "type": .string(b.band.rawValue), isBand ? "corners_hz" : "corner_hz": corners,
                "order": .int(Int64(b.order)), "start": .string(b.start.rawValue),
            ]
        ]
    }
}
