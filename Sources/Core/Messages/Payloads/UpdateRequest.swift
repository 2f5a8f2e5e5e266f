import Values

/// A version of the agent that somebody wants.
public struct UpdateRequest: Sendable, Equatable {
    public var version: String
    /// Id of the command.
    public var id: String?
    public var isAutomatic: Bool
    public var allowsDowngrade: Bool

    public init(version: String, id: String? = nil, isAutomatic: Bool = false, allowsDowngrade: Bool = false) {
        (self.version, self.id) = (version, id)
        (self.isAutomatic, self.allowsDowngrade) = (isAutomatic, allowsDowngrade)
    }

    public static let versionForm =
        "1 to 64 characters: a digit, then letters, digits and . + ~ -, perhaps with an epoch such as 1: in front; no address and no file"

    /// A version of Debian's form, as the updater takes it: with nothing in it that apt or a shell reads as more.
    public static func isVersion(_ text: String) -> Bool {
        var bytes = Substring(text).utf8
        guard (1...64).contains(bytes.count) else { return false }
        let digits = bytes.prefix { $0.isDigit }
        if (1...5).contains(digits.count), bytes.dropFirst(digits.count).first == UInt8(ascii: ":") {
            bytes = bytes.dropFirst(digits.count + 1)
        }
        guard let first = bytes.first, first.isDigit else { return false }
        return bytes.allSatisfy { $0.isAlphanumeric || ".+~-".utf8.contains($0) }
    }

    /// As the updater reads it: one line.
    public var line: String {
        "\(version) \(id ?? "-") \(isAutomatic ? "auto" : "confirm") \(allowsDowngrade ? "downgrade" : "upwards")\n"
    }

    /// Reads such a line, of which nothing is believed.
    /// - Returns: the id of the command, if it is one; the request, or nil when the line is none.
    package static func read(_ line: String) -> (id: String?, request: UpdateRequest?) {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
        let id = words.count > 1 && words[1] != "-" && Topics.problem(inRequestID: words[1]) == nil ? words[1] : nil
        guard words.count == 4, isVersion(words[0]), ["auto", "confirm"].contains(words[2]),
            ["upwards", "downgrade"].contains(words[3])
        else { return (id, nil) }
        let request = UpdateRequest(
            version: words[0], id: id, isAutomatic: words[2] == "auto", allowsDowngrade: words[3] == "downgrade")
        return (id, request)
    }
}
