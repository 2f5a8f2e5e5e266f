import Messages

/// What comes from the broker: subscriptions, messages, and the self-check that uses both.
extension LinkCore {
    /// How long a broker may take to answer a subscription (ns).
    static let subscriptionPatience: UInt64 = 10_000_000_000

    /// To be called when a connection has come up.
    func beginInbound(_ now: UInt64) {
        let (broker, hasSession) = (session.broker, session.limits.sessionPresent)
        if !hasSession || known.subscribedBroker != broker { known.subscribedBroker = nil }
        if hasSession {
            for filter in staleFilters where !options.filters.contains(filter) { transport.unsubscribe(filter) }
        }
        staleFilters.removeAll()
        statistics.selfCheck = []
        statistics.refusedSubscriptions = []
        if known.subscribedBroker == nil {
            for filter in options.filters { subscribe(filter, isCheck: false, now) }
        }
        guard let wanted = options.selfCheck else { return }
        if session.version == .v5 { known.deniedFilters = [] }
        // Readers see empty messages: not with each connection of a line that breaks.
        let probes = !known.deniedFilters.isEmpty || known.probedAt.map { now - $0 >= 60_000_000_000 } ?? true
        let check = SelfCheck(
            wanted, version: session.version, probes: probes, looksForOthers: known.duplicates.isSuspected,
            nonce: random.next(), now: now)
        known.checkedUntil = known.checkedUntil ?? now + 60_000_000_000
        for filter in check.filters { subscribe(filter, isCheck: true, now) }
        session.selfCheck = check
    }

    private func subscribe(_ filter: String, isCheck: Bool, _ now: UInt64) {
        guard let id = transport.subscribe(filter, isCheck: isCheck) else {
            return subscriptionFailed(filter, isCheck: isCheck, .impossible)
        }
        session.pending.append(
            .init(filter: filter, id: id, deadline: now + Self.subscriptionPatience, isCheck: isCheck))
    }

    func subscribed(_ id: Int32, _ code: Int, _ now: UInt64) {
        guard let index = session.pending.firstIndex(where: { $0.id == id }) else { return }
        let subscription = session.pending.remove(at: index)
        if subscription.isCheck {
            guard session.selfCheck?.subscribed(subscription.filter, isGranted: code < 128) == true else {
                return lookAtCheck(now)
            }
            // What connections broke over is tried alone.
            if known.refusals.entry(subscription.filter) == nil { publishCommandProbe(subscription.filter) }
        } else if code >= 128 {
            subscriptionFailed(subscription.filter, isCheck: false, .refused(code))
        } else if !session.pending.contains(where: { !$0.isCheck }), statistics.refusedSubscriptions.isEmpty {
            known.subscribedBroker = session.broker
        }
    }

    private func subscriptionFailed(_ filter: String, isCheck: Bool, _ failure: LinkEvent.SubscriptionFailure) {
        if isCheck {
            _ = session.selfCheck?.subscribed(filter, isGranted: false)
            return
        }
        if options.subscriptions.contains(filter) { statistics.refusedSubscriptions.append(filter) }
        report(.notSubscribed(filter: filter, failure))
    }

    func received(_ message: InboundMessage, _ now: UInt64) {
        statistics.received += 1
        if message.isTooLarge { statistics.receivedTooLarge += 1 }
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

    /// What has its time: answers to subscriptions, and the end of the self-check.
    func watchInbound(_ now: UInt64) {
        while let index = session.pending.firstIndex(where: { now >= $0.deadline }) {
            let subscription = session.pending.remove(at: index)
            subscriptionFailed(subscription.filter, isCheck: subscription.isCheck, .unanswered)
        }
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
