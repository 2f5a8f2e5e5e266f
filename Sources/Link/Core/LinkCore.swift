import Messages

/// The link without its thread: brings the state machine, the store and a transport together. Driven by calls to
/// `step` with the time; not safe to share, owned by one thread.
final class LinkCore {
    /// QoS 1 messages without acknowledgement when the broker names no number, and QoS 0 messages not yet written.
    static let defaultWindow = 20
    /// Bytes of back-fill without acknowledgement, when it is more than one message.
    static let backfillInFlightBytes = 64 << 10

    struct InFlight {
        var id: Int32
        var ticket: OutgoingStore.Ticket
        var topic: String
        /// Bytes of payload when it is back-fill, else 0; an empty one counts as one.
        var backfillBytes = 0

        var isRetained: Bool { if case .retained = ticket { true } else { false } }
    }

    enum Stopping: Equatable {
        case no
        /// What waits is sent until then (ns); the whole stop must be over at `end`.
        case draining(until: UInt64, end: UInt64)
        /// `offline` was handed over with this number.
        case farewell(id: Int32, end: UInt64)
        /// DISCONNECT is on its way.
        case leaving(end: UInt64)
        case done
    }

    var options: LinkOptions
    let store: SharedStore
    let transport: any Transport
    let report: (LinkEvent) -> Void
    let receive: (InboundMessage) -> Void
    var random: AnyRandom
    var machine: ConnectionStateMachine
    var statistics = LinkStatistics()

    var limits = BrokerLimits()
    var openBroker: Int?
    /// The one of the last connection.
    var servedBroker: Int?
    /// Of the present or last attempt.
    var version: LinkOptions.ProtocolVersion
    var protocols: ProtocolChoice
    var watch: ConnectionWatch
    var inFlight: [InFlight] = []
    var unwritten = 0
    var suspicion = Suspicion()
    /// What the broker refuses, over connections.
    var refusals = Refusals() { didSet { hasNewRefusals = true } }
    private var hasNewRefusals = false
    /// A message that goes alone.
    var trial: Trial?
    /// Of this connection: the last message that was refused, acknowledged, or written without acknowledgement.
    var lastRefusal: LastSent?
    var lastAcknowledged: LastSent?
    var lastUnacknowledged: LastSent?
    /// The largest packet that a broker took when something was too large for it.
    var tooLargeLimit: Int?
    /// Another station has our name.
    var duplicates = DuplicateWatch()
    var stopping = Stopping.no
    /// A good-bye before other options are taken up.
    var departure: Departure?
    /// Of the options in use.
    var change: UInt64 = 0
    /// A broker has heard `online` with the options in use.
    var hasAnnounced = false
    /// Filters that a session may still have from options before.
    var staleFilters: [String] = []
    var events: [TransportEvent] = []
    var scratch: [UInt8] = []
    var backfill: TokenBucket
    var backfillInFlight = (count: 0, bytes: 0)
    /// Subscriptions that are not answered yet.
    var pending: [Subscription] = []
    /// The broker has granted all that was asked for, in this session.
    var isSubscribed = false
    var selfCheck: SelfCheck?
    /// Number of the self-check's message while it is on its way.
    var probeID: Int32?
    /// Filters of our topics that the broker throws away in silence (3.1.1), until it is seen that it does not.
    var deniedFilters: [String] = []
    /// Whether there was a self-check with this broker, and when it is not waited for any more (ns).
    var hasChecked = false
    var checkedUntil: UInt64?
    /// When empty messages were sent last (ns).
    var probedAt: UInt64?
    /// The broker had what only we say on our topic.
    var hasSaidIdentity = false
    /// Of the present step (ns).
    var clock: UInt64 = 0
    /// When something that waits may leave though nothing else happens (ns).
    var sendableAt: UInt64?

    init(
        options: LinkOptions, store: SharedStore, transport: any Transport, random: AnyRandom,
        report: @escaping (LinkEvent) -> Void, receive: @escaping (InboundMessage) -> Void = { _ in }
    ) {
        self.options = options
        self.store = store
        self.transport = transport
        self.random = random
        self.report = report
        self.receive = receive
        backfill = TokenBucket(perSecond: options.backfillPerSecond)
        version = options.version
        protocols = ProtocolChoice(options)
        watch = ConnectionWatch(patience: Self.nanoseconds(options.ackTimeout))
        machine = ConnectionStateMachine(brokerCount: options.brokers.count, timing: Self.timing(options))
    }

