import Messages

/// What is sent, in which order, and what becomes of it.
extension LinkCore {
    var window: Int {
        suspicion.oneAtATime
            ? 1 : min(limits.receiveMaximum ?? Self.defaultWindow, MosquittoTransport.sendMaximum)
    }

    func pump(_ now: UInt64) {
        sendableAt = nil
        guard stopping == .no || isDraining, machine.isUp, departure?.isDraining != false || isDraining else { return }
        while machine.isUp, inFlight.count < window, unwritten < Self.defaultWindow {
            guard let (header, ticket) = store.withLock({ $0.take(into: &scratch, now: now) }) else {
                // Something may wait for its keeper meanwhile.
                sendableAt = store.withLock { $0.queue.keeperDeadline }
                guard stopping == .no, departure == nil, pumpBackfill(now) else { return }
                continue
            }
            guard deliver(header, ticket, isBackfill: false, now) else { return }
        }
    }

    /// Sends one message of back-fill if it may leave now. Few are on the way at any time, so that live messages find a
    /// free place in the window and a line that is not busy for long: with 64 kB/s they wait at most a second.
    func pumpBackfill(_ now: UInt64) -> Bool {
        guard let next = store.withLock({ $0.queue.nextBackfill }), backfillInFlight.count < max(1, window / 2),
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
        switch send(header, ticket, isBackfill: isBackfill) {
        case .taken: handleEvents(now)
        case .tooLarge:
            statistics.tooLarge += 1
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

    func send(_ header: PublicationHeader, _ ticket: OutgoingStore.Ticket, isBackfill: Bool) -> HandOver {
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
            store.withLock { $0.release(ticket, .delivered) }
        } else {
            let bytes = isBackfill ? max(1, scratch.count) : 0
            inFlight.append(
                InFlight(
                    id: id, ticket: ticket, topic: header.topic,
                    fingerprint: suspicion.oneAtATime ? scratch.fingerprint : 0, backfillBytes: bytes))
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
        if isProbe(id, reason: reason) { return }
        guard let index = inFlight.firstIndex(where: { $0.id == id }) else {
            unwritten = max(0, unwritten - 1)
            return
        }
        let message = remove(inFlightAt: index)
        watch.acknowledged(now: now)
        suspicion.acknowledged()
        // 16: nobody has subscribed, which is no failure.
        store.withLock { $0.release(message.ticket, reason < 128 ? .delivered : .refused(reason)) }
        if reason < 128 {
            statistics.acked += 1
            if message.backfillBytes > 0 { statistics.backfilled += 1 }
            // With 3.1.1 an acknowledgement says nothing about that.
            if version == .v5 { statistics.allow(message.topic) }
            selfCheck?.acknowledged(message.topic)
        } else {
            // What was addressed with an old base is nothing that could be allowed again.
            statistics.countRefusal(reason, topic: message.topic, isOurs: message.topic.isBelow(options.base))
            report(.refused(topic: message.topic, reason: reason))
        }
    }

    /// Bytes of the PUBLISH packet, never less than they are.
    static func packetSize(_ header: PublicationHeader, payload: Int) -> Int {
        let correlation = header.correlation.map { 3 + $0.count } ?? 0
        let properties = 5 + 3 + header.contentType.rawValue.utf8.count + (header.isHistory ? 10 : 0) + correlation
        return 1 + 4 + 2 + header.topic.utf8.count + 2 + 2 + properties + payload
    }
}
