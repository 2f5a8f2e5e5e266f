import Messages

/// The link without its thread: carries out what its life (`LinkLife`) decides, with the store and a transport. Driven by
/// events and by calls to `step` with the time; not safe to share, owned by one thread.
final class LinkCore {
    /// QoS 1 messages without acknowledgement when the broker names no number, and QoS 0 messages not yet written.
    static let defaultWindow = 20
    /// Bytes of back-fill without acknowledgement, when it is more than one message.
    static let backfillInFlightBytes = 64 << 10

    /// Facts about the brokers that outlive a connection, until there are other ones.
    struct Known {
        /// Topics that the broker refuses.
        var refusals = Refusals() { didSet { hasNewRefusals = true } }
        var hasNewRefusals = true
        var suspicion = Suspicion()
        /// Another station has our name.
        var duplicates = DuplicateWatch()
        /// The largest packet that a broker took when something was too large for it.
        var tooLargeLimit: Int?
        /// The broker of the last connection.
        var servedBroker: Int?
        /// A broker has heard `online`.
        var hasAnnounced = false
        /// The broker that has granted all that was asked for, in a session that may still be there.
        var subscribedBroker: Int?
        /// Subscriptions of the self-check in its session.
        var checkFilters: [String] = []
        /// Filters of our topics that the broker throws away in silence (3.1.1), until it is seen that it does not.
        var deniedFilters: [String] = []
        /// Whether there was a self-check, and when it is not waited for any more (ns).
        var hasChecked = false
        var checkedUntil: UInt64?
        /// When empty messages were sent last (ns).
        var probedAt: UInt64?
        /// The broker had what only we say on our topic.
        var hasSaidIdentity = false
        /// Somebody else writes topics of ours.
        var watch = RetainedWatch()
        /// Brokers that have been asked what they retain of a run before this one.
        var readBack: Set<Int> = []
    }

    private let store: SharedStore
    private let transport: any Transport
    private let report: (LinkEvent) -> Void
    private let receive: (InboundMessage) -> Void
    private var random: AnyRandom
    private(set) var life: LinkLife
    private(set) var known = Known()
    private(set) var statistics = LinkStatistics()
    private var backfill: TokenBucket
    /// Filters that a session may still have from options before.
    private var staleFilters: [String] = []
    private var events: [MQTTEvent] = []
    private var scratch: [UInt8] = []

    init(
        options: LinkOptions, store: SharedStore, transport: any Transport, random: AnyRandom,
        report: @escaping (LinkEvent) -> Void, receive: @escaping (InboundMessage) -> Void = { _ in }
    ) {
        self.store = store
        self.transport = transport
        self.random = random
        self.report = report
        self.receive = receive
        backfill = TokenBucket(perSecond: options.backfillPerSecond)
        life = LinkLife(LinkLife.Change(options, number: 0))
    }

    var options: LinkOptions { life.options }

    /// Session of the present connection; a change without a connection is lost.
    var session: Session { life.session }

    /// Time of the next step that is due even if nothing happens (ns).
    var deadline: UInt64? { life.isSteady ? earliest(life.deadline, known.watch.deadline) : life.deadline }

    /// Numbers rise with each connection and, for all that come after it, with each change.
    static func connectionNumber(change: UInt64, connects: UInt64) -> UInt64 { change << 32 | connects & 0xffff_ffff }

    var connection: UInt64 { Self.connectionNumber(change: life.current.number, connects: statistics.connects) }

    /// Does all that can be done now; to be called after anything that may have changed something.
    func step(now: UInt64) {
        takeEvents(now)
        handle(.timer, now: now)
        takeEvents(now)
        watchTrial(now)
        if life.isSteady {
            watchSubscriptions(now)
            sayAgain(now)
        }
        pump(now)
        handle(
            .settled(isIdle: life.isDraining && isIdle, isWriting: transport.wantsWrite, line: transport.line), now: now
        )
        if life.isSteady {
            watchInbound(now)
            reconsider(now)
        }
        known.duplicates.look(now: now)
        known.watch.look(now: now)
        updateStatistics(now)
    }

    func handle(_ event: LinkLife.Event, now: UInt64) {
        for action in life.handle(event, now: now, using: &random) { perform(action, now) }
    }

