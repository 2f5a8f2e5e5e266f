/// Whether the alarm's line is to be on: an alarm lasts for a while unless somebody silences it; a test plays a pattern
/// where there is no alarm. Pure; times are nanoseconds of the monotonic clock.
struct AlarmSignal {
    struct Test {
        /// On or off, a step after the other.
        var steps: [Bool]
        var step: Int64
        var began: Int64
    }

    /// How long an alarm lasts.
    let duration: Int64
    /// When the present one ends; nil: there is none.
    private(set) var alarmEnd: Int64?
    private(set) var test: Test?

    init(duration: Int64) { self.duration = duration }

    /// There is an alarm or a test.
    var isBusy: Bool { alarmEnd != nil || test != nil }

    /// An alarm, of an event that had none; it takes the place of a test.
    mutating func raise(now: Int64) { (alarmEnd, test) = (now + duration, nil) }

    /// Ends alarm and test; the next alarm will be heard.
    /// - Returns: whether there was one.
    mutating func silence() -> Bool {
        defer { (alarmEnd, test) = (nil, nil) }
        return isBusy
    }

    /// - Returns: false while there is an alarm or a test.
    mutating func begin(_ steps: [Bool], step: Int64, now: Int64) -> Bool {
        guard !isBusy else { return false }
        test = Test(steps: steps, step: step, began: now)
        return true
    }

    /// What the line is to be now, and when that may change.
    /// - Returns: `ended` when the test was played to its end.
    mutating func advance(now: Int64) -> (isOn: Bool, due: Int64?, ended: Bool) {
        if let end = alarmEnd {
            guard now >= end else { return (true, end, false) }
            alarmEnd = nil
        }
        guard let running = test else { return (false, nil, false) }
        let place = Int(max(0, now - running.began) / running.step)
        guard place < running.steps.count else {
            test = nil
            return (false, nil, true)
        }
        return (running.steps[place], running.began + Int64(place + 1) * running.step, false)
    }
}
