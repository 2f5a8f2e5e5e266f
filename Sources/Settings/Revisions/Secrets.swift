import Messages

/// Values that are never shown.
public enum Secrets {
    /// What stands in a secret's place; given back in a change it means that the secret stays as it is.
    public static let mask = "***"

    /// A tree of settings, or what somebody sent as one, without its secrets.
    public static func hidden(in tree: Value) -> Value { hidden(tree, "") }

    private static func hidden(_ value: Value, _ key: String) -> Value {
        if case .object(let members) = value {
            return .object(members.map { .init($0.key, hidden($0.value, SettingsTree.joined(key, $0.key))) })
        }
        guard value != .null, value != "" else { return value }
        // A key that does not exist may be one that was meant to be a secret's.
        let isSecret = SettingsTable.setting(key)?.isSecret ?? key.hasText("pass")
        return isSecret ? .string(mask) : value
    }
}
