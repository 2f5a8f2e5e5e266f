import Messages

extension AlertChapter {
    static let clock = AlertChapter(title: "Clock", alerts: [ClockUnknown.self, ClockUnsynchronised.self])
}

struct ClockUnknown: Alert {
    static let declaration = AlertDeclaration(
        "clock_unknown", .warning, "Clock unknown",
        "The agent cannot find out how good the clock is, so times count as not synchronised.",
        remedy: "`sudo systemctl start seismote-clock`", see: "[security](../understand/security.md#the-machine)")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard facts.clock == nil else { return nil }
        return AlertFault(
            "how good the clock is cannot be known, and times are marked as not synchronised: the kernel may not be asked "
                + "(ProtectClock) and /run/seismote-clock/state has no state; start seismote-clock.service")
    }
}

struct ClockUnsynchronised: Alert {
    static let declaration = AlertDeclaration(
        "clock_unsynchronised", .warning, "Clock not synchronised",
        "The host's clock has followed no source for ten minutes: times of samples and events may be wrong by "
            + "any amount, and `tq` says so. The alert ends as soon as the clock follows a source.",
        remedy:
            "Install and start a time daemon (chrony), or let it reach its servers: `chronyc sources` or `timedatectl "
            + "timesync-status` shows them, and the firewall must let UDP port 123 through; without a network a GPS receiver "
            + "helps",
        see: "[time](../understand/time.md)")

    /// A daemon that was just started needs some minutes.
    private static let patience: Int64 = 600_000_000_000
    private var since: Int64?

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        // A recording has times of its own; what nobody says is another alert.
        guard facts.clock?.synced == false, facts.sensor.description?.clock != .recording else {
            since = nil
            return nil
        }
        let begin = since ?? facts.now
        since = begin
        guard facts.now - begin >= Self.patience else { return nil }
        return AlertFault(
            "the clock is not synchronised to any source: times of samples and events may be wrong by any amount")
    }
}
