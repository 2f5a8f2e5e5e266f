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
