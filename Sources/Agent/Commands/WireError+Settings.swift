import Messages
import Settings

extension SettingError {
    /// As a reply says it. What was given for a secret is not told to everybody who can read the reply.
    var wire: WireError {
        let isSecret = SettingsTable.setting(path.split(separator: "/").joined(separator: "."))?.isSecret ?? false
        return WireError(
            path, WireError.Code(rawValue: code.rawValue) ?? .internal, message, got: isSecret ? nil : got?.shown,
            allowed: allowed, nearest: nearest)
    }
}

extension SettingErrors {
    var wire: [WireError] { errors.map(\.wire) }
}
