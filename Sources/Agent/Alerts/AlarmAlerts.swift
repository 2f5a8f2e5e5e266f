import Messages

extension AlertChapter {
    static let alarm = AlertChapter(title: "Alarm", alerts: [AlarmLine.self])
}

struct AlarmLine: Alert {
    static let declaration = AlertDeclaration(
        "alarm_line", .error, "Alarm line unavailable",
        "The GPIO line of the alarm, or of its button, cannot be had or set: no alarm would be heard. It is tried again "
            + "every 5 s; while an alarm or a test is under way, after 0.1 s, then 0.2, 0.4, 0.8 s and every second, and an "
            + "alarm then sounds for what is left of it. A line that is lost is noticed within 0.25 s during an alarm, else "
            + "within 5 s.",
        remedy:
            "The message names the line and the reason: in use by another process (`gpioinfo` of Debian's package gpiod says "
            + "by which), no such line (see `ls /dev/gpiochip*`), or no right (the user `seismote` must be in the group "
            + "`gpio`)")

    func look(_ facts: AlertFacts) -> AlertFault? {
        facts.alarmProblem.map { AlertFault("no alarm would be heard: \($0)") }
    }
}