    func takeEvents(_ now: UInt64) {
        var taken: [MQTTEvent] = []
        swap(&taken, &events)
        transport.takeEvents(into: &taken)
        // Events that come while these are handled stay with the transport until the next call.
        for event in taken { handle(.transport(event), now: now) }
        taken.removeAll(keepingCapacity: true)
        events = taken
    }

    // MARK: actions

    private func perform(_ action: LinkLife.Action, _ now: UInt64) {
        switch action {
        case .connect(let attempt): connect(attempt, now)
        case .abandon: transport.abandon()
        case .decline:
            // In order, so that nobody hears the last will.
            transport.disconnect(keepsWill: false)
            transport.abandon()
        case .announce: announce(now)
        case .ended(let session, let loss): ended(session, loss, now)
        case .failed(let address, let reason, let code):
            statistics.failedAttempts += 1
            if ConnackCode.isAboutCredentials(code) {
                statistics.credentialRefusals += 1
                statistics.isRefused = true
                (statistics.lastCredentialRefusal, statistics.clientID) = (reason, options.connection.clientID)
            }
            reportDown(address, code == 0 ? reason : "refused by the broker: \(reason)", now)
        case .fallBack(let address, let isRefused):
            if isRefused { statistics.failedAttempts += 1 }
            report(.fallingBack(address))
        case .sayOffline: sayOffline(now)
        case .disconnect(let keepsWill):
            transport.disconnect(keepsWill: keepsWill)
            if !transport.wantsWrite { handle(.written, now: now) }
        case .takeUp(let old): takeUp(from: old.options, now)
        case .move(let old, let wasSaid): move(from: old.options, wasSaid: wasSaid, now)
        case .finished(let id, let reason): finished(id, reason, now)
        case .subscribed(let id, let code): subscribed(id, code, now)
        case .received(let message): received(message, now)
        }
    }

    private func connect(_ attempt: LinkLife.Attempt, _ now: UInt64) {
        report(.connecting(attempt.address))
        if let reason = transport.open(broker: attempt.broker, as: attempt.form) ?? transport.connect() {
            handle(.transport(.lost(reason: reason)), now: now)
        }
    }

    private func reportDown(_ broker: BrokerAddress, _ reason: String, _ now: UInt64) {
        let until = if case .waiting(let until) = life.state { until } else { now }
        report(.disconnected(broker, reason: reason, retryIn: Double(until - min(until, now)) / 1e9))
    }

    private func announce(_ now: UInt64) {
        statistics.connects += 1
        statistics.connections = connection
        statistics.isRefused = false
        let (retains, hasQoS1) = (session.limits.retainAvailable, session.limits.maximumQoS > 0)
        statistics.lacks =
            retains && hasQoS1
            ? nil : .init(retained: !retains, qos1: !hasQoS1, isSaid: session.version == .v5)
        report(.connected(session.address, session.version))
        known.hasAnnounced = true
        let broker = session.broker
        let isKnown = known.servedBroker == broker
        known.servedBroker = broker
        if isKnown { known.refusals.connected(now: now) } else { known.refusals.retryAll(now: now) }
        offerWhatWasTooLarge()
        known.duplicates.connected(now: now)
        beginInbound(now)
        let (header, presence) = (presenceHeader, options.presence)
        store.withLock { store in
            var text = presence.online
            text.withUTF8 { bytes in _ = store.retained.set(header, UnsafeRawBufferPointer(bytes)) }
            store.retained.sendAllAgain(isKnown: isKnown)
            store.queue.hasNews = true
        }
    }

    /// Offers messages again that were too large and may fit now.
    private func offerWhatWasTooLarge() {
        statistics.packetLimit = packetLimit
        guard let limit = known.tooLargeLimit, packetLimit ?? .max > limit else { return }
        known.tooLargeLimit = nil
        store.withLock { $0.offerAgain() }
    }

    private var presenceHeader: PublicationHeader {
        PublicationHeader(
            topic: options.presence.topic, qos: 1, retain: true, contentType: .text, priority: .essential)
    }

    private func sayOffline(_ now: UInt64) {
        var text = options.presence.offline
        let header = fitted(presenceHeader)
        let outcome = text.withUTF8 { transport.publish(header, UnsafeRawBufferPointer($0)) }
        let id: Int32? = if case .taken(let id) = outcome { id } else { nil }
        handle(.offline(id: id), now: now)
        takeEvents(now)
    }

