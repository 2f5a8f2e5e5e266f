import Values

extension Codec where T == [String] {
    /// Broker addresses, one or several: tried in order.
    static let brokers = Codec(
        type: "text or list of texts", unit: nil, allowed: brokersAllowed,
        schema: [
            "anyOf": [
                brokerSchema, ["type": "array", "items": brokerSchema, "minItems": 1, "maxItems": 8],
            ]
        ],
        decode: { value, path, findings in
            guard case .array(let values) = value else {
                return decodeBroker(value, path, &findings).map { [$0] }
            }
            guard (1...8).contains(values.count) else {
                findings.add(
                    path, .range, "The list has \(values.count) elements.", got: .int(Int64(values.count)),
                    allowed: "1…8 addresses")
                return nil
            }
            let brokers = values.enumerated().compactMap { decodeBroker($1, "\(path)/\($0)", &findings) }
            return brokers.count == values.count ? brokers : nil
        },
        encode: { uris in uris.count == 1 ? .string(uris[0]) : .array(uris.map { .string($0) }) })
}

private let brokersAllowed = "mqtt://host:port or mqtts://host:port, or a list of 1 to 8 of them"
private let brokerPattern = "^mqtts?://" + NetworkAddressPattern.address(allowsZone: true) + "$" + endOfText
private let brokerSchema: Value = ["type": "string", "pattern": .string(brokerPattern)]

private func decodeBroker(_ value: Value, _ path: String, _ findings: inout Findings) -> String? {
    guard let text = decodeText(value, path, brokersAllowed, &findings) else { return nil }
    if let problem = brokerProblem(text) {
        findings.add(path, .range, problem, got: text.contains("@") ? nil : value, allowed: brokersAllowed)
        return nil
    }
    return text
}

/// Fault of a broker's address; nil when it is right.
private func brokerProblem(_ text: String) -> String? {
    let schemes = ["mqtt://", "mqtts://"]
    guard let scheme = schemes.first(where: { text.hasPrefix($0) }) else {
        return NetworkAddress.problem(inScheme: text)
    }
    let rest = text.dropFirst(scheme.count)
    if rest.contains("@") { return "User and password do not belong in the address: see username and password_file." }
    do throws(NetworkAddress.Problem) {
        _ = try NetworkAddress(rest, allowsZone: true)
        return nil
    } catch { return error.message }
}

extension NetworkAddress {
    /// Fault of an address that is none of `mqtt://` or `mqtts://`, in words for those who have it from elsewhere.
    package static func problem(inScheme text: String) -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        switch scheme {
        case "ws", "wss":
            return
                "MQTT over WebSockets (\(scheme)://) is not supported: use the broker's port for MQTT itself, \(scheme == "ws" ? "mqtt://host:1883" : "mqtts://host:8883")."
        case "tcp", "mqtt": return "Write mqtt:// in place of \(scheme)://, in small letters."
        case "ssl", "tls", "mqtts": return "Write mqtts:// in place of \(scheme)://, in small letters."
        default: return "A broker's address begins with mqtt:// or mqtts://."
        }
    }
}

extension Codec where T == MQTTConfiguration.TLSVersion {
    /// As a number or as text.
    static let tlsVersion = Codec(
        type: "one of", unit: nil, allowed: "1.2, 1.3", schema: ["enum": [1.2, 1.3, "1.2", "1.3"]],
        decode: { value, path, findings in
            if case .double(let number) = value, number == 1.2 || number == 1.3 { return number == 1.2 ? .v12 : .v13 }
            if case .string(let text) = value, let version = T(rawValue: text) { return version }
            findings.add(path, .range, "There is no such version.", got: value, allowed: "1.2, 1.3")
            return nil
        },
        encode: { .double($0 == .v12 ? 1.2 : 1.3) })
}

extension Codec where T == MQTTConfiguration.ProtocolVersion {
    /// `auto`, 5 or 3.1.1; the numbers as a number or as text.
    static let mqttVersion = Codec(
        type: "one of", unit: nil, allowed: "auto, 5, 3.1.1", schema: ["enum": ["auto", 5, "5", "3.1.1"]],
        decode: { value, path, findings in
            if value.integer == 5 { return .v5 }
            if case .string(let text) = value, let version = T(rawValue: text) { return version }
            findings.add(path, .range, "There is no such version.", got: value, allowed: "auto, 5, 3.1.1")
            return nil
        },
        encode: { $0 == .v5 ? 5 : .string($0.rawValue) })
}
