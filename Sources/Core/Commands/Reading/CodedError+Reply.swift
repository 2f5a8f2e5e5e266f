import Messages
import Settings

extension CodedError {
    /// As a reply says it. What was given for a secret is not told to everybody who can read the reply.
    public var told: CodedError {
        var told = self
        let isSecret = SettingsTable.setting(path.split(separator: "/").joined(separator: "."))?.isSecret ?? false
        told.got = isSecret ? nil : got?.shown
        return told
    }
}

extension CodedErrors {
    public var told: [CodedError] { errors.map(\.told) }
}
