import Values

/// The clock is set by something that knows the time.
enum ClockCheck {
    /// 2025-01-01: a board without a battery begins at its last shutdown or in 1970.
    private static let earliest: Int64 = 1_735_689_600 * 1_000_000_000
    /// Above this a wave's arrival is off by more than a sample.
    private static let largestErrorMs = 100.0

    static func judge(_ facts: Facts) -> [Verdict] {
        facts.clock.judge { clock in
            let time = dateAndTime(Timestamp(nanoseconds: clock.now).description)
            if clock.now < earliest {
                return [
                    .wrong(
                        Diagnosis(
                            "clock_not_set",
                            "The clock says \(time): it has never been set, so TLS fails and events have wrong times.",
                            remedy: remedy(clock)))
                ]
            }
            if !clock.isSynchronised {
                return [
                    .wrong(
                        Diagnosis(
                            "clock_not_set",
                            "The clock (\(time)) is not synchronised to any source: times of events may be wrong by any amount.",
                            remedy: remedy(clock)))
                ]
            }
            if clock.errorMs > largestErrorMs {
                return [
                    .wrong(
                        Diagnosis(
                            "clock_inaccurate", .warning,
                            "The clock may be wrong by \(significant(clock.errorMs, 3)) ms; for arrival times it should be at most \(Int(largestErrorMs)) ms.",
                            remedy:
                                "chronyc sources (or timedatectl timesync-status) shows the source; a nearer time server or GPS helps"
                        ))
                ]
            }
            return [.fine("the clock is synchronised, wrong by at most \(significant(clock.errorMs, 2)) ms")]
        }
    }

    private static func remedy(_ clock: ClockFacts) -> String {
        clock.daemons.isEmpty
            ? "sudo apt install chrony (or systemd-timesyncd: sudo timedatectl set-ntp true)"
            : "\(clock.daemons.joined(separator: ", ")) runs but has no answer: is the network there, does it let UDP port 123 through? chronyc sources or timedatectl timesync-status shows it"
    }
}
