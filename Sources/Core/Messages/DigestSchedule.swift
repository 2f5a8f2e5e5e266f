import Seismology

/// Which summaries are digests, too: one every ten seconds, and the one in which the state of the station is another.
struct DigestSchedule: Sendable {
    private static let interval: Int64 = 10_000_000_000

    private struct State: Equatable {
        var (triggered, valid, alarm) = (false, false, false)
        var likely: EventClass.Likely?
        var isCertain = false
    }

    private var last: (state: State, time: Int64)?

    mutating func isDue(_ summary: SummaryMessage, at time: Int64) -> Bool {
        let state = State(
            triggered: summary.triggered, valid: summary.valid, alarm: summary.alarm,
            likely: summary.eventClass?.likely, isCertain: summary.eventClass?.isCertain == true)
        // (A window is at least a second, so that half of one is no other second.)
        if let last, last.state == state, last.time <= time, time - last.time < Self.interval - 500_000_000 {
            return false
        }
        last = (state, time)
        return true
    }
}
