import Messages

/// Topics that a broker refuses or hangs up on: what is held back, and how one message is tried alone.
extension LinkCore {
    /// Connections are given a moment before what broke others is tried again (ns).
    static let settling: UInt64 = 1_000_000_000
    /// A message for a trial is looked for on disk this often at most (ns).
    static let lookAgain: UInt64 = 10_000_000_000
    /// Messages that wait in memory though a connection broke over their topic again and again, unless they are essential.
    static let asideLimit = 256

    /// One message that goes alone, with nothing before and behind it, until it is known what comes of it.
    struct Trial {
        var name: String
        var topic: String
        var id: Int32
        /// Acknowledged; when the connection lasts until then (ns), it was taken.
        var passesAt: UInt64?
        var message: InFlight?
        /// An empty message of the self-check, and whether it has come back.
        var isProbe = false
        var isProven = false
    }

    func name(of message: InFlight) -> String { name(of: message.topic, isRetained: message.isRetained) }

    func name(of topic: String, isRetained: Bool) -> String {
        TopicClass.name(of: topic, base: options.base, isRetained: isRetained)
    }

    /// What there is against a message that is about to leave.
    func objection(to header: PublicationHeader) -> Refusals.Entry? {
        refusals.entries.isEmpty ? nil : refusals.entry(name(of: header.topic, isRetained: header.retain))
    }

    /// Nothing else is on its way, and the pause is over.
    func mayTry(_ entry: Refusals.Entry, _ now: UInt64) -> Bool {
        stopping == .no && departure == nil && trial == nil && inFlight.isEmpty && unwritten == 0 && probeID == nil
            && now >= entry.until && (entry.isSuspect || now >= upSince + Self.settling)
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
        guard let entry = refusals.due(now), mayTry(entry, now) else { return false }
        if sendProbe(of: entry, now) { return false }
        let base = options.base
        let isThere = store.withLock { store in
            store.retained.reopen(onlyOne: true) { TopicClass.name(of: $0, base: base, isRetained: true) == entry.name }
                || store.queue.recallAside { TopicClass.name(of: $0, base: base, isRetained: false) == entry.name }
        }
        if isThere { return true }
        if let time = entry.lookedAt, now < time + Self.lookAgain {
            if entry.isSuspect, now >= time + Self.settling { refusals.forget(entry.name) }
            return false
        }
        refusals.looked(for: entry.name, now: now)
        if options.keepsEssential {
            store.withLock { $0.ask(for: entry.name) }
        } else if entry.isSuspect {
            refusals.forget(entry.name)
        }
        return false
    }

    /// The end of the message that is tried; false when it is another.
    func trialFinished(_ id: Int32, _ reason: Int, _ now: UInt64) -> Bool {
        guard var trial, trial.id == id, trial.passesAt == nil else { return false }
        let message = inFlight.firstIndex { $0.id == id }.map { remove(inFlightAt: $0) }
        if message == nil, !trial.isProbe { unwritten = max(0, unwritten - 1) }
        watch.acknowledged(now: now)
        suspicion.acknowledged()
        if let message, reason >= 128 {
            self.trial = nil
            refused(message, reason, isTrial: true, now)
        } else if trial.isProven || message != nil && version == .v5 {
            trial.message = message
            self.trial = trial
            trialPassed(now)
        } else {
            // It may have been thrown away, and the connection may end yet.
            trial.message = message
            trial.passesAt = now + Suspicion.quiet
            self.trial = trial
        }
        return true
    }

    func watchTrial(_ now: UInt64) {
        if let time = trial?.passesAt, now >= time { trialPassed(now) }
    }

    func trialPassed(_ now: UInt64) {
        guard let trial else { return }
        self.trial = nil
        if trial.isProbe { return selfCheck?.acknowledged(trial.topic) ?? () }
        refusals.forget(trial.name)
        if let message = trial.message { taken(message, now) }
        let base = options.base
        store.withLock { store in
            _ = store.retained.reopen { TopicClass.name(of: $0, base: base, isRetained: true) == trial.name }
            _ = store.queue.recallAside { _ in true }
        }
    }

    func trialBroke(byPeer: Bool, _ now: UInt64) {
        guard let trial else { return }
        self.trial = nil
        let message = trial.message ?? inFlight.firstIndex { $0.id == trial.id }.map { remove(inFlightAt: $0) }
        guard byPeer else {
            if let message { store.withLock { $0.putBack(message.ticket) } }
            return
        }
        machine.forgive()
        guard !trial.isProbe else { return probeBroke(trial.topic, now) }
        let isCause = refusals.broke(trial.name, topic: trial.topic, now: now)
        if isCause {
            statistics.abandoned += 1
            report(.abandoned(topic: trial.topic))
        }
        let isSuspect = refusals.entry(trial.name)?.isSuspect != false
        if let message { store.withLock { $0.drop(message.ticket, isSuspect: isSuspect) } }
    }

    /// The broker refuses a message.
    func refused(_ message: InFlight, _ reason: Int, isTrial: Bool, _ now: UInt64) {
        statistics.countRefusal(reason, topic: message.topic)
        report(.refused(topic: message.topic, reason: reason))
        // With these it is the message, not the topic.
        let isOfTopic = ![144, 149, 153].contains(reason)
        let base = options.base
        let isOurs = isOfTopic && store.withLock { $0.isOurs(message.ticket, base: base) }
        if isOfTopic { lastRefusal = LastSent(topic: message.topic, isRetained: message.isRetained, at: now) }
        if isOurs {
            refusals.refused(name(of: message), topic: message.topic, reason: reason, isTrial: isTrial, now: now)
        }
        store.withLock { $0.refuse(message.ticket, reason, isHeld: isOurs) }
    }
}
