import Messages

/// What becomes of the messages that were on their way when a connection ended.
extension LinkCore {
    func ended(_ session: Session, _ loss: Loss, _ now: UInt64) {
        if loss.isHalfOpen { statistics.halfOpen += 1 }
        statistics.lostInFlight += UInt64(session.unwritten)
        known.checkFilters = session.selfCheck?.filters ?? []
        stopReadBack()
        let lastSent = max(session.lastAcknowledged?.at ?? 0, session.lastUnacknowledged?.at ?? 0)
        let wasWell =
            session.isQuiet && session.trial == nil && session.lastRefusal == nil && session.lastAcknowledged != nil
        known.duplicates.lost(
            byPeer: loss.byPeer, code: loss.code, wasWell: wasWell, idle: now - min(now, lastSent), now: now)
        // Who takes our place is no fault of a message.
        let isExpected = judge(session, byPeer: loss.byPeer && loss.code != DuplicateWatch.takenOver, now)
        let pause = known.duplicates.nextPause(longest: 5 * options.longestPause, using: &random)
        store.withLock { store in
            for message in session.inFlight.reversed() { store.putBack(message.ticket) }
            store.queue.hasNews = true
        }
        if isExpected || pause != nil { handle(.judged(isExpected: isExpected, pause: pause), now: now) }
        if let reason = loss.reason { reportDown(session.address, reason, now) }
    }

    /// Looks for the message that a connection ended over.
    /// - Returns: true when the end was expected.
    private func judge(_ session: Session, byPeer: Bool, _ now: UInt64) -> Bool {
        if let trial = session.trial { return trialBroke(trial, session, byPeer: byPeer, now) }
        if byPeer, let refusal = session.lastRefusal, now - refusal.at < 4 * Suspicion.quiet {
            // It has said no and hangs up.
            known.refusals.hungUp(
                name(of: refusal.topic, isRetained: refusal.isRetained), topic: refusal.topic, now: now)
            return true
        }
        let last = [session.version == .v311 ? session.lastAcknowledged : nil, session.lastUnacknowledged]
            .compactMap { $0 }.filter { now - $0.at < Suspicion.quiet }
        let isBusy = !session.inFlight.isEmpty || !last.isEmpty
        guard known.suspicion.broke(byPeer: byPeer, isBusy: isBusy, age: now - min(now, session.since)) else {
            return false
        }
        for (topic, isRetained) in last.map({ ($0.topic, $0.isRetained) })
            + session.inFlight.map({ ($0.topic, $0.isRetained) })
        {
            known.refusals.suspect(
                name(of: topic, isRetained: isRetained), topic: topic,
                isPatient: !isRetained || topic == options.presence.topic, now: now)
        }
        return false
    }

    /// All has been acknowledged a while ago: messages need not go one at a time any more. Looked at in every step, of
    /// which there is one a second at least.
    func reconsider(_ now: UInt64) {
        guard session.trial == nil, session.isQuiet,
            now - min(now, max(session.since, session.lastAcknowledged?.at ?? 0)) >= Suspicion.quiet,
            store.withLock({ $0.isEmpty })
        else { return }
        known.suspicion.rested()
    }
}
