import Administration
import Values

/// Names and addresses by which a machine is reached, for its certificate.
package enum ServerNames {
    /// Each once, in the order of their letters, `DNS:name` or `IP:address`, with commas.
    /// - Parameters:
    ///   - given: names that somebody has given, which may be addresses, first.
    ///   - addresses: of the machine. (Not those of IPv6: some of them change every day.)
    package static func list(given: [String], machine: [String], addresses: [String]) -> String {
        var names = given + ["localhost"]
        for name in machine where !name.isEmpty {
            names += [name, "\(name.split(separator: ".").first ?? "").local"]
        }
        var all = names.filter { !$0.isEmpty && $0 != ".local" }.map {
            (IPAddress.bytes($0) == nil ? "DNS:" : "IP:") + $0
        }
        all += ["IP:127.0.0.1", "IP:::1"] + addresses.filter { !$0.contains(":") && !$0.isEmpty }.map { "IP:\($0)" }
        func order(_ text: String) -> [UInt8] { text.utf8.map { $0.isSmallLetter ? $0 - 32 : $0 } }
        let sorted = all.sorted { order($0).lexicographicallyPrecedes(order($1)) }
        var unique: [String] = []
        for one in sorted where unique.last.map(order) != order(one) { unique.append(one) }
        return unique.joined(separator: ",")
    }

    /// Whether a list has this name or address, in capitals or not.
    package static func list(_ list: String, has name: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let text = entry.drop { $0 != ":" }.dropFirst()
            return text.lowercased() == name.lowercased()
        }
    }

    /// Whether a text may be a name or an address: letters, digits, dots, colons, `_` and `-`.
    package static func isAllowed(_ name: String) -> Bool {
        name.isMade(1...253) { $0.isOfID || $0 == 0x2e || $0 == 0x3a }
    }
}
