import Messages

/// The self-check (`SelfCheck`): what is sent for it, and what follows from what it finds.
extension LinkCore {
    func publishCommandProbe(_ topic: String) {
        guard let check = session.selfCheck else { return }
        let header = fitted(
            PublicationHeader(
                topic: topic, qos: 1, retain: false, contentType: .text, expiry: 10, priority: .state))
        if case .taken(let id) = check.probe.withUnsafeBytes({ transport.publish(header, $0) }) {
            session.probeID = header.qos > 0 ? id : nil
            if header.qos == 0 { session.unwritten += 1 }
        }
    }

    /// True when the end of a message was that of the self-check's own.
    func isProbe(_ id: Int32, reason: Int, _ now: UInt64) -> Bool {
        guard id == session.probeID, let topic = options.selfCheck?.commandTopic else { return false }
        session.probeID = nil
        let sent = Session.LastSent(topic: topic, isRetained: false, at: now)
        if reason < 128 { session.lastAcknowledged = sent } else { session.lastRefusal = sent }
        if reason < 128, session.version == .v5 { known.refusals.forget(topic) }
        session.selfCheck?.probeEnded(reason: reason)
        lookAtCheck(now)
        return true
    }

    /// Sends the next empty message of the self-check, when nothing else is on its way. True when one has left.
    func sendProbe(_ now: UInt64) -> Bool {
        guard let topic = session.selfCheck?.nextProbe, known.refusals.entry(topic) == nil else { return false }
        return publishProbe(topic, now)
    }

    /// The same of one whose pause is over.
    func sendProbe(of entry: Refusals.Entry, _ now: UInt64) -> Bool {
        guard let wanted = options.selfCheck else { return false }
        let isCommand = entry.name == wanted.commandTopic
        guard isCommand || wanted.probes.contains(where: { $0.topic == entry.name }) else { return false }
        guard let check = session.selfCheck, isCommand || check.isProbe(entry.name) else {
            // It is over, or of another version of MQTT.
            known.refusals.forget(entry.name)
            return false
        }
        known.refusals.refused(entry.name, topic: entry.name, reason: 135, isTrial: true, now: now)
        guard !isCommand else {
            publishCommandProbe(entry.name)
            return true
        }
        guard publishProbe(entry.name, now) else { return false }
        session.selfCheck?.again(entry.name, now: now)
        return true
    }

    private func publishProbe(_ topic: String, _ now: UInt64) -> Bool {
        guard life.isSteady, session.isClear else { return false }
        let header = PublicationHeader(topic: topic, qos: 1, retain: false, contentType: .text, priority: .state)
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        guard session.limits.maximumQoS > 0, case .taken(let id) = transport.publish(header, nothing) else {
            return false
        }
        session.selfCheck?.probed(topic)
        known.probedAt = now
        session.trial = .init(name: topic, topic: topic, id: id, isProbe: true)
        takeEvents(now)
        return true
    }

    /// A connection ended over an empty message: what it stands for is denied.
    func probeBroke(_ topic: String, _ check: SelfCheck?, _ now: UInt64) {
        known.refusals.refused(topic, topic: topic, reason: 135, isTrial: true, now: now)
        known.refusals.hungUp(topic, topic: topic, now: now)
        if let filter = check?.filter(ofProbe: topic), !known.deniedFilters.contains(filter) {
            known.deniedFilters.append(filter)
        }
    }

    /// What became of a message that the broker has acknowledged. With 3.1.1 that says nothing.
    func outcome(of message: Session.InFlight, _ now: UInt64) -> Settlement.Outcome {
        if message.isRetained {
            if message.topic == options.selfCheck?.identityTopic { known.hasSaidIdentity = true }
            return .delivered
        }
        guard session.version == .v311, let wanted = options.selfCheck else { return .delivered }
        let isDenied = known.deniedFilters.contains { $0.takes(message.topic) }
        let isUnknown = awaitsCheck(now) && wanted.probes.contains { $0.filter.takes(message.topic) }
        guard isDenied || isUnknown, store.withLock({ $0.isSafe(message.ticket) }) else { return .delivered }
        if isDenied { statistics.countRefusal(135, topic: message.topic) }
        return isDenied ? .held : .displaced
    }

    /// With 3.1.1 nothing is known of the broker yet: what is on disk waits for the first self-check.
    func awaitsCheck(_ now: UInt64) -> Bool {
        guard session.version == .v311, !known.hasChecked, let wanted = options.selfCheck, !wanted.probes.isEmpty else {
            return false
        }
        return now < known.checkedUntil ?? .max
    }

    /// Ends the self-check when all is known. What is denied stays subscribed to: it may come back one day.
    func lookAtCheck(_ now: UInt64) {
        guard let check = session.selfCheck, check.isOver, statistics.selfCheck != check.findings else { return }
        let denied = check.findings.filter { $0.subject == .writing && $0.outcome == .denied }.map(\.topic)
        for filter in check.filters where !options.filters.contains(filter) && !denied.contains(filter) {
            transport.unsubscribe(filter)
        }
        for finding in check.findings where finding.subject == .writing {
            known.deniedFilters.removeAll { $0 == finding.topic }
            if finding.outcome == .denied { known.deniedFilters.append(finding.topic) }
        }
        for probe in options.selfCheck?.probes ?? [] {
            if denied.contains(probe.filter) {
                known.refusals.refused(probe.topic, topic: probe.topic, reason: 135, isTrial: false, now: now)
            } else if check.findings.contains(where: { $0.topic == probe.filter }) {
                known.refusals.forget(probe.topic)
            }
        }
        known.hasChecked = true
        statistics.selfCheck = check.findings
        report(.checked(check.findings))
        noteRefusals()
        if denied.isEmpty { session.selfCheck = nil }
    }

    /// What is held back, for those who look and for the keeper.
    func noteRefusals() {
        let (base, probes) = (options.base, options.selfCheck?.probes ?? [])
        let held = known.refusals.entries.filter { entry in
            !entry.isSuspect && entry.name != options.selfCheck?.commandTopic
                && !probes.contains { $0.topic == entry.name }
        }
        statistics.held = held.map {
            .init(topic: $0.name, reason: $0.reason, breaks: $0.breaks, isOurs: $0.name.isBelow(base))
        }
        statistics.deniedTopics =
            known.deniedFilters + statistics.held.filter { $0.reason == 135 && $0.isOurs }.map(\.topic)
        let (names, filters) = (known.refusals.entries.map(\.name), known.deniedFilters)
        let passing = known.refusals.entries.filter(\.isPassing).map(\.name)
        store.withLock { $0.setHolds(names, passing: passing, filters: filters) }
    }
}
