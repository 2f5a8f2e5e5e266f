import Messages

/// What comes from the broker: subscriptions, messages, and the self-check that uses both.
extension LinkCore {
    /// How long a broker may take to answer a subscription (ns).
    static let subscriptionPatience: UInt64 = 10_000_000_000

    struct Subscription {
        var filter: String
        /// Waits for an answer under this number until `deadline` (ns).
        var id: Int32
        var deadline: UInt64
        /// For the self-check alone.
        var isCheck: Bool
    }

    /// To be called when a connection has come up.
    func beginInbound(_ now: UInt64) {
        pending.removeAll(keepingCapacity: true)
        if !limits.sessionPresent { isSubscribed = false }
        if limits.sessionPresent {
            for filter in staleFilters where !options.filters.contains(filter) { transport.unsubscribe(filter) }
        }
        staleFilters.removeAll()
        if !isSubscribed {
            for filter in options.filters { subscribe(filter, isCheck: false, now) }
        }
        selfCheck = nil
        probeID = nil
        statistics.selfCheck = []
        statistics.refusedSubscriptions = []
        guard let wanted = options.selfCheck, stopping == .no else { return }
        if version == .v5 { deniedFilters = [] }
        // Readers see empty messages: not with each connection of a line that breaks.
        let probes = !deniedFilters.isEmpty || probedAt.map { now - $0 >= 60_000_000_000 } ?? true
        let check = SelfCheck(
            wanted, version: version, probes: probes, looksForOthers: duplicates.isSuspected, nonce: random.next(),
            now: now)
        checkedUntil = checkedUntil ?? now + 60_000_000_000
        for filter in check.filters { subscribe(filter, isCheck: true, now) }
        selfCheck = check
    }

    private func subscribe(_ filter: String, isCheck: Bool, _ now: UInt64) {
        guard let id = transport.subscribe(filter, isCheck: isCheck) else {
            return subscriptionFailed(filter, isCheck: isCheck, .impossible)
        }
        pending.append(
            Subscription(filter: filter, id: id, deadline: now + Self.subscriptionPatience, isCheck: isCheck))
    }

    func subscribed(_ id: Int32, _ code: Int, _ now: UInt64) {
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
        let subscription = pending.remove(at: index)
        if subscription.isCheck {
            guard selfCheck?.subscribed(subscription.filter, isGranted: code < 128) == true else {
                return lookAtCheck()
            }
            // What connections broke over is tried alone.
            if refusals.entry(subscription.filter) == nil { publishCommandProbe(subscription.filter) }
        } else if code >= 128 {
            subscriptionFailed(subscription.filter, isCheck: false, .refused(code))
        } else if !pending.contains(where: { !$0.isCheck }), statistics.refusedSubscriptions.isEmpty {
            isSubscribed = true
        }
    }

    private func subscriptionFailed(_ filter: String, isCheck: Bool, _ failure: LinkEvent.SubscriptionFailure) {
        if isCheck {
            _ = selfCheck?.subscribed(filter, isGranted: false)
            return
        }
        if options.subscriptions.contains(filter) { statistics.refusedSubscriptions.append(filter) }
        report(.notSubscribed(filter: filter, failure))
    }

    func received(_ message: InboundMessage, _ now: UInt64) {
        statistics.received += 1
        if message.isTooLarge { statistics.receivedTooLarge += 1 }
        if selfCheck?.takes(message) == true {
            if let check = selfCheck, check.isForeign, hasSaidIdentity, message.isRetained,
                message.topic == options.selfCheck?.identityTopic
            {
                duplicates.foreignWords()
            }
            // It came back: there is nothing to wait for.
            if trial?.topic == message.topic, !message.isRetained { trial?.isProven = true }
            return lookAtCheck()
        }
        var message = message
        message.connection = connection
        receive(message)
    }

    /// What has its time: answers to subscriptions, and the end of the self-check.
    func watchInbound(_ now: UInt64) {
        while let index = pending.firstIndex(where: { now >= $0.deadline }) {
            let subscription = pending.remove(at: index)
            subscriptionFailed(subscription.filter, isCheck: subscription.isCheck, .unanswered)
        }
        if let deadline = selfCheck?.deadline, now >= deadline {
            // On a slow line the answers wait behind what has yet to leave.
            if transport.wantsWrite || (transport.line?.waiting ?? 0) > 0 {
                selfCheck?.putOff(now)
            } else {
                selfCheck?.conclude()
                lookAtCheck()
            }
        }
    }

    var inboundDeadline: UInt64? {
        var first = selfCheck?.deadline
        for subscription in pending { first = min(first ?? .max, subscription.deadline) }
        return first
    }
}
