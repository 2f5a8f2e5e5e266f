/// The settings file: there, and valid.
enum SettingsCheck {
    static func judge(_ facts: Facts) -> [Verdict] { file(facts.settings) + left(facts.settings) }

    /// A file on the boot partition, perhaps with a password in it, that waits to be taken over.
    private static func left(_ settings: SettingsFacts) -> [Verdict] {
        guard let path = settings.bootFile else { return [] }
        let again = "then sudo systemctl start seismote-boot && sudo systemctl restart seismote"
        let diagnosis =
            settings.bootProblem.map {
                Diagnosis(
                    "boot_file", "\(path) was not taken over: \($0)",
                    remedy: "Correct it there (seismote-errors.txt beside it has all that is wrong), \(again)")
            }
            ?? Diagnosis(
                "boot_file", .warning, "\(path) is not taken over, and a password in it can be read with the card.",
                remedy: "sudo systemctl enable seismote-boot, \(again)")
        return [.wrong(diagnosis)]
    }

    private static func file(_ settings: SettingsFacts) -> [Verdict] {
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
            return [
                .fine("\(settings.path) is valid, \(settings.given) setting\(settings.given == 1 ? "" : "s") given")
            ]
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
