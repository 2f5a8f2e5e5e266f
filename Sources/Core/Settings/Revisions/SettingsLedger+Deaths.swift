extension SettingsLedger {
    /// To be told at each start, before anything else is done.
    ///
    /// When the agent has died three times within ten minutes of a change, the change is left for the last good revision.
    /// Should that one be as young, it is on trial in turn.
    ///
    /// - Parameters:
    ///   - now: nanoseconds of UTC since 1970.
    ///   - monotonic: nanoseconds of the clock that never jumps.
    public mutating func started(now: Int64, monotonic: Int64 = 0) -> Note? {
        var note: Note?
        trialBegan = monotonic
        if var young = trial {
            // Boards without a clock of their own start in the past.
            if isRunning, now - young.since < Self.trialTime { young.deaths += 1 }
            if young.awaitsStart {
                young.awaitsStart = false
                young.since = now
            }
            trial = now - young.since < Self.trialTime ? young : nil
            if young.deaths >= Self.deaths {
                let left = revision
                let (_, target) = goBack("the agent died \(young.deaths) times", now)
                trial = target.map(isProven) ?? true ? nil : Trial(since: now)
                note = Note(
                    .died, left,
                    "The agent died \(young.deaths) times within ten minutes of revision \(left): it went back.")
            }
        }
        initial = settings
        isRunning = trial != nil
        return note
    }

    /// To be told at each orderly end.
    public mutating func ended() { isRunning = false }

    /// Ends the trial of a change with which this process has lived for ten minutes. (The next start cannot tell: the clock
    /// of a board without a battery for it begins in the past each time.)
    /// - Parameter monotonic: nanoseconds of the clock that never jumps.
    /// - Returns: whether there is something to write down.
    public mutating func lived(monotonic: Int64) -> Bool {
        guard let trial, !trial.awaitsStart, monotonic - trialBegan >= Self.trialTime else { return false }
        endTrial()
        return true
    }

    /// It has proven good: deaths from now on have other causes.
    mutating func endTrial() {
        trial = nil
        isRunning = false
    }

    /// Whether a revision was in force for long enough to be trusted.
    private func isProven(_ revision: Revision) -> Bool {
        guard let i = revisions.firstIndex(where: { $0.number == revision.number }), i + 1 < revisions.count else {
            return true
        }
        return revision.number == 0 || revisions[i + 1].time - revision.time >= Self.trialTime
    }
}
