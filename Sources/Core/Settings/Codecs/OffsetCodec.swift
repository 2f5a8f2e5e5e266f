import SignalProcessing
import Values

extension Codec where T == OffsetSpecification {
    /// `{mode: none | mean_first | ema | highpass, ...}`.
    static let offset = Codec(
        type: "offset removal", unit: nil, allowed: forms,
        schema: [
            "anyOf": [
                mode("none", [:], required: []),
                mode("mean_first", ["seconds": seconds.schema], required: ["seconds"]),
                mode("ema", ["alpha": alpha.schema], required: ["alpha"]),
                mode("ema", ["corner_hz": corner.schema], required: ["corner_hz"]),
                mode("highpass", ["corner_hz": corner.schema, "order": order.schema], required: ["corner_hz"]),
            ]
        ],
        decode: decodeOffset,
        encode: { offset in
            switch offset {
            case .none: ["mode": "none"]
            case .meanFirst(let seconds): ["mode": "mean_first", "seconds": .shortest(seconds)]
            case .ema(.alpha(let alpha)): ["mode": "ema", "alpha": .shortest(alpha)]
            case .ema(.corner(let corner)): ["mode": "ema", "corner_hz": .shortest(corner)]
            case .highpass(let corner, let order):
                ["mode": "highpass", "corner_hz": .shortest(corner), "order": .int(Int64(order))]
            }
        })
}

private enum Mode: String, CaseIterable, Sendable {
    case none, ema, highpass
    case meanFirst = "mean_first"
}

private let forms =
    "{mode: none}, {mode: mean_first, seconds}, {mode: ema, alpha or corner_hz} or {mode: highpass, corner_hz, order}"
private let seconds = Codec<Double>.time(.above(0, to: 600))
private let alpha = Codec<Double>.number(.above(0, to: 1))
private let corner = Codec<Double>.frequency(.above(0, to: 5000))
private let order = Codec<Int>.integer(1...10)

private func mode(_ name: String, _ properties: Value, required: [Value]) -> Value {
    guard case .object(let members) = properties else { return properties }
    return [
        "type": "object", "additionalProperties": false, "required": .array(["mode"] + required),
        "properties": .object([.init("mode", ["const": .string(name)])] + members),
    ]
}

private func decodeOffset(_ value: Value, _ path: String, _ findings: inout Findings) -> OffsetSpecification? {
    let keys = ["mode", "seconds", "alpha", "corner_hz", "order"]
    guard let fields = Fields(value, at: path, keys: keys, &findings),
        let mode = fields.read("mode", Codec<Mode>.choice(), &findings)
    else { return nil }
    let belonging: [String]
    switch mode {
    case .none: belonging = []
    case .meanFirst: belonging = ["seconds"]
    case .ema: belonging = ["alpha", "corner_hz"]
    case .highpass: belonging = ["corner_hz", "order"]
    }
    var isClean = true
    for key in keys.dropFirst() where fields.has(key) && !belonging.contains(key) {
        isClean = false
        findings.add(
            JSONPointer.appending(key, to: path), .crossField, "The mode \(mode.rawValue) has no `\(key)`.",
            allowed: forms)
    }
    guard isClean else { return nil }
    switch mode {
    case .none: return OffsetSpecification.none
    case .meanFirst: return fields.read("seconds", seconds, &findings).map { .meanFirst(seconds: $0) }
    case .highpass:
        let frequency = fields.read("corner_hz", corner, &findings)
        let poles = fields.read("order", order, default: 2, &findings)
        guard let frequency, let poles else { return nil }
        return .highpass(corner: frequency, order: poles)
    case .ema:
        guard fields.has("alpha") != fields.has("corner_hz") else {
            findings.add(
                path, .crossField, "The mode ema has either `alpha` or `corner_hz`.",
                allowed: "{mode: ema, alpha} or {mode: ema, corner_hz}")
            return nil
        }
        if fields.has("alpha") { return fields.read("alpha", alpha, &findings).map { .ema(.alpha($0)) } }
        return fields.read("corner_hz", corner, &findings).map { .ema(.corner($0)) }
    }
}
