import Messages

/// What is sent, in which order, and what becomes of it.
extension LinkCore {
    private var window: Int {
        known.suspicion.oneAtATime
            ? 1 : min(session.limits.receiveMaximum ?? Self.defaultWindow, MosquittoTransport.sendMaximum)
    }

    /// Nothing waits that may leave now, and nothing is on its way.
    var isIdle: Bool { session.isQuiet && store.withLock { $0.isEmpty } }

    func pump(_ now: UInt64) {
        session.sendableAt = nil
        // What such a broker acknowledges may be gone: it must be on the disk before, even where the disk is slow.
        let mustBeKept = awaitsCheck(now) || session.version == .v311 && !known.deniedFilters.isEmpty
        store.withLock { $0.queue.mustBeKept = mustBeKept }
        while life.isSteady || life.isDraining, session.trial == nil, session.inFlight.count < window,
            session.unwritten < Self.defaultWindow
        {
            guard let (header, ticket) = store.withLock({ $0.take(into: &scratch, now: now) }) else {
                // Something may wait for its keeper meanwhile.
                let due = store.withLock { $0.queue.keeperDeadline }
                session.sendableAt = earliest(due, known.refusals.deadline(after: now))
                guard life.isSteady, pumpLater(now) else { return }
                continue
            }
            guard deliver(header, ticket, isBackfill: false, now) else { return }
        }
    }

    /// Sends what comes after everything that is live: what is essential first, what may break the connection before what
    /// can wait. False when there is nothing more to do now.
    private func pumpLater(_ now: UInt64) -> Bool {
        let isUrgent = !awaitsCheck(now) && store.withLock { $0.queue.nextBackfill?.priority == .essential }
        if !isUrgent, sendProbe(now) { return false }
        guard !isUrgent, known.refusals.due(now) != nil else { return pumpBackfill(now) }
        if beginTrial(now) { return true }
        return session.isQuiet && session.trial == nil && pumpBackfill(now)
    }

    /// Sends one message of back-fill if it may leave now. Few are on the way at any time, so that live messages find a
    /// free place in the window and a line that is not busy for long: with 64 kB/s they wait at most a second.
    private func pumpBackfill(_ now: UInt64) -> Bool {
        guard let next = store.withLock({ $0.queue.nextBackfill }), !awaitsCheck(now),
            case let sent = session.backfill, sent.count < max(1, window / 2),
            sent.count == 0 || sent.bytes + next.bytes <= Self.backfillInFlightBytes
        else { return false }
        if next.priority != .essential, !backfill.take(now: now) {
            session.sendableAt = earliest(session.sendableAt, backfill.next)
            return false
        }
        guard let (header, ticket) = store.withLock({ $0.queue.takeBackfill(into: &scratch, now: now) }) else {
            return false
        }
        return deliver(header, .queued(ticket), isBackfill: true, now)
    }

    /// False when nothing more can be handed over now.
    private func deliver(
        _ header: PublicationHeader, _ ticket: OutgoingStore.Ticket, isBackfill: Bool, _ now: UInt64
    ) -> Bool {
        var objection = objection(to: header)
        if let entry = objection, !mayTry(entry, now) {
            guard entry.isPassing, store.withLock({ $0.isFresh(ticket) }) else {
                hold(header, ticket, entry, now)
                return true
            }
            objection = nil
        }
        switch send(header, ticket, isBackfill: isBackfill, now) {
        case .taken(let id):
            if let objection { session.trial = .init(name: objection.name, topic: header.topic, id: id) }
            takeEvents(now)
        case .tooLarge:
            statistics.tooLarge += 1
            known.tooLargeLimit = max(known.tooLargeLimit ?? 0, packetLimit ?? 0)
            store.withLock { $0.release(ticket, .tooLarge) }
            statistics.lastTooLarge = LinkStatistics.TooLarge(topic: header.topic, bytes: scratch.count)
            report(.tooLarge(topic: header.topic, bytes: scratch.count))
        case .impossible:
            statistics.countRefusal(144, topic: header.topic)
            store.withLock { $0.release(ticket, .refused(144)) }
            report(.refused(topic: header.topic, reason: 144))
        case .later:
            store.withLock { $0.putBack(ticket) }
            return false
        }
        return true
    }

    private func send(
        _ header: PublicationHeader, _ ticket: OutgoingStore.Ticket, isBackfill: Bool, _ now: UInt64
    ) -> HandOver {
        let header = fitted(header)
        if let most = packetLimit, Self.packetSize(header, payload: scratch.count) > most {
            return .tooLarge
        }
        let outcome = scratch.withUnsafeBytes { transport.publish(header, $0) }
        guard case .taken(let id) = outcome else { return outcome }
        statistics.published += 1
        if header.qos == 0 {
            session.unwritten += 1
            session.lastUnacknowledged = .init(topic: header.topic, isRetained: header.retain, at: now)
            store.withLock { $0.release(ticket, .delivered) }
        } else {
            let bytes = isBackfill ? max(1, scratch.count) : 0
            session.inFlight.append(.init(id: id, ticket: ticket, topic: header.topic, backfillBytes: bytes))
            statistics.inFlightPeak = max(statistics.inFlightPeak, session.inFlight.count)
        }
        return outcome
    }

    /// No more than the broker takes.
    func fitted(_ header: PublicationHeader) -> PublicationHeader {
        var header = header
        header.qos = min(header.qos, session.limits.maximumQoS, 1)
        header.retain = header.retain && session.limits.retainAvailable
        return header
    }

    func finished(_ id: Int32, _ reason: Int, _ now: UInt64) {
        if isProbe(id, reason: reason, now) || trialFinished(id, reason, now) { return }
        guard let message = session.takeInFlight(id) else {
            session.unwritten = max(0, session.unwritten - 1)
            return
        }
        session.watch.acknowledged(now: now)
        known.suspicion.acknowledged()
        // 16: nobody has subscribed, which is no failure.
        guard reason < 128 else { return refused(message, reason, isTrial: false, now) }
        if !known.refusals.entries.isEmpty, case let name = name(of: message),
            let entry = known.refusals.entry(name), entry.isPassing, entry.until > now
        {
            known.refusals.hurry(name, now: now)
        }
        taken(message, now)
    }

    /// The broker has a message.
    func taken(_ message: Session.InFlight, _ now: UInt64) {
        session.lastAcknowledged = .init(topic: message.topic, isRetained: message.isRetained, at: now)
        let outcome = outcome(of: message, now)
        store.withLock { $0.release(message.ticket, outcome) }
        statistics.acked += 1
        if message.backfillBytes > 0 { statistics.backfilled += 1 }
        session.selfCheck?.acknowledged(message.topic)
    }

    /// Bytes of a packet at most: what the broker says, and what the settings say; nil: nobody has said it.
    var packetLimit: Int? {
        let own = options.mqtt.maximumPacket > 0 ? options.mqtt.maximumPacket : nil
        return [own, session.limits.maximumPacketSize].compactMap { $0 }.min()
    }

    /// Bytes of the PUBLISH packet, never less than they are.
    static func packetSize(_ header: PublicationHeader, payload: Int) -> Int {
        let correlation = header.correlation.map { 3 + $0.count } ?? 0
        let properties = 5 + 3 + header.contentType.rawValue.utf8.count + (header.isHistory ? 10 : 0) + correlation
        return 1 + 4 + 2 + header.topic.utf8.count + 2 + 2 + properties + payload
    }
}
