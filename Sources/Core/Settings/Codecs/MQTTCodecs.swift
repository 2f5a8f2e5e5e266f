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
private let portPattern =
    "0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
private let brokerPattern =
    "^mqtts?://([A-Za-z0-9._-]{1,253}|\\[(?=[0-9A-Fa-f.]*:)[0-9A-Fa-f:.]{2,45}\\])(:\(portPattern))?$" + endOfText
private let brokerSchema: Value = ["type": "string", "pattern": .string(brokerPattern)]

private func decodeBroker(_ value: Value, _ path: String, _ findings: inout Findings) -> String? {
    guard let text = decodeText(value, path, brokersAllowed, &findings) else { return nil }
    if let problem = brokerProblem(text) {
        findings.add(path, .range, problem, got: text.contains("@") ? nil : value, allowed: brokersAllowed)
        return nil
    }
    return text
}

/// What is wrong with a broker's address; nil when it is right.
private func brokerProblem(_ text: String) -> String? {
    var rest: Substring
    if text.hasPrefix("mqtt://") {
        rest = text.dropFirst(7)
    } else if text.hasPrefix("mqtts://") {
        rest = text.dropFirst(8)
    } else {
        return "A broker's address begins with mqtt:// or mqtts://."
    }
    if rest.contains("@") { return "User and password do not belong in the address: see username and password_file." }
    let host: Substring
    if rest.first == "[" {
        guard let end = rest.firstIndex(of: "]") else { return "The ] after the IPv6 address is missing." }
        host = rest[rest.index(after: rest.startIndex)..<end]
        rest = rest[rest.index(after: end)...]
        guard (2...45).contains(host.utf8.count), host.contains(":"),
            host.allSatisfy({ $0.isHexDigit && $0.isASCII || $0 == ":" || $0 == "." })
        else { return "This is not an IPv6 address." }
    } else {
        host = rest.prefix { $0 != ":" }
        rest = rest.dropFirst(host.count)
        let rule = TextRule.id(1...253)
        guard (1...253).contains(host.utf8.count),
            host.unicodeScalars.allSatisfy({ rule.isAllowed($0) || $0 == "." })
        else { return "This is not a host name." }
    }
    if rest.isEmpty { return nil }
    let port = rest.dropFirst()
    guard rest.first == ":", port.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(port),
        (1...65535).contains(number)
    else { return "The port must be 1…65535, with nothing after it." }
    return nil
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
