import Messages

/// What becomes of the messages that were on their way when a connection broke.
extension LinkCore {
    /// What the end of a connection may have to do with.
    struct LastSent {
        var topic: String
        var isRetained: Bool
        var at: UInt64
    }

    func noteBreak(byPeer: Bool, _ now: UInt64) {
        statistics.lostInFlight += UInt64(unwritten)
        unwritten = 0
        store.withLock { $0.queue.hasNews = true }
        if trial != nil {
            trialBroke(byPeer: byPeer, now)
        } else if byPeer, let refusal = lastRefusal, now - refusal.at < 4 * Suspicion.quiet {
            // It has said no and hangs up.
            refusals.hungUp(name(of: refusal.topic, isRetained: refusal.isRetained), topic: refusal.topic, now: now)
            machine.forgive()
        } else {
            let last = [version == .v311 ? lastAcknowledged : nil, lastUnacknowledged].compactMap { $0 }.filter {
                now - $0.at < Suspicion.quiet
            }
            let age = now - min(now, upSince)
            let isBusy = !inFlight.isEmpty || !last.isEmpty
            if suspicion.broke(byPeer: byPeer, isBusy: isBusy, age: age) {
                for one in last {
                    refusals.suspect(
                        name(of: one.topic, isRetained: one.isRetained), topic: one.topic, isRetained: one.isRetained,
                        now: now)
                }
                for message in inFlight {
                    refusals.suspect(
                        name(of: message), topic: message.topic, isRetained: message.isRetained, now: now)
                }
            }
        }
        (lastRefusal, lastAcknowledged, lastUnacknowledged) = (nil, nil, nil)
        recallInFlight()
    }

    /// All has been acknowledged a while ago: messages need not go one at a time any more. Looked at in every step, of
    /// which there is one a second at least.
    func reconsider(_ now: UInt64) {
        guard machine.isUp, stopping == .no, trial == nil, inFlight.isEmpty, unwritten == 0,
            now - min(now, max(upSince, lastAcknowledged?.at ?? 0)) >= Suspicion.quiet, store.withLock({ $0.isEmpty })
        else { return }
        suspicion.rested()
    }
}
