/// Whether a new version does what the old one did, from one look to the next. Pure: it is told the time (s, monotonic).
struct TrialWatch {
    private let before: StationBefore
    private let limits: UpdateLimits
    private let deadline: Double
    private let restarts: Int
    private var samples: Progress
    private var acked: Progress
    /// Since when all is well.
    private var well: Double?

    /// A counter, and when it last changed.
    private struct Progress {
        var count: Int64 = 0
        var at: Double
    }

    enum Verdict: Equatable {
        case wait
        /// All is well for long enough.
        case good
        /// It goes back at once, or its time is over.
        case back(String)
    }

    /// - Parameter restarts: how often the agent had been started again.
    init(_ before: StationBefore, _ limits: UpdateLimits, restarts: Int, at seconds: Double) {
        (self.before, self.limits, self.restarts) = (before, limits, restarts)
        deadline = seconds + limits.patience
        (samples, acked) = (Progress(at: seconds), Progress(at: seconds))
    }

    /// - Parameter lastWords: what the agent wrote last, for a reason.
    mutating func look(
        _ look: AgentLook, at seconds: Double, isConfirmed: Bool, lastWords: () -> String
    ) -> Verdict {
        if let reason = atOnce(look, lastWords) { return .back(reason) }
        let reason = slowly(look, seconds, lastWords)
        if reason == nil { well = well ?? seconds } else { well = nil }
        let isGood = well.map { seconds - $0 >= limits.settle } ?? false
        if isGood, isConfirmed { return .good }
        if seconds >= deadline {
            let unconfirmed = well == nil ? nil : "nobody confirmed it within \(Int(limits.patience)) s"
            let restless = "it was not well for \(Int(limits.settle)) s on end"
            return .back(reason ?? (isConfirmed ? restless : unconfirmed) ?? restless)
        }
        return isGood ? .good : .wait
    }

    private func atOnce(_ look: AgentLook, _ lastWords: () -> String) -> String? {
        if look.restarts - restarts >= 3 { return "the agent ends by itself: \(lastWords())" }
        if look.isFailed { return "the agent does not start: \(lastWords())" }
        let limit = max(before.kilobytes * 4, limits.memory * 1024)
        if look.kilobytes > limit {
            return "it uses \(look.kilobytes / 1024) MB of memory, more than \(limit / 1024) MB"
        }
        // (Nothing of the stored data is to be lost: it goes back before more is.)
        let storage = look.state?.errors.filter { $0.hasPrefix("storage_") && !before.errors.contains($0) }
        return storage?.min().map { "it raises the alert \($0)" }
    }

    private mutating func slowly(_ look: AgentLook, _ seconds: Double, _ lastWords: () -> String) -> String? {
        let (newSamples, newAcked) = (look.state?.samples ?? 0, look.state?.acked ?? 0)
        if newSamples != samples.count { samples = Progress(count: newSamples, at: seconds) }
        if newAcked != acked.count { acked = Progress(count: newAcked, at: seconds) }
        guard let state = look.state else { return "the agent says nothing of itself: \(lastWords())" }
        if before.flows, newSamples == 0 || seconds - samples.at > 10 { return "no samples come" }
        if !state.isConnected { return "it has no connection to the broker" }
        if newAcked == 0 || seconds - acked.at > 90 { return "the broker acknowledges nothing that it sends" }
        return state.errors.subtracting(before.errors).min().map { "it raises the alert \($0)" }
    }
}
