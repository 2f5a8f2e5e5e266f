import Values

/// Names of accounts. They are compared byte by byte: `07` and `7` are two accounts, `1e2` is not `100`.
package enum AccountName {
    /// Bytes that a name may have at most.
    package static let limit = 64

    /// Whether each byte of a text is one that names may have: letters, digits, `_` and `-`.
    package static func isPlain(_ text: String) -> Bool { text.isMade(1...limit) { $0.isOfID } }

    /// Names the fault of a name; nil: none.
    package static func problem(_ name: String) -> String? {
        func refused(_ why: String) -> String { "the name '\(printable(name))' is not allowed: \(why)" }
        guard isPlain(name) else { return refused("1 to 64 of letters A-Z a-z, digits, _ and -") }
        if name == "group" { return refused("this level of the topics is for groups of stations") }
        if name.hasPrefix("enrol-") || name == "seismote-enrol" {
            return refused("such accounts are for stations that join")
        }
        if name == "network" { return refused("this level of the topics is the network detector's") }
        return nil
    }

    /// Whether a text is the number of an invitation: eight letters and digits that are not taken for each other.
    package static func isInvitation(_ text: String) -> Bool {
        text.isMade(8...8) { $0.isSmallLetter || (0x32...0x39).contains($0) }
    }

    /// Whether a text is a serial number as our certificates have it: 30 hexadecimal digits.
    package static func isSerial(_ text: String) -> Bool {
        text.isMade(30...30) { $0.isDigit || (0x61...0x66).contains($0) }
    }

    /// The text without what could deceive the reader of a terminal.
    package static func printable(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar.value {
            case 0..<0x20, 0x7f...0x9f, 0x061c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: shown += "?"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
