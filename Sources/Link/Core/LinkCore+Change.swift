import Messages

/// Other options while the link lives: an orderly good-bye to the old broker, then the new one.
extension LinkCore {
    /// So long at most for what waits, and so long for the whole good-bye (ns).
    static let departureDraining: UInt64 = 1_500_000_000
    static let departureTime: UInt64 = 3_000_000_000

    struct Departure {
        enum Phase: Equatable {
            /// What waits is sent until then (ns).
            case draining(until: UInt64)
            /// `offline` was handed over with this number.
            case farewell(id: Int32)
            /// The broker has it.
            case said
            /// DISCONNECT is on its way.
            case leaving
        }
        /// What comes after.
        var options: LinkOptions
        var change: UInt64
        var phase: Phase
        /// The whole must be over then (ns).
        var end: UInt64
        /// `offline` was handed over, and taken by the broker.
        var saysOffline = false
        var isHeard = false

        var isDraining: Bool { if case .draining = phase { true } else { false } }
        var deadline: UInt64 { if case .draining(let until) = phase { until } else { end } }
    }

    /// Numbers rise with each connection and, for all that come after it, with each change.
    static func connectionNumber(change: UInt64, connects: UInt64) -> UInt64 { change << 32 | connects & 0xffff_ffff }

    var connection: UInt64 { Self.connectionNumber(change: change, connects: statistics.connects) }

    /// - Parameter change: number of the change; rises when another connection is needed.
    func change(to new: LinkOptions, change: UInt64, now: UInt64) {
        // Whoever stops goes from where it is.
        guard stopping == .no else { return }
        if !options.needsNewConnection(for: new), departure?.isDraining != false {
            departure = nil
            takeUp(new, change, now)
            // Of the same options, so that it is as good as a new one.
            if statistics.connections > 0 { statistics.connections = connection }
            return
        }
        if departure != nil {
            departure?.options = new
            departure?.change = change
        } else if machine.isUp {
            departure = Departure(
                options: new, change: change, phase: .draining(until: now + Self.departureDraining),
                end: now + Self.departureTime)
        } else {
            if case .connecting = machine.state { transport.abandon() }
            reconnect(with: new, change, wasSaid: false, now)
        }
    }

    var departureDeadline: UInt64? {
        departure.map { $0.phase == .leaving || machine.isUp ? $0.deadline : 0 }
    }

    func proceedDeparture(_ now: UInt64) {
        guard let departure, stopping == .no else { return }
        if departure.phase != .leaving {
            guard machine.isUp else { return reconnect(with: departure.options, departure.change, wasSaid: false, now) }
            switch departure.phase {
            case .draining(let until):
                guard isIdle || now >= until else { return }
                if saysOffline(before: departure.options), sayOffline(now) { break }
                leave()
            case .farewell:
                guard now >= departure.end else { return }
                leave()
            case .said:
                self.departure?.isHeard = true
                leave()
            case .leaving: break
            }
        }
        guard self.departure?.phase == .leaving else { return proceedDepartureIfSaid(now) }
        if now >= departure.end || !transport.wantsWrite {
            reconnect(
                with: departure.options, departure.change, wasSaid: self.departure?.isHeard == true, now)
        }
    }

    /// The acknowledgement may have come at once.
    private func proceedDepartureIfSaid(_ now: UInt64) {
        if departure?.phase == .said { proceedDeparture(now) }
    }

    /// False when it cannot be handed over.
    private func sayOffline(_ now: UInt64) -> Bool {
        var text = options.presence.offline
        let outcome = text.withUTF8 { transport.publish(presenceHeader, UnsafeRawBufferPointer($0)) }
        guard case .taken(let id) = outcome else { return false }
        departure?.phase = .farewell(id: id)
        departure?.saysOffline = true
        handleEvents(now)
        return true
    }

    /// Where we come back to the same topic of the same broker, the last will says it when we do not. Nobody delays it with
    /// 3.1.1, nor publishes it after a DISCONNECT.
    private func saysOffline(before new: LinkOptions) -> Bool {
        version == .v311 || new.brokers != options.brokers || new.clientID != options.clientID
            || new.presence != options.presence
    }

    private func leave() {
        guard let departure else { return }
        _ = machine.handle(.stop, now: 0, using: &random)
        transport.disconnect(keepsWill: !departure.saysOffline && !saysOffline(before: departure.options))
        self.departure?.phase = .leaving
    }

    /// Everything that is of one broker begins anew.
    private func reconnect(with new: LinkOptions, _ change: UInt64, wasSaid: Bool, _ now: UInt64) {
        let isSameBroker = new.brokers == options.brokers
        if machine.isUp || departure != nil {
            report(
                .disconnected(options.brokers[attempted], reason: "the settings of the connection change", retryIn: 0))
        }
        departure = nil
        transport.abandon()
        statistics.lostInFlight += UInt64(unwritten)
        recallInFlight()
        staleFilters += options.filters + (selfCheck?.filters ?? [])
        let old = options.presence
        store.withLock { store in
            store.retained.forgetFarewells(all: !isSameBroker)
            // Its last will may never be published when we come back in time.
            if isSameBroker, hasAnnounced, !wasSaid, old.topic != new.presence.topic {
                store.retained.addFarewell(to: old.topic, Array(old.offline.utf8))
            }
            store.queue.hasNews = true
        }
        hasAnnounced = false
        transport.change(to: new)
        if !isSameBroker { servedBroker = nil }
        if !isSameBroker || new.version != options.version {
            protocols = ProtocolChoice(new)
        }
        machine = ConnectionStateMachine(brokerCount: new.brokers.count, timing: Self.timing(new))
        (openBroker, isSubscribed, selfCheck, probeID, attempted) = (nil, false, nil, nil, 0)
        pending.removeAll()
        (suspicion, refusals, trial, tooLargeLimit, duplicates) = (Suspicion(), Refusals(), nil, nil, DuplicateWatch())
        (lastRefusal, lastAcknowledged, lastUnacknowledged) = (nil, nil, nil)
        forgetCheck()
        store.withLock { store in
            _ = store.retained.reopen { _ in true }
            _ = store.queue.recallAside { _ in true }
            store.offerAgain()
        }
        statistics.forgetRights()
        takeUp(new, change, now)
        feed(.start, now: now)
    }

    /// What needs no other connection, or is for the next.
    private func takeUp(_ new: LinkOptions, _ change: UInt64, _ now: UInt64) {
        if new.backfillPerSecond != options.backfillPerSecond {
            backfill = TokenBucket(perSecond: new.backfillPerSecond)
        }
        options = new
        refusals.retryAll(now: now)
        self.change = change
        watch.patience = Self.nanoseconds(new.ackTimeout)
        machine.change(Self.timing(new), now: now)
        store.withLock {
            $0.retained.release(change: change)
            $0.queue.trial = new.trial
        }
    }
}
