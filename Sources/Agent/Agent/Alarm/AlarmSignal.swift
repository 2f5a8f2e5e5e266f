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

/// The lines that a course of alarms switches and reads.
protocol AlarmLines {
    /// - Returns: whether the alarm's line is ours now, off.
    mutating func claimOutput() -> Bool
    /// - Returns: whether the button's line is ours now.
    mutating func claimButton() -> Bool
    /// - Returns: false when the line is gone.
    mutating func set(_ isOn: Bool) -> Bool
}

/// One alarm or test after the other, on a line that may be in use by another process or go away at any time: it is asked
/// for again while the alarm lasts, and sounds for what is left of it. Pure but for the lines; times are nanoseconds of the
/// monotonic clock.
struct AlarmCourse {
    /// How often a line is set again to what it is, which shows whether it is still there.
    static let look: (whileOn: Int64, whileOff: Int64) = (250_000_000, 5_000_000_000)

    /// Result of a step.
    struct Step {
        /// The line went on or off, for an alarm or a test; nil: it is as it was.
        var turned: Bool?
        /// Wanted state of the line.
        var isWanted = false
        /// When that may change; nil: not by itself.
        var due: Int64?
        /// The test was played to its end.
        var ended = false
        /// When the next step is to be done, whatever else happens.
        var next: Int64 = .max
    }

    private(set) var signal: AlarmSignal
    private(set) var output = LineClaim()
    /// Nil: there is no button.
    private(set) var button: LineClaim?
    /// The line is on.
    private(set) var isOn = false

    init(duration: Int64, hasButton: Bool) {
        signal = AlarmSignal(duration: duration)
        button = hasButton ? LineClaim() : nil
    }

    /// Whether all lines are ours.
    var isComplete: Bool { output.isHeld && button?.isHeld != false }

    mutating func raise(now: Int64) {
        signal.raise(now: now)
        output.hasten(now: now)
        button?.hasten(now: now)
    }

    /// - Parameter end: nil: there is nothing to warn of any more.
    mutating func warn(_ number: Int, until end: Int64?, now: Int64) {
        guard let end else { return signal.endWarning() }
        let was = signal.warning != nil
        signal.warn(number, until: end, now: now)
        guard signal.warning != nil, !was else { return }
        output.hasten(now: now)
        button?.hasten(now: now)
    }

    mutating func silence() -> Bool { signal.silence() }

    mutating func begin(_ steps: [Bool], step: Int64, now: Int64) -> Bool {
        signal.begin(steps, step: step, now: now)
    }

    mutating func loseButton(now: Int64) { button?.lose(now: now, isUrgent: signal.isBusy) }

    /// Claims what is due, and brings the line to what it is to be.
    mutating func step(now: Int64, _ lines: inout some AlarmLines) -> Step {
        let (isWanted, due, ended) = signal.advance(now: now)
        var step = Step(isWanted: isWanted, due: due, ended: ended)
        let isUrgent = signal.isBusy
        bring(isWanted, now: now, isUrgent: isUrgent, &lines)
        // (It had been lost before: asked for again at once.)
        if output.isDue(now) { bring(isWanted, now: now, isUrgent: isUrgent, &lines) }
        // It is for an alarm that is heard.
        if output.isHeld, button?.isDue(now) == true {
            button?.answer(lines.claimButton(), now: now, isUrgent: isUrgent)
        }
        let was = isOn
        isOn = isWanted && output.isHeld
        if isOn != was { step.turned = isOn }
        step.next = due ?? .max
        // (A test sets the line at each of its steps.)
        let look = signal.test != nil ? .max : isWanted ? Self.look.whileOn : Self.look.whileOff
        step.next = min(step.next, output.isHeld ? (look == .max ? .max : now + look) : output.next)
        if output.isHeld, let button, !button.isHeld { step.next = min(step.next, button.next) }
        return step
    }

    /// Claims the alarm's line when it is due, and sets it.
    private mutating func bring(_ isWanted: Bool, now: Int64, isUrgent: Bool, _ lines: inout some AlarmLines) {
        if output.isDue(now) { output.answer(lines.claimOutput(), now: now, isUrgent: isUrgent) }
        if output.isHeld, !lines.set(isWanted) { output.lose(now: now, isUrgent: isUrgent) }
    }
}
