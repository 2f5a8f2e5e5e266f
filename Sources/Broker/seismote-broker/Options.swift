import Administration

/// The command line.
struct Options {
    var role = Role.station
    var viewer = ""
    var hosts: [String] = []
    var passwordFile: String?
    var count = 1
    var hours = 24
    var output = ""
    var isUserData = false
    var isInstall = false
    var hasCode = true
    var isJSON = false
    var isIfNeeded = false
    var isHelp = false
    /// The command and what it is about.
    var rest: [String] = []

    init(_ words: [String]) throws(Failure) {
        var words = words[...]
        func value(_ option: String) throws(Failure) -> String {
            guard let value = words.popFirst() else { throw .misuse("the last option needs a value") }
            return value
        }
        while let word = words.popFirst() {
            switch word {
            case "-h", "--help": isHelp = true
            case "--role":
                let name = try value(word)
                guard let role = Role(rawValue: name) else {
                    throw .misuse(
                        "--role: station, viewer, commander, home-assistant, network, feed or notify, not '\(AccountName.printable(name))'"
                    )
                }
                self.role = role
            case "--viewer":
                viewer = try value(word)
                if let problem = AccountName.problem(viewer) { throw .misuse(problem) }
            case "--host":
                let name = try value(word)
                guard ServerNames.isAllowed(name) else {
                    throw .misuse("--host: a name or an address, not '\(AccountName.printable(name))'")
                }
                hosts.append(name)
            case "--password-file": passwordFile = try value(word)
            case "--count": count = try Self.number(word, try value(word), 1...9999)
            case "--hours": hours = try Self.number(word, try value(word), 1...Invitation.longest)
            case "--file": output = try value(word)
            case "--user-data": isUserData = true
            case "--install": isInstall = true
            case "--no-qr": hasCode = false
            case "--json": isJSON = true
            case "--if-needed": isIfNeeded = true
            default:
                if word.hasPrefix("-") { throw .misuse("unknown option: \(AccountName.printable(word))") }
                rest.append(word)
            }
        }
    }

    private static func number(_ option: String, _ text: String, _ range: ClosedRange<Int>) throws(Failure) -> Int {
        // (As it is written: no sign, no zero in front.)
        guard let number = Int(text), range.contains(number), "\(number)" == text else {
            throw .misuse(
                "\(option): \(range.lowerBound) to \(range.upperBound), not '\(AccountName.printable(text))'")
        }
        return number
    }
}
