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

/// A host and a port as an address has them: the one check of all places that take an address. As strict as the strictest
/// of those who read such an address later (browsers, Home Assistant, resolvers): what one of them refuses is said here.
package struct NetworkAddress: Equatable, Sendable {
    /// Name, IPv4 address, or IPv6 address without brackets; with its zone, `fe80::1%eth0`.
    package var host: String
    /// 1 to 65535; nil: not given.
    package var port: Int?

    /// Fault of an address: a sentence.
    package struct Problem: Error, Equatable {
        package var message: String
    }

    /// Reads `host`, `host:port`, `[IPv6]` or `[IPv6]:port`, with nothing before or behind it.
    /// - Parameter allowsZone: an IPv6 address may name the interface that it is reached over.
    package init(_ text: Substring, allowsZone: Bool) throws(Problem) {
        let rest: Substring
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else {
                throw Problem(message: "The ] after the IPv6 address is missing.")
            }
            let inside = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            let address = inside.prefix { $0 != "%" }
            let zone = inside.dropFirst(address.count)
            guard Self.isIPv6(address) else { throw Problem(message: "This is not an IPv6 address.") }
            guard zone.isEmpty || allowsZone && Self.isZone(zone) else {
                throw Problem(message: "An interface after % has no place in this address.")
            }
            // (In URIs the sign before a zone may be written as %25, RFC 6874.)
            host =
                String(address)
                + (zone.hasPrefix("%25") && zone.utf8.count > 3 ? "%" + zone.dropFirst(3) : String(zone))
        } else {
            let name = text.prefix { $0 != ":" }
            rest = text.dropFirst(name.count)
            if rest.dropFirst().contains(":") {
                throw Problem(message: "An IPv6 address stands in brackets: [fe80::1]:1883.")
            }
            if name.isEmpty { throw Problem(message: "The host is missing.") }
            if let problem = Self.problem(inName: name) { throw Problem(message: problem) }
            host = String(name)
        }
        guard !rest.isEmpty else { return }
        let digits = rest.dropFirst()
        guard rest.first == ":", !digits.isEmpty, digits.utf8.allSatisfy({ $0.isDigit }),
            let number = Int(digits), (1...65535).contains(number)
        else { throw Problem(message: "The port must be 1…65535, with nothing after it.") }
        port = number
    }

    // MARK: hosts

    private static func problem(inName name: Substring) -> String? {
        var labels = name.split(separator: ".", omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true, labels.count > 1 { labels.removeLast() }
        guard (1...253).contains(name.utf8.count), labels.allSatisfy(isLabel) else { return "This is not a host name." }
        // Resolvers read a name that ends in a number as an IPv4 address.
        if labels.last?.utf8.allSatisfy({ $0.isDigit }) == true {
            let isAddress = labels.count == 4 && labels.allSatisfy(isOctet) && name.last != "."
            return isAddress ? nil : "This is not an IPv4 address."
        }
        return nil
    }

    private static func isLabel(_ label: Substring) -> Bool {
        label.isMade(1...63) { $0.isOfID } && label.first != "-" && label.last != "-"
    }

    private static func isOctet(_ text: Substring) -> Bool {
        guard text.isMade(1...3, of: { $0.isDigit }), let number = Int(text) else { return false }
        return number <= 255 && (text.first != "0" || text.utf8.count == 1)
    }

    private static func isZone(_ text: Substring) -> Bool {
        (2...17).contains(text.utf8.count)
            && text.utf8.dropFirst().allSatisfy { $0.isAlphanumeric || [45, 46, 95].contains($0) }
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        // At most one gap, `::`, which stands for one group or more.
        var parts: [[Substring]] = [[]]
        var rest = text
        if rest.hasPrefix("::") {
            parts.append([])
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != ":" }
            rest = rest.dropFirst(group.count)
            if group.isEmpty { return false }
            parts[parts.count - 1].append(group)
            if rest.hasPrefix("::") {
                if parts.count == 2 { return false }
                parts.append([])
                rest = rest.dropFirst(2)
            } else if !rest.isEmpty {
                rest = rest.dropFirst()
                if rest.isEmpty { return false }
            }
        }
        var count = 0
        for (index, part) in parts.enumerated() {
            for (place, group) in part.enumerated() {
                let isLast = index == parts.count - 1 && place == part.count - 1
                if isLast, group.contains(".") {
                    let octets = group.split(separator: ".", omittingEmptySubsequences: false)
                    guard octets.count == 4, octets.allSatisfy(isOctet) else { return false }
                    count += 2
                } else {
                    guard (1...4).contains(group.utf8.count), group.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
                        return false
                    }
                    count += 1
                }
            }
        }
        return parts.count == 2 ? count <= 7 : count == 8
    }
}

/// The same as regular expressions (ECMA 262, not anchored), for a JSON Schema.
enum NetworkAddressPattern {
    private static let octet = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    private static let four = "(\(octet)\\.){3}\(octet)"
    private static let group = "[0-9A-Fa-f]{1,4}"

    private static let six: String = {
        let tail = "(\(group):\(group)|\(four))"
        // RFC 3986, IPv6address: what stands before the gap is at most as long as what stands behind it leaves.
        var forms = ["(\(group):){6}\(tail)", "::(\(group):){5}\(tail)"]
        for before in 1...7 {
            let head = "(\(before == 1 ? "" : "(\(group):){0,\(before - 1)}")\(group))?"
            let behind = [
                "(\(group):){4}\(tail)", "(\(group):){3}\(tail)", "(\(group):){2}\(tail)", "\(group):\(tail)",
            ]
            switch before {
            case 1...4: forms.append("\(head)::\(behind[before - 1])")
            case 5: forms.append("\(head)::\(tail)")
            case 6: forms.append("\(head)::\(group)")
            default: forms.append("\(head)::")
            }
        }
        return "(\(forms.joined(separator: "|")))"
    }()

    /// - Parameter letter: of a label, but for the hyphen, which stands neither first nor last.
    private static func name(_ letter: String) -> String {
        let label = "(?![A-Za-z0-9_-]{64})\(letter)((\(letter)|-)*\(letter))?"
        let isNumber = "([A-Za-z0-9._-]*\\.)?[0-9]+\\.?(?![A-Za-z0-9._{-])"
        return "(?![A-Za-z0-9._-]{254})(?!\(isNumber))\(label)(\\.\(label))*\\.?"
    }

    private static let port =
        "0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"

    /// - Parameter placeholder: `{id}` may stand in a name.
    static func address(allowsZone: Bool, placeholder: Bool = false) -> String {
        let name = name(placeholder ? "([A-Za-z0-9_]|\\{id\\})" : "[A-Za-z0-9_]")
        let zone = allowsZone ? "(%[A-Za-z0-9._-]{1,16})?" : ""
        return "(\(four)|\(name)|\\[\(six)\(zone)\\])(:\(port))?"
    }
}
