import Messages

extension AlertChapter {
    static let alarm = AlertChapter(title: "Alarm", alerts: [AlarmLine.self])
}

struct AlarmLine: Alert {
    static let declaration = AlertDeclaration(
        "alarm_line", .error, "Alarm line unavailable",
        "The agent cannot open or set the GPIO line of the alarm, or of its button: an alarm would make no "
            + "sound. It tries again every 5 s. While an alarm or a test is under way it tries after 0.1 s, then "
            + "0.2, 0.4, 0.8 s and every second; the alarm then sounds for the rest of its time. The agent notices a "
            + "lost line within 0.25 s during an alarm, else within 5 s.",
        remedy:
            "The message names the line and the reason: in use by another process (`gpioinfo` of Debian's package gpiod says "
            + "by which), no such line (see `ls /dev/gpiochip*`), or no right (the user `seismote` must be in the group "
            + "`gpio`)")

    func look(_ facts: AlertFacts) -> AlertFault? {
        facts.alarmProblem.map { AlertFault("no alarm would be heard: \($0)") }
    }
}
