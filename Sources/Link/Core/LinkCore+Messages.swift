import Messages

/// What is sent, in which order, and what becomes of it.
extension LinkCore {
    var window: Int {
        suspicion.oneAtATime
            ? 1 : min(limits.receiveMaximum ?? Self.defaultWindow, MosquittoTransport.sendMaximum)
    }

    func pump(_ now: UInt64) {
        sendableAt = nil
        // What such a broker acknowledges may be gone: it must be on the disk before, even where the disk is slow.
        let mustBeKept = awaitsCheck(now) || version == .v311 && !deniedFilters.isEmpty
        store.withLock { $0.queue.mustBeKept = mustBeKept }
        guard stopping == .no || isDraining, machine.isUp, departure?.isDraining != false || isDraining else { return }
        while machine.isUp, trial == nil, inFlight.count < window, unwritten < Self.defaultWindow {
            guard let (header, ticket) = store.withLock({ $0.take(into: &scratch, now: now) }) else {
                // Something may wait for its keeper meanwhile.
                sendableAt = store.withLock { $0.queue.keeperDeadline }
                if let due = refusals.deadline(after: now) { sendableAt = earliest(sendableAt, due) }
                guard stopping == .no, departure == nil else { return }
                // What is essential first, what may break the connection before what can wait.
                let isUrgent = !awaitsCheck(now) && store.withLock { $0.queue.nextBackfill?.priority == .essential }
                if !isUrgent, sendProbe(now) { return }
                guard !isUrgent, refusals.due(now) != nil else {
                    guard pumpBackfill(now) else { return }
                    continue
                }
                if !beginTrial(now) {
                    guard inFlight.isEmpty, unwritten == 0, trial == nil, pumpBackfill(now) else { return }
                }
                continue
            }
            guard deliver(header, ticket, isBackfill: false, now) else { return }
        }
    }

    /// Sends one message of back-fill if it may leave now. Few are on the way at any time, so that live messages find a
    /// free place in the window and a line that is not busy for long: with 64 kB/s they wait at most a second.
    func pumpBackfill(_ now: UInt64) -> Bool {
        guard let next = store.withLock({ $0.queue.nextBackfill }), !awaitsCheck(now),
            backfillInFlight.count < max(1, window / 2),
            backfillInFlight.count == 0 || backfillInFlight.bytes + next.bytes <= Self.backfillInFlightBytes
        else { return false }
        if next.priority != .essential, !backfill.take(now: now) {
            sendableAt = earliest(sendableAt, backfill.next)
            return false
        }
        guard let (header, ticket) = store.withLock({ $0.queue.takeBackfill(into: &scratch, now: now) }) else {
            return false
        }
        return deliver(header, .queued(ticket), isBackfill: true, now)
    }

    /// False when nothing more can be handed over now.
    func deliver(
        _ header: PublicationHeader, _ ticket: OutgoingStore.Ticket, isBackfill: Bool, _ now: UInt64
    ) -> Bool {
        let objection = objection(to: header)
        if let objection, !mayTry(objection, now) {
            hold(header, ticket, objection, now)
            return true
        }
        switch send(header, ticket, isBackfill: isBackfill, now) {
        case .taken(let id):
            if let objection { trial = Trial(name: objection.name, topic: header.topic, id: id) }
            handleEvents(now)
        case .tooLarge:
            statistics.tooLarge += 1
            tooLargeLimit = max(tooLargeLimit ?? 0, limits.maximumPacketSize ?? 0)
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

    func send(
        _ header: PublicationHeader, _ ticket: OutgoingStore.Ticket, isBackfill: Bool, _ now: UInt64
    ) -> HandOver {
        var header = header
        header.qos = min(header.qos, limits.maximumQoS, 1)
        header.retain = header.retain && limits.retainAvailable
        if let most = limits.maximumPacketSize, Self.packetSize(header, payload: scratch.count) > most {
            return .tooLarge
        }
        let outcome = scratch.withUnsafeBytes { transport.publish(header, $0) }
        guard case .taken(let id) = outcome else { return outcome }
        statistics.published += 1
        if header.qos == 0 {
            unwritten += 1
            lastUnacknowledged = LastSent(topic: header.topic, isRetained: header.retain, at: now)
            store.withLock { $0.release(ticket, .delivered) }
        } else {
            let bytes = isBackfill ? max(1, scratch.count) : 0
            inFlight.append(
                InFlight(id: id, ticket: ticket, topic: header.topic, backfillBytes: bytes))
            if isBackfill { backfillInFlight = (backfillInFlight.count + 1, backfillInFlight.bytes + bytes) }
            statistics.inFlightPeak = max(statistics.inFlightPeak, inFlight.count)
        }
        return outcome
    }

    func finished(_ id: Int32, _ reason: Int, _ now: UInt64) {
        if case .farewell(id, let end) = stopping {
            stopping = .leaving(end: end)
            feedStop()
            return
        }
        if departure?.phase == .farewell(id: id) {
            departure?.phase = .said
            return
        }
        if isProbe(id, reason: reason, now) || trialFinished(id, reason, now) { return }
        guard let index = inFlight.firstIndex(where: { $0.id == id }) else {
            unwritten = max(0, unwritten - 1)
            return
        }
        let message = remove(inFlightAt: index)
        watch.acknowledged(now: now)
        suspicion.acknowledged()
        // 16: nobody has subscribed, which is no failure.
        if reason < 128 { taken(message, now) } else { refused(message, reason, isTrial: false, now) }
    }

    /// The broker has a message.
    func taken(_ message: InFlight, _ now: UInt64) {
        lastAcknowledged = LastSent(topic: message.topic, isRetained: message.isRetained, at: now)
        let outcome = outcome(of: message, now)
        store.withLock { $0.release(message.ticket, outcome) }
        statistics.acked += 1
        if message.backfillBytes > 0 { statistics.backfilled += 1 }
        selfCheck?.acknowledged(message.topic)
    }

    /// Bytes of the PUBLISH packet, never less than they are.
    static func packetSize(_ header: PublicationHeader, payload: Int) -> Int {
        let correlation = header.correlation.map { 3 + $0.count } ?? 0
        let properties = 5 + 3 + header.contentType.rawValue.utf8.count + (header.isHistory ? 10 : 0) + correlation
        return 1 + 4 + 2 + header.topic.utf8.count + 2 + 2 + properties + payload
    }
}
