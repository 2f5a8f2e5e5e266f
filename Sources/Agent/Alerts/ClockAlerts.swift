import Messages

extension AlertChapter {
    static let clock = AlertChapter(title: "Clock", alerts: [ClockUnknown.self])
}

struct ClockUnknown: Alert {
    static let declaration = AlertDeclaration(
        "clock_unknown", .warning, "Clock unknown",
        "The agent cannot find out how good the clock is, so times count as not synchronised.",
        remedy: "`sudo systemctl start seismote-clock`", see: "[security](security.md#the-machine)")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard facts.clock == nil else { return nil }
        return AlertFault(
            "how good the clock is cannot be known, and times are marked as not synchronised: the kernel may not be asked "
                + "(ProtectClock) and /run/seismote-clock/state has no state; start seismote-clock.service")
    }
}
