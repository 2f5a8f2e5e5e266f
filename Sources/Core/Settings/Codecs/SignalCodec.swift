import SignalProcessing
import Values

extension Codec where T == AxisConfiguration.Signal {
    /// `sensor`, `step`, `impulse`, `{sine: {amplitude, frequency_hz}}`, `{step: {amplitude}}`,
    /// `{impulse: {amplitude}}`.
    static let signal = Codec(
        type: "signal", unit: nil, allowed: forms,
        schema: [
            "anyOf": [
                ["enum": ["sensor", "step", "impulse"]],
                variant(
                    "sine",
                    body(
                        ["amplitude": amplitude.schema, "frequency_hz": sineFrequency.schema],
                        required: ["frequency_hz"])),
                variant("step", body(["amplitude": amplitude.schema])),
                variant("impulse", body(["amplitude": amplitude.schema])),
            ]
        ],
        decode: decodeSignal,
        encode: { signal in
            switch signal {
            case .sensor: "sensor"
            case .sine(let amplitude, let frequency):
                ["sine": ["amplitude": .shortest(amplitude), "frequency_hz": .shortest(frequency)]]
            case .step(let amplitude): ["step": ["amplitude": .shortest(amplitude)]]
            case .impulse(let amplitude): ["impulse": ["amplitude": .shortest(amplitude)]]
            }
        })
}

private let forms =
    "sensor, step, impulse, {sine: {amplitude, frequency_hz}}, {step: {amplitude}} or {impulse: {amplitude}}"
private let kinds = ["sine", "step", "impulse"]
/// Shake's limit.
private let amplitude = Codec<Double>.acceleration(.from(0, to: 2 * standardGravity))
private let sineFrequency = Codec<Double>.frequency(.above(0, to: 5000))

private func body(_ properties: Value, required: [Value] = []) -> Value {
    ["type": "object", "additionalProperties": false, "required": .array(required), "properties": properties]
}

private func decodeSignal(_ value: Value, _ path: String, _ findings: inout Findings) -> AxisConfiguration.Signal? {
    if case .string(let word) = value {
        switch word {
        case "sensor": return .sensor
        case "step": return .step(amplitude: standardGravity)
        case "impulse": return .impulse(amplitude: standardGravity)
        default:
            findings.add(path, .range, "There is no such signal.", got: value, allowed: forms)
            return nil
        }
    }
    guard case .object = value else {
        findings.wrongType(path, "a signal", got: value, allowed: forms)
        return nil
    }
    guard let outer = Fields(value, at: path, keys: kinds, &findings) else { return nil }
    guard outer.members.count == 1, let kind = outer.members.first else {
        findings.add(path, .type, "A signal is one thing, not \(outer.members.count).", allowed: forms)
        return nil
    }
    let keys = kind.key == "sine" ? ["amplitude", "frequency_hz"] : ["amplitude"]
    guard let fields = Fields(kind.value, at: JSONPointer.appending(kind.key, to: path), keys: keys, &findings) else {
        return nil
    }
    let size = fields.read("amplitude", amplitude, default: standardGravity, &findings)
    switch kind.key {
    case "step": return size.map { .step(amplitude: $0) }
    case "impulse": return size.map { .impulse(amplitude: $0) }
    default:
        let rate = fields.read("frequency_hz", sineFrequency, &findings)
        guard let size, let rate else { return nil }
        return .sine(amplitude: size, frequency: rate)
    }
}