    static func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(max(0, min(seconds, 1e9)) * 1e9) }

    static func timing(_ options: LinkOptions) -> ConnectionStateMachine.Timing {
        .init(
            base: max(10_000_000, nanoseconds(options.reconnectMinimum)), cap: nanoseconds(options.reconnectMaximum),
            connectTimeout: nanoseconds(options.connectTimeout))
    }

    /// Time of the next step that is due even if nothing happens (ns).
    var deadline: UInt64? {
        switch stopping {
        case .no:
            earliest(
                earliest(departureDeadline, earliest(machine.deadline, sendableAt)),
                machine.isUp ? earliest(watch.deadline, earliest(inboundDeadline, trial?.passesAt)) : nil)
        case .draining(let until, _): earliest(until, earliest(machine.deadline, earliest(sendableAt, trial?.passesAt)))
        case .farewell(_, let end), .leaving(let end): end
        case .done: nil
        }
    }

    func earliest(_ a: UInt64?, _ b: UInt64?) -> UInt64? {
        guard let a, let b else { return a ?? b }
        return min(a, b)
    }

    /// True once an orderly stop is over.
    var isFinished: Bool { stopping == .done }

    /// Does all that can be done now; to be called after anything that may have changed something.
    func step(now: UInt64) {
        clock = now
        if machine.state == .idle, stopping == .no { feed(.start, now: now) }
        handleEvents(now)
        feed(.timer, now: now)
        handleEvents(now)
        watchTrial(now)
        pump(now)
        watchConnection(now)
        if machine.isUp { watchInbound(now) }
        reconsider(now)
        duplicates.look(now: now)
        proceedDeparture(now)
        proceedStop(now)
        updateStatistics(now)
    }

    /// Begins the orderly stop: what waits is sent while time allows, then `offline`, then DISCONNECT.
    func stop(now: UInt64, within nanoseconds: UInt64) {
        guard stopping == .no else { return }
        // The last tenth is kept for the farewell.
        stopping = .draining(until: now + nanoseconds / 10 * 9, end: now + nanoseconds)
    }

    // MARK: the connection

    func feed(_ event: ConnectionStateMachine.Event, now: UInt64) {
        switch machine.handle(event, now: now, using: &random) {
        case .connect(let broker): connect(broker, now)
        case .abandon:
            transport.abandon()
            if case .timer = event {
                statistics.failedAttempts += 1
                reportDown("no CONNACK within \(Int(options.connectTimeout)) s", now)
            }
        case .announce: announce(now)
        case .disconnect: transport.disconnect(keepsWill: false)
        case nil: break
        }
    }

    func connect(_ broker: Int, _ now: UInt64) {
        attempted = broker
        report(.connecting(options.brokers[broker]))
        let wanted = protocols.version(for: broker, now: now)
        if openBroker != broker || version != wanted { isSubscribed = false }
        // A new connection begins without the limits of the old one, and with nothing on its way.
        recallInFlight()
        openBroker = nil
        version = wanted
        if let reason = transport.open(broker: broker, version: wanted) { return attemptFailed(reason, now) }
        openBroker = broker
        if let reason = transport.connect() { attemptFailed(reason, now) }
    }

    var attempted = 0

    func attemptFailed(_ reason: String, _ now: UInt64) {
        statistics.failedAttempts += 1
        feed(.failed, now: now)
        reportDown(reason, now)
    }

    func reportDown(_ reason: String, _ now: UInt64) {
        guard case .down(let until) = machine.state else { return }
        report(
            .disconnected(
                options.brokers[attempted], reason: reason, retryIn: Double(until - min(until, now)) / 1e9))
    }

    func handleEvents(_ now: UInt64) {
        transport.takeEvents(into: &events)
        // Events that come while these are handled stay with the transport until the next call.
        for index in events.indices { handle(events[index], now) }
        events.removeAll(keepingCapacity: true)
    }

    func handle(_ event: TransportEvent, _ now: UInt64) {
        switch event {
        case .connected(let limits):
            self.limits = limits
            protocols.accepted(attempted, version, now: now)
            watch.begin(now: now, keepalive: limits.serverKeepalive ?? options.keepalive)
            feed(.accepted, now: now)
        case .refused(let code, let reason):
            guard case .connecting = machine.state else { return }
            statistics.failedAttempts += 1
            if protocols.refused(attempted, version, code: code) {
                report(.fallingBack(options.brokers[attempted]))
                return feed(.again, now: now)
            }
            if ConnectionStateMachine.Refusal.isAboutCredentials(code) {
                statistics.credentialRefusals += 1
                statistics.isRefused = true
                statistics.lastCredentialRefusal = "\(reason) (\(code))"
            }
            feed(.refused(.init(code: code)), now: now)
            reportDown("refused by the broker: \(reason) (\(code))", now)
        case .lost(let reason, let byPeer, let code):
            switch machine.state {
            case .up: connectionLost(reason, byPeer: byPeer, code: code, now)
            case .connecting:
                if byPeer, protocols.hungUp(attempted, version) { report(.fallingBack(options.brokers[attempted])) }
                attemptFailed(reason, now)
            case .idle, .down, .stopped: break
            }
        case .subscribed(let id, let code): subscribed(id, code, now)
        case .message(let message): received(message, now)
        case .heard: watch.heard(now: now)
        case .finished(let id, let reason): finished(id, reason, now)
        }
    }

    func announce(_ now: UInt64) {
        statistics.connects += 1
        statistics.connections = connection
        hasAnnounced = true
        statistics.isRefused = false
        report(.connected(options.brokers[attempted], version))
        if servedBroker == attempted { refusals.connected(now: now) } else { refusals.retryAll(now: now) }
        if let limit = tooLargeLimit, limits.maximumPacketSize ?? .max > limit {
            tooLargeLimit = nil
            store.withLock { $0.offerAgain() }
        }
        duplicates.connected(now: now)
        beginInbound(now)
        let presence = options.presence
        store.withLock { store in
            if stopping == .no {
                var text = presence.online
                text.withUTF8 { bytes in
                    _ = store.retained.set(presenceHeader, UnsafeRawBufferPointer(bytes))
                }
            }
            store.retained.sendAllAgain(isKnown: servedBroker == attempted)
            store.queue.hasNews = true
        }
        servedBroker = attempted
    }

    var presenceHeader: PublicationHeader {
        PublicationHeader(
            topic: options.presence.topic, qos: 1, retain: true, contentType: .text, priority: .essential)
    }

    /// Gives a connection up that is none any more. What was not acknowledged is sent again in the next.
    func watchConnection(_ now: UInt64) {
        guard machine.isUp else { return }
        watch.look(
            now: now, isWaiting: !inFlight.isEmpty || trial.map { $0.isProbe && $0.passesAt == nil } == true,
            isWriting: transport.wantsWrite, line: transport.line)
        guard stopping == .no, let verdict = watch.verdict(now: now) else { return }
        statistics.halfOpen += 1
        transport.abandon()
        switch verdict {
        case .silent: connectionLost("nothing has come from the broker for 1.5 times the keepalive", byPeer: false, now)
        case .unacknowledged:
            connectionLost("the broker acknowledges nothing for \(Int(options.ackTimeout)) s", byPeer: false, now)
        }
    }

    func connectionLost(_ reason: String, byPeer: Bool, code: Int = 0, _ now: UInt64) {
        let isQuiet = inFlight.isEmpty && unwritten == 0 && trial == nil && lastRefusal == nil
        duplicates.lost(
            byPeer: byPeer, code: code, wasWell: isQuiet && lastAcknowledged != nil,
            idle: now - min(now, max(lastAcknowledged?.at ?? 0, lastUnacknowledged?.at ?? 0)), now: now)
        // Who takes our place is no fault of a message.
        noteBreak(byPeer: byPeer && code != DuplicateWatch.takenOver, now)
        feed(.lost, now: now)
        if let pause = duplicates.nextPause(longest: 5 * Self.timing(options).cap, using: &random) {
            machine.postpone(until: now + pause)
        }
        reportDown(reason, now)
    }

    /// When the present connection came up (ns).
    var upSince: UInt64 { if case .up(let since) = machine.state { since } else { 0 } }

    /// Takes back the messages that were not acknowledged, which the transport is about to forget.
    func recallInFlight() {
        store.withLock { store in
            for message in inFlight.reversed() { store.putBack(message.ticket) }
        }
        inFlight.removeAll(keepingCapacity: true)
        backfillInFlight = (0, 0)
        unwritten = 0
    }

    @discardableResult
    func remove(inFlightAt index: Int) -> InFlight {
        let message = inFlight.remove(at: index)
        if message.backfillBytes > 0 {
            backfillInFlight.count -= 1
            backfillInFlight.bytes -= message.backfillBytes
        }
        return message
    }

    func updateStatistics(_ now: UInt64) {
        statistics.connected = machine.isUp
        statistics.version = machine.isUp ? version : nil
        statistics.inFlight = inFlight.count
        statistics.duplicate = duplicates.finding
        if hasNewRefusals {
            hasNewRefusals = false
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
