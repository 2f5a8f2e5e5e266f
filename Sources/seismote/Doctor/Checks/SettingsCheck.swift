/// The settings file: there, and valid.
enum SettingsCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        let settings = facts.settings
        guard settings.exists else {
            return [
                .wrong(
                    Diagnosis(
                        "settings_missing", .warning,
                        "There is no settings file \(settings.path): the agent would use its defaults and the broker on this machine.",
                        remedy: "sudo seismote setup"))
            ]
        }
        guard !settings.errors.isEmpty else {
            return [.fine("\(settings.path) is valid, \(settings.given) settings given")]
        }
        let more = settings.errors.count > 1 ? " (and \(settings.errors.count - 1) more)" : ""
        return [
            .wrong(
                Diagnosis(
                    "settings_broken", "The settings file is not valid: \(settings.errors[0])\(more)",
                    remedy:
                        "Correct that line in \(settings.path), see it with `seismote config check \(settings.path)`, then sudo systemctl restart seismote"
                ))
        ]
    }
}