    // MARK: other options

    /// They need no other connection, or are for the next.
    private func takeUp(from old: LinkOptions, _ now: UInt64) {
        if options.backfillPerSecond != old.backfillPerSecond {
            backfill = TokenBucket(perSecond: options.backfillPerSecond)
        }
        if options.connection.mqtt.maximumPacket != old.connection.mqtt.maximumPacket { offerWhatWasTooLarge() }
        known.refusals.retryAll(now: now)
        let (change, trial) = (life.current.number, options.trial)
        store.withLock {
            $0.retained.release(change: change)
            $0.queue.trial = trial
        }
        // A connection that stays is as good as a new one: its options are the same.
        if statistics.connections > 0, life.isUp { statistics.connections = connection }
    }

    /// Forgets what was known of the former brokers, and moves to the new ones.
    private func move(from old: LinkOptions, wasSaid: Bool, _ now: UInt64) {
        let (new, isSameBroker) = (options, old.connection.brokers == options.connection.brokers)
        transport.abandon()
        transport.change(to: new)
        staleFilters += old.filters(.v5) + known.checkFilters
        // The last will may never be published when we come back in time.
        let isFarewell = isSameBroker && known.hasAnnounced && !wasSaid && old.presence.topic != new.presence.topic
        known = Known(servedBroker: isSameBroker ? known.servedBroker : nil)
        statistics.forgetRights()
        store.withLock { store in
            store.retained.forgetFarewells(all: !isSameBroker)
            if isFarewell { store.retained.addFarewell(to: old.presence.topic, Array(old.presence.offline.utf8)) }
            _ = store.retained.reopen { _ in true }
            _ = store.queue.recallAside { _ in true }
            store.offerAgain()
        }
        takeUp(from: old, now)
    }

    private func updateStatistics(_ now: UInt64) {
        statistics.connected = life.isUp
        statistics.version = life.isUp ? session.version : nil
        statistics.inFlight = session.inFlight.count
        statistics.duplicate = known.duplicates.finding
        statistics.overwritten = known.watch.finding
        if known.hasNewRefusals {
            known.hasNewRefusals = false
            noteRefusals()
        }
        let (dropped, replaced, messages, bytes, oldest, backfillWaiting, displaced, unkept) = store.withLock {
            (
                $0.queue.dropped, $0.retained.replaced,
                $0.queue.count + $0.queue.asideCount,
                $0.queue.bytes, $0.queue.oldest,
                $0.queue.lines[PublicationQueue.backfillLine].count, $0.queue.displaced, $0.queue.unkept.count
            )
        }
        statistics.backfillWaiting = backfillWaiting
        statistics.displaced = displaced
        statistics.unkept = unkept
        statistics.dropped = dropped
        statistics.replaced = replaced
        statistics.queueMessages = messages
        statistics.queueBytes = bytes
        statistics.oldest = oldest.map { Double(now - min(now, $0)) / 1e9 } ?? 0
    }
}

/// Sending: the order of messages, and their outcomes.
extension LinkCore {
    private var window: Int {
        known.suspicion.oneAtATime
            ? 1 : min(session.limits.receiveMaximum ?? Self.defaultWindow, MosquittoTransport.sendMaximum)
    }

    /// True when no message that may leave waits, and none is on its way.
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
        // The older ones of its topic are tried first.
        if let entry = objection, recallOlder(than: ticket, of: entry.name) { return true }
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
    private func fitted(_ header: PublicationHeader) -> PublicationHeader {
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
        let own = options.connection.mqtt.maximumPacket > 0 ? options.connection.mqtt.maximumPacket : nil
        return [own, session.limits.maximumPacketSize].compactMap { $0 }.min()
    }

    /// Bytes of the PUBLISH packet, never less than they are.
    static func packetSize(_ header: PublicationHeader, payload: Int) -> Int {
        let correlation = header.correlation.map { 3 + $0.count } ?? 0
        let properties = 5 + 3 + header.contentType.rawValue.utf8.count + (header.isHistory ? 10 : 0) + correlation
        return 1 + 4 + 2 + header.topic.utf8.count + 2 + 2 + properties + payload
    }
}

