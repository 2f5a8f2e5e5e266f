import Messages

extension AlertChapter {
    static let settings = AlertChapter(title: "Settings", alerts: [ConfigRefused.self, ConfigReverted.self])
}

struct ConfigRefused: Alert {
    static let declaration = AlertDeclaration(
        "config_refused", .error, "Settings cannot be used",
        "The settings do not suit this sensor, for example a filter whose corner is above half its sample "
            + "rate. The message names the setting. The agent processes no samples until you change it.",
        remedy:
            "Change the setting that the message names, by `seismote ctl set` or in the settings file; `seismote ctl get "
            + "STATION` shows what is in force")

    func look(_ facts: AlertFacts) -> AlertFault? {
        facts.refusedSettings.map { AlertFault($0.message, .object([.init("path", .string($0.path))])) }
    }
}

struct ConfigReverted: Alert {
    static let declaration = AlertDeclaration(
        "config_reverted", .warning, "Change of settings taken back",
        "The agent took a change back: nobody confirmed it in time, or the agent died soon after it. The alert "
            + "stays until the next change.",
        remedy:
            "Find out why, with the message and the log, and make the change again with `--auto-revert`; `seismote ctl get "
            + "STATION` shows what is in force")

    func look(_ facts: AlertFacts) -> AlertFault? { facts.reverted }
}
