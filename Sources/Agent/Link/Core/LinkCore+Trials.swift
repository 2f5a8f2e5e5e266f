import Messages

/// Topics that a broker refuses or hangs up on: what is held back, and how one message is tried alone.
extension LinkCore {
    /// Connections are given a moment before what broke others is tried again (ns).
    static let settling: UInt64 = 1_000_000_000
    /// Messages that wait in memory though a connection broke over their topic again and again, unless they are essential.
    static let asideLimit = 256

    func name(of message: Session.InFlight) -> String { name(of: message.topic, isRetained: message.isRetained) }

    func name(of topic: String, isRetained: Bool) -> String {
        TopicClass.name(of: topic, base: options.base, isRetained: isRetained)
    }

    /// What there is against a message that is about to leave.
    func objection(to header: PublicationHeader) -> Refusals.Entry? {
        known.refusals.entries.isEmpty
            ? nil : known.refusals.entry(name(of: header.topic, isRetained: header.retain))
    }

    /// Nothing else is on its way, and the pause is over.
    func mayTry(_ entry: Refusals.Entry, _ now: UInt64) -> Bool {
        life.isSteady && session.isClear && now >= entry.until
            && (entry.isSuspect || now >= session.since + Self.settling)
    }

    /// A message whose topic is not tried now: it waits where it can.
    func hold(_ header: PublicationHeader, _ ticket: OutgoingStore.Ticket, _ entry: Refusals.Entry, _ now: UInt64) {
        // It may have been the line: some are kept even of what is not essential.
        let isWanted =
            header.priority == .essential || entry.isSuspect || now >= entry.until
            || entry.reason == nil && store.withLock { $0.queue.asideCount } < Self.asideLimit
        let isOurs = header.isOurs(base: options.base)
        let isHeld = store.withLock { $0.hold(ticket, isOurs: isOurs, isWanted: isWanted) }
        if !isHeld { statistics.countRefusal(entry.reason ?? 128, topic: header.topic) }
    }

    /// Something that was refused may be tried now, and nothing else waits. True when there is more to send.
    func beginTrial(_ now: UInt64) -> Bool {
        guard let entry = known.refusals.due(now), mayTry(entry, now) else { return false }
        if sendProbe(of: entry, now) { return false }
        let base = options.base
        let isThere = store.withLock { store in
            store.retained.reopen(onlyOne: true) { TopicClass.name(of: $0, base: base, isRetained: true) == entry.name }
                || store.queue.recallAside { TopicClass.name(of: $0, base: base, isRetained: false) == entry.name }
        }
        if isThere { return true }
        if let time = entry.lookedAt, now < time + Refusals.lookAgain {
            if entry.isSuspect, now >= time + Self.settling { known.refusals.forget(entry.name) }
            return false
        }
        known.refusals.looked(for: entry.name, now: now)
        if options.keepsEssential {
            store.withLock { $0.ask(for: entry.name) }
        } else if entry.isSuspect {
            known.refusals.forget(entry.name)
        }
        return false
    }

    /// The end of the message that is tried; false when it is another.
    func trialFinished(_ id: Int32, _ reason: Int, _ now: UInt64) -> Bool {
        guard var trial = session.trial, trial.id == id, trial.passesAt == nil else { return false }
        trial.message = session.takeInFlight(id)
        if trial.message == nil, !trial.isProbe { session.unwritten = max(0, session.unwritten - 1) }
        session.watch.acknowledged(now: now)
        known.suspicion.acknowledged()
        if let message = trial.message, reason >= 128 {
            session.trial = nil
            refused(message, reason, isTrial: true, now)
        } else if trial.isProven || trial.message != nil && session.version == .v5 {
            passed(trial, now)
        } else {
            // It may have been thrown away, and the connection may end yet.
            trial.passesAt = now + Suspicion.quiet
            session.trial = trial
        }
        return true
    }

    func watchTrial(_ now: UInt64) {
        if let trial = session.trial, let time = trial.passesAt, now >= time { passed(trial, now) }
    }

    private func passed(_ trial: Session.Trial, _ now: UInt64) {
        session.trial = nil
        if trial.isProbe { return session.selfCheck?.acknowledged(trial.topic) ?? () }
        known.refusals.forget(trial.name)
        if let message = trial.message { taken(message, now) }
        let base = options.base
        store.withLock { store in
            _ = store.retained.reopen { TopicClass.name(of: $0, base: base, isRetained: true) == trial.name }
            _ = store.queue.recallAside { _ in true }
        }
    }

    /// A connection ended over the message that was tried.
    /// - Returns: true when that was expected.
    func trialBroke(_ trial: Session.Trial, _ session: Session, byPeer: Bool, _ now: UInt64) -> Bool {
        let message = trial.message ?? session.takeInFlight(trial.id)
        guard byPeer else {
            if let message { store.withLock { $0.putBack(message.ticket) } }
            return false
        }
        guard !trial.isProbe else {
            probeBroke(trial.topic, session.selfCheck, now)
            return true
        }
        if known.refusals.broke(trial.name, topic: trial.topic, now: now) {
            statistics.abandoned += 1
            report(.abandoned(topic: trial.topic))
        }
        let isSuspect = known.refusals.entry(trial.name)?.isSuspect != false
        if let message { store.withLock { $0.drop(message.ticket, isSuspect: isSuspect) } }
        return true
    }

    /// The broker refuses a message.
    func refused(_ message: Session.InFlight, _ reason: Int, isTrial: Bool, _ now: UInt64) {
        statistics.countRefusal(reason, topic: message.topic)
        report(.refused(topic: message.topic, reason: reason))
        // With these it is the message, not the topic.
        let isOfTopic = ![144, 149, 153].contains(reason)
        let base = options.base
        let isOurs = isOfTopic && store.withLock { $0.isOurs(message.ticket, base: base) }
        if isOfTopic {
            session.lastRefusal = .init(topic: message.topic, isRetained: message.isRetained, at: now)
        }
        let name = name(of: message)
        if isOurs {
            known.refusals.refused(name, topic: message.topic, reason: reason, isTrial: isTrial, now: now)
        }
        store.withLock { $0.refuse(message.ticket, of: name, reason, isHeld: isOurs) }
    }
}