/// Messages from the broker: subscriptions, messages, and the self-check that uses both.
extension LinkCore {
    /// How long a broker may take to answer a subscription (ns).
    static let subscriptionPatience: UInt64 = 10_000_000_000
    /// A refused subscription is asked again after this time, then after twice as long each time, up to the longest (ns):
    /// rights change, and a cluster without a leader refuses what it will grant.
    static let subscriptionPause: UInt64 = 10_000_000_000
    static let longestSubscriptionPause: UInt64 = 600_000_000_000

    /// To be called when a connection has come up.
    private func beginInbound(_ now: UInt64) {
        let (broker, hasSession) = (session.broker, session.limits.sessionPresent)
        if !hasSession || known.subscribedBroker != broker { known.subscribedBroker = nil }
        if hasSession {
            for filter in staleFilters where !filters.contains(filter) { transport.unsubscribe(filter) }
        }
        staleFilters.removeAll()
        // First of all, before anything that this run says can be on its way.
        beginReadBack(now)
        statistics.selfCheck = []
        statistics.refusedSubscriptions = []
        if known.subscribedBroker == nil {
            // (What is read back is watched when that is over: the same filter has one subscription.)
            let readBack = session.readBack?.topics ?? []
            for filter in filters where !readBack.contains(filter) { subscribe(filter, for: .messages, now) }
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

    /// All that is subscribed to in this connection.
    private var filters: [String] { options.filters(session.version) }

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
        session.refused.removeAll { !filters.contains($0.filter) }
        for index in session.refused.indices where now >= session.refused[index].at {
            session.refused[index].at = now + Self.subscriptionPatience + session.refused[index].pause
            subscribe(session.refused[index].filter, for: .messages, now)
        }
    }

    func received(_ message: InboundMessage, _ now: UInt64) {
        statistics.received += 1
        if message.isTooLarge { statistics.receivedTooLarge += 1 }
        let isWatched = look(at: message, now)
        if options.readBack.contains(message.topic) {
            // (Nothing of what else may be read follows from it, for the self-check.)
            _ = session.readBack?.takes(message, now: now)
            return lookAtReadBack(now)
        }
        if session.selfCheck?.takes(message) == true {
            if let check = session.selfCheck, check.isForeign, known.hasSaidIdentity, message.isRetained,
                message.topic == options.selfCheck?.identityTopic
            {
                known.duplicates.foreignWords(now: now)
            }
            // It came back: there is nothing to wait for.
            if session.trial?.topic == message.topic, !message.isRetained { session.trial?.isProven = true }
            return lookAtCheck(now)
        }
        guard !isWatched else { return }
        var message = message
        message.connection = connection
        receive(message)
    }

    /// Deadlines before anything is sent: answers to subscriptions, and values that are read back.
    private func watchSubscriptions(_ now: UInt64) {
        while let index = session.pending.firstIndex(where: { now >= $0.deadline }) {
            let subscription = session.pending.remove(at: index)
            subscriptionFailed(subscription.filter, subscription.purpose, .unanswered, now)
        }
        if session.readBack != nil {
            session.readBack?.look(now: now, isBusy: transport.wantsWrite || (transport.line?.waiting ?? 0) > 0)
            lookAtReadBack(now)
        }
    }

    /// Deadlines behind that: subscriptions that are asked for again, and the end of the self-check.
    private func watchInbound(_ now: UInt64) {
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

/// Values of a run before this one that a broker retains (`ReadBack`).
extension LinkCore {
    /// To be called when a connection has come up, before anything is sent.
    private func beginReadBack(_ now: UInt64) {
        guard !options.readBack.isEmpty, !known.readBack.contains(session.broker) else { return }
        session.readBack = ReadBack(options.readBack, now: now)
        hold(options.readBack)
        for topic in options.readBack { subscribe(topic, for: .readBack, now) }
    }

    private func lookAtReadBack(_ now: UInt64) {
        guard let readBack = session.readBack, !readBack.isHolding else { return }
        known.readBack.insert(session.broker)
        hold([])
        for value in session.readBack?.takeValues() ?? [] where value.size > 0 { report(.readBack(value)) }
        guard case .over(let isReadable) = readBack.state else { return }
        session.readBack = nil
        statistics.canReadBack = isReadable
        if !isReadable { report(.cannotReadBack(readBack.topics)) }
        for topic in readBack.topics {
            if filters.contains(topic) {
                subscribe(topic, for: .messages, now)
            } else {
                transport.unsubscribe(topic)
            }
        }
    }

    /// The connection ends while values are read back.
    private func stopReadBack() {
        guard let readBack = session.readBack else { return }
        hold([])
        staleFilters += readBack.topics
    }

    private func hold(_ topics: [String]) { store.withLock { $0.retained.held = topics } }
}

/// Messages of others on retained topics of ours (`RetainedWatch`).
extension LinkCore {
    /// True when the message is on one of our own topics.
    private func look(at message: InboundMessage, _ now: UInt64) -> Bool {
        let whole = session.version == .v5 ? options.watchedWhole.first { $0 == message.topic } : nil
        guard let filter = whole ?? options.watched.first(where: { $0.takes(message.topic) }) else { return false }
        // Home Assistant empties the topic of a device that somebody deletes there.
        if whole != nil, message.payload.isEmpty, !message.topic.isBelow(options.base) { return true }
        // With a subscription come values of before (only 5 tells live ones that are retained): all is said anew anyway.
        guard life.isSteady, session.version == .v5 || !message.isRetained,
            session.readBack?.topics.contains(message.topic) != true
        else { return true }
        let isOurs: Bool? = store.withLock { store in
            let own = store.retained.value(of: message.topic)
            // Of a family that is known as a whole, what we have never said is not ours.
            guard own != nil || filter != message.topic else { return nil }
            return !message.isTooLarge && message.payload == own ?? []
        }
        guard let isOurs else { return true }
        let isPresence = message.topic == options.presence.topic
        known.watch.heard(message.topic, isOurs: isOurs, isPresence: isPresence, now: now)
        guard let wanted = options.selfCheck, message.topic == wanted.identityTopic, !isOurs, !message.isTooLarge,
            !message.payload.isEmpty, !message.payload.contains(wanted.identity)
        else { return true }
        known.duplicates.foreignWords(now: now)
        return true
    }

    private func sayAgain(_ now: UInt64) {
        guard let due = known.watch.deadline, now >= due else { return }
        let topics = known.watch.takeDue(now: now)
        store.withLock { store in
            for topic in topics { store.retained.sayAgain(topic) }
            store.queue.hasNews = true
        }
        for topic in topics { report(.overwritten(topic: topic)) }
    }
}

/// The self-check (`SelfCheck`): what is sent for it, and what follows from what it finds.
extension LinkCore {
    private func publishCommandProbe(_ topic: String) {
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
    private func sendProbe(_ now: UInt64) -> Bool {
        guard let topic = session.selfCheck?.nextProbe, known.refusals.entry(topic) == nil else { return false }
        return publishProbe(topic, now)
    }

    /// The same of one whose pause is over.
    private func sendProbe(of entry: Refusals.Entry, _ now: UInt64) -> Bool {
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
    private func probeBroke(_ topic: String, _ check: SelfCheck?, _ now: UInt64) {
        known.refusals.refused(topic, topic: topic, reason: 135, isTrial: true, now: now)
        known.refusals.hungUp(topic, topic: topic, now: now)
        if let filter = check?.filter(ofProbe: topic), !known.deniedFilters.contains(filter) {
            known.deniedFilters.append(filter)
        }
    }

    /// Outcome of a message that the broker has acknowledged. With 3.1.1 an acknowledgement proves nothing.
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
    private func awaitsCheck(_ now: UInt64) -> Bool {
        guard session.version == .v311, !known.hasChecked, let wanted = options.selfCheck, !wanted.probes.isEmpty else {
            return false
        }
        return now < known.checkedUntil ?? .max
    }

    /// Ends the self-check when all is known. What is denied stays subscribed to: it may come back one day.
    private func lookAtCheck(_ now: UInt64) {
        guard let check = session.selfCheck, check.isOver, statistics.selfCheck != check.findings else { return }
        let denied = check.findings.filter { $0.subject == .writing && $0.outcome == .denied }.map(\.topic)
        for filter in check.filters where !filters.contains(filter) && !denied.contains(filter) {
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

    /// Publishes the held topics for status and keeper.
    private func noteRefusals() {
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

/// Messages that were on their way when a connection ended.
extension LinkCore {
    func ended(_ session: Session, _ loss: Loss, _ now: UInt64) {
        if loss.isHalfOpen { statistics.halfOpen += 1 }
        statistics.lostInFlight += UInt64(session.unwritten)
        known.checkFilters = session.selfCheck?.filters ?? []
        stopReadBack()
        known.watch.disconnected()
        let lastSent = max(session.lastAcknowledged?.at ?? 0, session.lastUnacknowledged?.at ?? 0)
        let wasWell =
            session.isQuiet && session.trial == nil && session.lastRefusal == nil && session.lastAcknowledged != nil
        known.duplicates.lost(
            byPeer: loss.byPeer, code: loss.code, wasWell: wasWell, idle: now - min(now, lastSent), now: now)
        // Who takes our place is no fault of a message.
        let isExpected = judge(session, byPeer: loss.byPeer && loss.code != DuplicateWatch.takenOver, now)
        let pause = known.duplicates.nextPause(longest: 5 * options.longestPause, using: &random)
        store.withLock { store in
            for message in session.inFlight.reversed() { store.putBack(message.ticket) }
            store.queue.hasNews = true
        }
        if isExpected || pause != nil { handle(.judged(isExpected: isExpected, pause: pause), now: now) }
        if let reason = loss.reason { reportDown(session.address, reason, now) }
    }

    /// Looks for the message that a connection ended over.
    /// - Returns: true when the end was expected.
    private func judge(_ session: Session, byPeer: Bool, _ now: UInt64) -> Bool {
        if let trial = session.trial { return trialBroke(trial, session, byPeer: byPeer, now) }
        if byPeer, let refusal = session.lastRefusal, now - refusal.at < 4 * Suspicion.quiet {
            // It has said no and hangs up.
            known.refusals.hungUp(
                name(of: refusal.topic, isRetained: refusal.isRetained), topic: refusal.topic, now: now)
            return true
        }
        let last = [session.version == .v311 ? session.lastAcknowledged : nil, session.lastUnacknowledged]
            .compactMap { $0 }.filter { now - $0.at < Suspicion.quiet }
        let isBusy = !session.inFlight.isEmpty || !last.isEmpty
        guard known.suspicion.broke(byPeer: byPeer, isBusy: isBusy, age: now - min(now, session.since)) else {
            return false
        }
        for (topic, isRetained) in last.map({ ($0.topic, $0.isRetained) })
            + session.inFlight.map({ ($0.topic, $0.isRetained) })
        {
            known.refusals.suspect(
                name(of: topic, isRetained: isRetained), topic: topic,
                isPatient: !isRetained || topic == options.presence.topic, now: now)
        }
        return false
    }

    /// All has been acknowledged a while ago: messages need not go one at a time any more. Looked at in every step, of
    /// which there is one a second at least.
    private func reconsider(_ now: UInt64) {
        guard session.trial == nil, session.isQuiet,
            now - min(now, max(session.since, session.lastAcknowledged?.at ?? 0)) >= Suspicion.quiet,
            store.withLock({ $0.isEmpty })
        else { return }
        known.suspicion.rested()
    }
}

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

    /// Reason against a message that is about to leave.
    private func objection(to header: PublicationHeader) -> Refusals.Entry? {
        known.refusals.entries.isEmpty
            ? nil : known.refusals.entry(name(of: header.topic, isRetained: header.retain))
    }

    /// True when no other message is on its way, and the pause is over.
    private func mayTry(_ entry: Refusals.Entry, _ now: UInt64) -> Bool {
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

    /// Older messages of its class were set aside: they are the next again, and this one behind them. False: there are none.
    private func recallOlder(than ticket: OutgoingStore.Ticket, of name: String) -> Bool {
        guard case .queued(let index) = ticket else { return false }
        let base = options.base
        return store.withLock { store in
            let isOfClass = { TopicClass.name(of: $0, base: base, isRetained: false) == name }
            guard store.queue.overtakes(index, where: isOfClass) else { return false }
            store.queue.putBack(index)
            return store.queue.recallAside(where: isOfClass)
        }
    }

    /// Tries a refused message if its time has come and nothing else waits. Returns true when there is more to send.
    private func beginTrial(_ now: UInt64) -> Bool {
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
    private func trialFinished(_ id: Int32, _ reason: Int, _ now: UInt64) -> Bool {
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

    private func watchTrial(_ now: UInt64) {
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
    private func trialBroke(_ trial: Session.Trial, _ session: Session, byPeer: Bool, _ now: UInt64) -> Bool {
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
