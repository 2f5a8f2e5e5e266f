import Messages
import Values

/// Which settings differ between two snapshots, by when a change takes effect.
struct SettingsDifference {
    /// Keys such as `axes.x.filter`, in the table's order.
    private(set) var changed: [String] = []
    private(set) var live: [String] = []
    private(set) var restartStream: [String] = []
    private(set) var restart: [String] = []
    /// Owners who are asked whether it can be made.
    private(set) var owners: [SettingOwner] = []

    init(_ old: Configuration, _ new: Configuration) {
        var rows: [StationSetting] = []
        for setting in SettingsTable.settings {
            for (key, axis) in setting.concreteKeys where setting.write(old, axis) != setting.write(new, axis) {
                changed.append(key)
                rows.append(setting)
                switch setting.apply {
                case .live: live.append(key)
                case .restartStream: restartStream.append(key)
                case .restart: restart.append(key)
                }
            }
        }
        owners = SettingOwner.asked(for: rows)
    }
}

/// Values that are never shown.
enum Secrets {
    /// Placeholder of a secret; given back in a change it means that the secret stays as it is.
    static let mask = "***"

    /// A tree of settings, or what somebody sent as one, without its secrets: what stands under a key that does not exist,
    /// or in the place of a group, may be one that was meant for another place.
    static func hidden(in tree: Value) -> Value { hidden(tree, "") }

    private static func hidden(_ value: Value, _ key: String) -> Value {
        guard value != .null, value != "" else { return value }
        if let setting = SettingsTable.setting(key) { return setting.shown(value) ?? .string(mask) }
        guard case .object(let members) = value, key.isEmpty || SettingsTree.children[key] != nil else {
            return .string(mask)
        }
        return .object(members.map { .init($0.key, hidden($0.value, SettingsTree.joined(key, $0.key))) })
    }

    /// Value given for a setting, as it may be shown; nil when it is a secret, or may be one: the password in the place
    /// of its file's name, or within the broker's address.
    static func shown(_ value: Value, for key: String, isSecret: Bool) -> Value? {
        if isSecret { return nil }
        let (isFile, isAddress) = (key.hasSuffix("_file"), key == "mqtt.uri")
        guard isFile || isAddress || key.hasPrefix("mqtt.") else { return value }
        switch value {
        case .null, .bool: return value
        case .string(let text):
            let isPlain = isFile ? text.hasPrefix("/") : !isAddress || isBareAddress(text)
            return isPlain ? value : nil
        case .array(let list) where isAddress:
            return .array(list.map { shown($0, for: key, isSecret: false) ?? .string(mask) })
        case .array, .object: return nil
        case .int, .double: return isFile ? nil : value
        }
    }

    /// Scheme, host and port, as far as these can be told from anything else.
    private static func isBareAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count > 1, parts[1].hasPrefix("//"), parts[0].allSatisfy(\.isLetter) else { return false }
        let host = parts.dropFirst().joined(separator: ":").dropFirst(2)
        guard !host.contains(where: { "@?#% ".contains($0) }) else { return false }
        // (An IPv6 address is full of colons.)
        return host.first == "[" || parts.count < 3 || parts.count == 3 && Int(parts[2].prefix { $0 != "/" }) != nil
    }
}

extension Setting {
    /// See ``Secrets/shown(_:for:isSecret:)``.
    func shown(_ value: Value) -> Value? { Secrets.shown(value, for: key, isSecret: isSecret) }
}
