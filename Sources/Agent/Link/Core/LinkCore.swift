import Messages

/// The link without its thread: carries out what its life (`LinkLife`) decides, with the store and a transport. Driven by
/// events and by calls to `step` with the time; not safe to share, owned by one thread.
final class LinkCore {
    /// QoS 1 messages without acknowledgement when the broker names no number, and QoS 0 messages not yet written.
    static let defaultWindow = 20
    /// Bytes of back-fill without acknowledgement, when it is more than one message.
    static let backfillInFlightBytes = 64 << 10

    /// What is known of the brokers and outlives a connection, until there are other ones.
    struct Known {
        /// What the broker refuses.
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
        /// What its session has of the self-check.
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
        /// Brokers that have been asked what they retain of a run before this one.
        var readBack: Set<Int> = []
    }

    let store: SharedStore
    let transport: any Transport
    let report: (LinkEvent) -> Void
    let receive: (InboundMessage) -> Void
    var random: AnyRandom
    var life: LinkLife
    var known = Known()
    var statistics = LinkStatistics()
    var backfill: TokenBucket
    /// Filters that a session may still have from options before.
    var staleFilters: [String] = []
    private var events: [TransportEvent] = []
    var scratch: [UInt8] = []

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

    /// Of the connection that there is; what is changed without one is lost.
    var session: Session { life.session }

    /// Time of the next step that is due even if nothing happens (ns).
    var deadline: UInt64? { life.deadline }

    /// Numbers rise with each connection and, for all that come after it, with each change.
    static func connectionNumber(change: UInt64, connects: UInt64) -> UInt64 { change << 32 | connects & 0xffff_ffff }

    var connection: UInt64 { Self.connectionNumber(change: life.current.number, connects: statistics.connects) }

    /// Does all that can be done now; to be called after anything that may have changed something.
    func step(now: UInt64) {
        takeEvents(now)
        handle(.timer, now: now)
        takeEvents(now)
        watchTrial(now)
        if life.isSteady { watchSubscriptions(now) }
        pump(now)
        handle(
            .settled(isIdle: life.isDraining && isIdle, isWriting: transport.wantsWrite, line: transport.line), now: now
        )
        if life.isSteady {
            watchInbound(now)
            reconsider(now)
        }
        known.duplicates.look(now: now)
        updateStatistics(now)
    }

    func handle(_ event: LinkLife.Event, now: UInt64) {
        for action in life.handle(event, now: now, using: &random) { perform(action, now) }
    }

    func takeEvents(_ now: UInt64) {
        var taken: [TransportEvent] = []
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
        case .announce: announce(now)
        case .ended(let session, let loss): ended(session, loss, now)
        case .failed(let address, let reason, let code):
            statistics.failedAttempts += 1
            if Refusal.isAboutCredentials(code) {
                statistics.credentialRefusals += 1
                statistics.isRefused = true
                statistics.lastCredentialRefusal = reason
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
        if let reason = transport.open(broker: attempt.broker, version: attempt.version) ?? transport.connect() {
            handle(.transport(.lost(reason: reason)), now: now)
        }
    }

    func reportDown(_ broker: BrokerAddress, _ reason: String, _ now: UInt64) {
        let until = if case .waiting(let until) = life.state { until } else { now }
        report(.disconnected(broker, reason: reason, retryIn: Double(until - min(until, now)) / 1e9))
    }

    private func announce(_ now: UInt64) {
        statistics.connects += 1
        statistics.connections = connection
        statistics.isRefused = false
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

    /// What was too large may not be any more.
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
        if options.mqtt.maximumPacket != old.mqtt.maximumPacket { offerWhatWasTooLarge() }
        known.refusals.retryAll(now: now)
        let (change, trial) = (life.current.number, options.trial)
        store.withLock {
            $0.retained.release(change: change)
            $0.queue.trial = trial
        }
        // A connection that stays is as good as a new one: its options are the same.
        if statistics.connections > 0, life.isUp { statistics.connections = connection }
    }

    /// Everything that was known of the brokers is void.
    private func move(from old: LinkOptions, wasSaid: Bool, _ now: UInt64) {
        let (new, isSameBroker) = (options, old.brokers == options.brokers)
        transport.abandon()
        transport.change(to: new)
        staleFilters += old.filters + known.checkFilters
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
