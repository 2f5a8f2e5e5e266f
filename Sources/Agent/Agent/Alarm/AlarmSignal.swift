/// Whether the alarm's line is to be on: an alarm lasts for a while unless somebody silences it; a warning of what is to come
/// goes on and off until it has passed; a test plays a pattern where there is neither. Pure; times are nanoseconds of the monotonic clock.
struct AlarmSignal {
    struct Test {
        /// On or off, a step after the other.
        var steps: [Bool]
        var step: Int64
        var began: Int64
    }

    /// How long the line is on, and then off, in a warning.
    static let beat: Int64 = 500_000_000

    /// A warning: the number says whether it is the one that has been silenced.
    struct Warning: Equatable {
        var number: Int
        var began: Int64
        var end: Int64
    }

    /// Duration of an alarm.
    let duration: Int64
    /// When the present one ends; nil: there is none.
    private(set) var alarmEnd: Int64?
    private(set) var warning: Warning?
    private(set) var test: Test?
    /// Warnings up to this number have been silenced.
    private var silenced = Int.min
    private var lastWarning = Int.min

    init(duration: Int64) { self.duration = duration }

    /// There is an alarm, a warning or a test.
    var isBusy: Bool { alarmEnd != nil || warning != nil || test != nil }
    /// The line plays a warning.
    var isWarning: Bool { alarmEnd == nil && warning != nil }

    /// An alarm, of an event that had none; it takes the place of a test.
    mutating func raise(now: Int64) { (alarmEnd, test) = (now + duration, nil) }

    /// A warning until a time, or another end of the present one; it takes the place of a test.
    /// - Parameter number: of the warning; one that was silenced stays so.
    mutating func warn(_ number: Int, until end: Int64, now: Int64) {
        lastWarning = max(lastWarning, number)
        guard number > silenced, end > now else { return endWarning() }
        warning = Warning(number: number, began: warning?.began ?? now, end: end)
        test = nil
    }

    /// There is nothing to warn of any more.
    mutating func endWarning() { warning = nil }

    /// Ends alarm, warning and test; the next alarm will be heard, and the next warning.
    /// - Returns: whether there was one.
    mutating func silence() -> Bool {
        silenced = lastWarning
        defer { (alarmEnd, warning, test) = (nil, nil, nil) }
        return isBusy
    }

    /// - Returns: false while there is an alarm or a test.
    mutating func begin(_ steps: [Bool], step: Int64, now: Int64) -> Bool {
        guard !isBusy else { return false }
        test = Test(steps: steps, step: step, began: now)
        return true
    }

    /// Advances to `now`: the line's state, when it may change next, and whether the signal has ended.
    /// - Returns: `ended` when the test was played to its end.
    mutating func advance(now: Int64) -> (isOn: Bool, due: Int64?, ended: Bool) {
        if let end = alarmEnd {
            guard now >= end else { return (true, end, false) }
            alarmEnd = nil
        }
        if let now = playWarning(now: now) { return (now.isOn, now.due, false) }
        guard let running = test else { return (false, nil, false) }
        let place = Int(max(0, now - running.began) / running.step)
        guard place < running.steps.count else {
            test = nil
            return (false, nil, true)
        }
        return (running.steps[place], running.began + Int64(place + 1) * running.step, false)
    }

    private mutating func playWarning(now: Int64) -> (isOn: Bool, due: Int64)? {
        guard let one = warning else { return nil }
        guard now < one.end else {
            warning = nil
            return nil
        }
        let beats = max(0, now - one.began) / Self.beat
        return (beats % 2 == 0, min(one.end, one.began + (beats + 1) * Self.beat))
    }
}

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
