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

/// Kinds of accounts, with the topics that each may read and write.
package enum Role: String, CaseIterable, Sendable {
    case station, viewer, commander
    case homeAssistant = "home-assistant"
    case network, feed, notify

    /// Lines of mosquitto's file of rights for an account of this kind.
    package func rights(of name: String) -> [String] {
        func read(_ topics: String...) -> [String] { topics.map { "topic read \($0)" } }
        func write(_ topics: String...) -> [String] { topics.map { "topic write \($0)" } }
        switch self {
        case .station:
            let own = "seismote/\(name)"
            // (One after the other: Debian 13's Swift 6.0.3 gives up on their sum as one expression.)
            var lines = write("\(own)/state/#", "\(own)/event/#", "\(own)/data/#", "\(own)/res/#")
            // An event that a power cut has interrupted is closed from what the broker retains of it; what others
            // write on its own topics it corrects.
            lines += read("\(own)/event/current", "\(own)/event/last", "\(own)/state/#")
            // Its test messages come back to it: with MQTT 3.1.1 nothing else tells that they were taken.
            lines += read("\(own)/+/selfcheck", "\(own)/+/+/selfcheck")
            lines.append("topic readwrite \(own)/cmd/selfcheck")
            // (A warning before S, `alarm.network.enabled`, needs the network's events.)
            lines += read("\(own)/cmd/#", "seismote/group/+/cmd/#", "seismote/network/event", "homeassistant/status")
            lines.append("topic readwrite homeassistant/+/seismote-\(name)/#")
            lines += write("renew/\(name)/csr", "renew/\(name)/joined")
            lines += read("renew/\(name)/cert")
            return lines
        case .viewer:
            return read("seismote/+/state/#", "seismote/+/event/#", "seismote/+/data/#", "seismote/network/#")
        case .commander:
            return Self.all
                + write("seismote/+/cmd/+", "seismote/group/+/cmd/+")
                // Who has seen an event of the network, and where stations are.
                + write("seismote/network/note/+", "seismote/network/place/+")
        case .homeAssistant:
            return Self.all
                + write("seismote/+/cmd/+")
                + read("seismote/release", "homeassistant/#")
                + write("homeassistant/status")
        case .network:
            return read("seismote/+/event/#", "seismote/+/data/history/event/#", "seismote/+/state/#")
                + ["topic readwrite seismote/network/#"]
                + write(
                    "seismote/+/cmd/resend", "seismote/+/cmd/rebirth", "seismote/+/cmd/confirm-event",
                    "seismote/group/all/cmd/rebirth", "homeassistant/+/seismote-network/#")
        case .feed:
            return read("seismote/+/state/#", "seismote/+/event/#", "seismote/+/data/#", "seismote/+/res/#")
                + ["topic readwrite seismote/network/feed/#"]
                + write("seismote/+/cmd/snapshot", "seismote/+/cmd/rebirth")
        case .notify:
            return read(
                "seismote/+/event/trigger", "seismote/+/state/online", "seismote/+/state/alert/#",
                "seismote/network/event")
                + write("seismote/network/notify/#")
        }
    }

    private static let all = [
        "topic read seismote/+/state/#", "topic read seismote/+/event/#", "topic read seismote/+/data/#",
        "topic read seismote/+/res/#", "topic read seismote/network/#",
    ]
}
