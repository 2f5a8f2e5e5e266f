/// When a GPIO line that is not ours is asked for again: at once when an alarm begins or the line is lost, then after a pause
/// that doubles. Pure; times are nanoseconds of the monotonic clock.
struct LineClaim {
    static let shortestPause: Int64 = 100_000_000
    /// While an alarm or a test is under way.
    static let urgentPause: Int64 = 1_000_000_000
    /// While the line is to be off anyway.
    static let idlePause: Int64 = 5_000_000_000

    private(set) var isHeld = false
    /// When it was had; when it is asked for next.
    private var since: Int64 = 0
    private(set) var next: Int64 = .min
    private var pause = shortestPause

    func isDue(_ now: Int64) -> Bool { !isHeld && now >= next }

    /// It was asked for.
    mutating func answer(_ isOurs: Bool, now: Int64, isUrgent: Bool) {
        isHeld = isOurs
        if isOurs { since = now } else { postpone(now, isUrgent: isUrgent) }
    }

    /// It was ours and is gone. One that does not last is asked for no more often than one that cannot be had.
    mutating func lose(now: Int64, isUrgent: Bool) {
        isHeld = false
        guard now - since < Self.urgentPause else { return hasten(now: now) }
        postpone(now, isUrgent: isUrgent)
    }

    /// It is needed now.
    mutating func hasten(now: Int64) { (next, pause) = (now, Self.shortestPause) }

    private mutating func postpone(_ now: Int64, isUrgent: Bool) {
        pause = min(pause, isUrgent ? Self.urgentPause : Self.idlePause)
        next = now + pause
        pause *= 2
    }
}
