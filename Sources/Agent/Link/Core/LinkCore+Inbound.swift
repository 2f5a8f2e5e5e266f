import Messages

/// What comes from the broker: subscriptions, messages, and the self-check that uses both.
extension LinkCore {
    /// How long a broker may take to answer a subscription (ns).
    static let subscriptionPatience: UInt64 = 10_000_000_000
    /// A refused subscription is asked again after this time, then after twice as long each time, up to the longest (ns):
    /// rights change, and a cluster without a leader refuses what it will grant.
    static let subscriptionPause: UInt64 = 10_000_000_000
    static let longestSubscriptionPause: UInt64 = 600_000_000_000

    /// To be called when a connection has come up.
    func beginInbound(_ now: UInt64) {
        let (broker, hasSession) = (session.broker, session.limits.sessionPresent)
        if !hasSession || known.subscribedBroker != broker { known.subscribedBroker = nil }
        if hasSession {
            for filter in staleFilters where !options.filters.contains(filter) { transport.unsubscribe(filter) }
        }
        staleFilters.removeAll()
        // First of all, before anything that this run says can be on its way.
        beginReadBack(now)
        statistics.selfCheck = []
        statistics.refusedSubscriptions = []
        if known.subscribedBroker == nil {
            for filter in options.filters { subscribe(filter, for: .messages, now) }
        }
        if session.version == .v5, options.selfCheck != nil { known.deniedFilters = [] }
        beginCheck(now)
    }

    private func beginCheck(_ now: UInt64) {
        guard let wanted = options.selfCheck else { return }
        // Readers see empty messages: not with each connection of a line that breaks.
        let probes = !known.deniedFilters.isEmpty || known.probedAt.map { now - $0 >= 60_000_000_000 } ?? true
        let check = SelfCheck(
            wanted, version: session.version, probes: probes, looksForOthers: known.duplicates.isSuspected,
            nonce: random.next(), now: now)
        known.checkedUntil = known.checkedUntil ?? now + 60_000_000_000
        for filter in check.filters { subscribe(filter, for: .check, now) }
        session.selfCheck = check
    }

    func subscribe(_ filter: String, for purpose: Session.Purpose, _ now: UInt64) {
        guard let id = transport.subscribe(filter, isCheck: purpose.isCheck) else {
            return subscriptionFailed(filter, purpose, .impossible, now)
        }
        session.pending.append(
            .init(filter: filter, id: id, deadline: now + Self.subscriptionPatience, purpose: purpose))
    }

    func subscribed(_ id: Int32, _ code: Int, _ now: UInt64) {
        guard let index = session.pending.firstIndex(where: { $0.id == id }) else { return }
        let subscription = session.pending.remove(at: index)
        switch subscription.purpose {
        case .readBack:
            session.readBack?.answered(subscription.filter, isGranted: code < 128, now: now)
            lookAtReadBack(now)
        case .check:
            guard session.selfCheck?.subscribed(subscription.filter, isGranted: code < 128) == true else {
                return lookAtCheck(now)
            }
            // What connections broke over is tried alone.
            if known.refusals.entry(subscription.filter) == nil { publishCommandProbe(subscription.filter) }
        case .messages where code >= 128:
            subscriptionFailed(subscription.filter, .messages, .refused(code), now)
        case .messages: granted(subscription.filter, now)
        }
    }

    private func granted(_ filter: String, _ now: UInt64) {
        statistics.refusedSubscriptions.removeAll { $0 == filter }
        let wasRefused = session.refused.contains { $0.filter == filter }
        session.refused.removeAll { $0.filter == filter }
        if !session.pending.contains(where: { $0.purpose == .messages }), session.refused.isEmpty {
            known.subscribedBroker = session.broker
        }
        // What was found of commands is not true any more.
        if wasRefused { beginCheck(now) }
    }

    private func subscriptionFailed(
        _ filter: String, _ purpose: Session.Purpose, _ failure: LinkEvent.SubscriptionFailure, _ now: UInt64
    ) {
        switch purpose {
        case .readBack:
            session.readBack?.answered(filter, isGranted: false, now: now)
            return lookAtReadBack(now)
        case .check:
            _ = session.selfCheck?.subscribed(filter, isGranted: false)
            return
        case .messages: break
        }
        if options.subscriptions.contains(filter), !statistics.refusedSubscriptions.contains(filter) {
            statistics.refusedSubscriptions.append(filter)
        }
        if let index = session.refused.firstIndex(where: { $0.filter == filter }) {
            let pause = min(session.refused[index].pause * 2, Self.longestSubscriptionPause)
            (session.refused[index].at, session.refused[index].pause) = (now + pause, pause)
        } else {
            session.refused.append(
                .init(filter: filter, at: now + Self.subscriptionPause, pause: Self.subscriptionPause))
        }
        report(.notSubscribed(filter: filter, failure))
    }

    /// Asks again for what was refused. (Not before its answer is there, or too late.)
    private func subscribeAgain(_ now: UInt64) {
        session.refused.removeAll { !options.filters.contains($0.filter) }
        for index in session.refused.indices where now >= session.refused[index].at {
            session.refused[index].at = now + Self.subscriptionPatience + session.refused[index].pause
            subscribe(session.refused[index].filter, for: .messages, now)
        }
    }

    func received(_ message: InboundMessage, _ now: UInt64) {
        statistics.received += 1
        if message.isTooLarge { statistics.receivedTooLarge += 1 }
        if options.readBack.contains(message.topic) {
            // (Nothing of what else may be read follows from it, for the self-check.)
            _ = session.readBack?.takes(message, now: now)
            return lookAtReadBack(now)
        }
        if session.selfCheck?.takes(message) == true {
            if let check = session.selfCheck, check.isForeign, known.hasSaidIdentity, message.isRetained,
                message.topic == options.selfCheck?.identityTopic
            {
                known.duplicates.foreignWords()
            }
            // It came back: there is nothing to wait for.
            if session.trial?.topic == message.topic, !message.isRetained { session.trial?.isProven = true }
            return lookAtCheck(now)
        }
        var message = message
        message.connection = connection
        receive(message)
    }

    /// What has its time before anything is sent: answers to subscriptions, and values that are read back.
    func watchSubscriptions(_ now: UInt64) {
        while let index = session.pending.firstIndex(where: { now >= $0.deadline }) {
            let subscription = session.pending.remove(at: index)
            subscriptionFailed(subscription.filter, subscription.purpose, .unanswered, now)
        }
        if session.readBack != nil {
            session.readBack?.look(now: now, isBusy: transport.wantsWrite || (transport.line?.waiting ?? 0) > 0)
            lookAtReadBack(now)
        }
    }

    /// What has its time behind that: subscriptions that are asked for again, and the end of the self-check.
    func watchInbound(_ now: UInt64) {
        if !session.refused.isEmpty { subscribeAgain(now) }
        if let deadline = session.selfCheck?.deadline, now >= deadline {
            // On a slow line the answers wait behind what has yet to leave.
            if transport.wantsWrite || (transport.line?.waiting ?? 0) > 0 {
                session.selfCheck?.putOff(now)
            } else {
                session.selfCheck?.conclude()
                lookAtCheck(now)
            }
        }
    }
}
