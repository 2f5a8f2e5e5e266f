import Messages

/// The link without its thread: brings the state machine, the store and a transport together. Driven by calls to
/// `step` with the time; not safe to share, owned by one thread.
final class LinkCore {
    /// QoS 1 messages without acknowledgement when the broker names no number, and QoS 0 messages not yet written.
    static let defaultWindow = 20
    /// Connections in a row that may break without one acknowledgement before the oldest message is given up.
    static let patience = 3

    private struct InFlight {
        var id: Int32
        var ticket: OutgoingStore.Ticket
        var topic: String
    }

    private enum Stopping: Equatable {
        case no
        /// What waits is sent until then (ns); the whole stop must be over at `end`.
        case draining(until: UInt64, end: UInt64)
        /// `offline` was handed over with this number.
        case farewell(id: Int32, end: UInt64)
        /// DISCONNECT is on its way.
        case leaving(end: UInt64)
        case done
    }

    private let options: LinkOptions
    private let store: SharedStore
    private let transport: any Transport
    private let report: (LinkEvent) -> Void
    private var random: AnyRandom
    private(set) var machine: ConnectionStateMachine
    private(set) var statistics = LinkStatistics()

    private var limits = BrokerLimits()
    private var openBroker: Int?
    private var inFlight: [InFlight] = []
    private var unwritten = 0
    private var ackedInConnection = false
    private var fruitless = 0
    private var stopping = Stopping.no
    private var events: [TransportEvent] = []
    private var scratch: [UInt8] = []

    init(
        options: LinkOptions, store: SharedStore, transport: any Transport, random: AnyRandom,
        report: @escaping (LinkEvent) -> Void
    ) {
        self.options = options
        self.store = store
        self.transport = transport
        self.random = random
        self.report = report
        func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(max(0, min(seconds, 1e9)) * 1e9) }
        machine = ConnectionStateMachine(
            brokerCount: options.brokers.count,
            timing: .init(
                base: max(10_000_000, nanoseconds(options.reconnectMinimum)),
                cap: nanoseconds(options.reconnectMaximum), connectTimeout: nanoseconds(options.connectTimeout)))
    }

    /// Time of the next step that is due even if nothing happens (ns).
    var deadline: UInt64? {
        switch stopping {
        case .no: machine.deadline
        case .draining(let until, _): min(until, machine.deadline ?? until)
        case .farewell(_, let end), .leaving(let end): end
        case .done: nil
        }
    }

    /// True once an orderly stop is over.
    var isFinished: Bool { stopping == .done }

    /// Does all that can be done now; to be called after anything that may have changed something.
    func step(now: UInt64) {
        if machine.state == .idle, stopping == .no { feed(.start, now: now) }
        handleEvents(now)
        feed(.timer, now: now)
        handleEvents(now)
        pump(now)
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

    private func feed(_ event: ConnectionStateMachine.Event, now: UInt64) {
        switch machine.handle(event, now: now, using: &random) {
        case .connect(let broker): connect(broker, now)
        case .abandon:
            transport.abandon()
            if case .timer = event {
                statistics.failedAttempts += 1
                reportDown("no CONNACK within \(Int(options.connectTimeout)) s", now)
            }
        case .announce: announce()
        case .disconnect: transport.disconnect()
        case nil: break
        }
    }

    private func connect(_ broker: Int, _ now: UInt64) {
        attempted = broker
        report(.connecting(options.brokers[broker]))
        if openBroker != broker {
            recallInFlight()
            openBroker = nil
            if let reason = transport.open(broker: broker) { return attemptFailed(reason, now) }
            openBroker = broker
        }
        if let reason = transport.connect() { attemptFailed(reason, now) }
    }

    private var attempted = 0

    private func attemptFailed(_ reason: String, _ now: UInt64) {
        statistics.failedAttempts += 1
        feed(.failed, now: now)
        reportDown(reason, now)
    }

    private func reportDown(_ reason: String, _ now: UInt64) {
        guard case .down(let until) = machine.state else { return }
        report(
            .disconnected(
                options.brokers[attempted], reason: reason, retryIn: Double(until - min(until, now)) / 1e9))
    }

    private func handleEvents(_ now: UInt64) {
        transport.takeEvents(into: &events)
        // Events that come while these are handled stay with the transport until the next call.
        for index in events.indices { handle(events[index], now) }
        events.removeAll(keepingCapacity: true)
    }

    private func handle(_ event: TransportEvent, _ now: UInt64) {
        switch event {
        case .connected(let limits):
            self.limits = limits
            feed(.accepted, now: now)
        case .refused(let code, let reason):
            guard case .connecting = machine.state else { return }
            statistics.failedAttempts += 1
            feed(.refused(.init(code: code)), now: now)
            reportDown("refused by the broker: \(reason) (\(code))", now)
        case .lost(let reason):
            switch machine.state {
            case .up:
                connectionLost()
                feed(.lost, now: now)
                reportDown(reason, now)
            case .connecting:
                attemptFailed(reason, now)
            case .idle, .down, .stopped: break
            }
        case .finished(let id, let reason): finished(id, reason)
        }
    }

    private func announce() {
        statistics.connects += 1
        ackedInConnection = false
        report(.connected(options.brokers[attempted]))
        let presence = options.presence
        store.withLock { store in
            if stopping == .no {
                var text = presence.online
                text.withUTF8 { bytes in
                    _ = store.retained.set(presenceHeader, UnsafeRawBufferPointer(bytes))
                }
            }
            store.retained.sendAllAgain()
        }
    }

    private var presenceHeader: PublicationHeader {
        PublicationHeader(
            topic: options.presence.topic, qos: 1, retain: true, contentType: .text, priority: .essential)
    }

    private func connectionLost() {
        statistics.lostInFlight += UInt64(unwritten)
        unwritten = 0
        fruitless = inFlight.isEmpty || ackedInConnection ? 0 : fruitless + 1
        guard fruitless >= Self.patience, let first = inFlight.first else { return }
        // The library would send this message again after each connect, and each time the broker hangs up on it.
        fruitless = 0
        inFlight.removeFirst()
        statistics.abandoned += 1
        store.withLock { $0.drop(first.ticket) }
        report(.abandoned(topic: first.topic))
        recallInFlight()
        openBroker = nil
    }

    /// Takes the messages that were not acknowledged back from a transport that is about to forget them.
    private func recallInFlight() {
        store.withLock { store in
            for message in inFlight.reversed() { store.putBack(message.ticket) }
        }
        inFlight.removeAll(keepingCapacity: true)
        unwritten = 0
    }

    // MARK: messages

    private var window: Int { min(limits.receiveMaximum ?? Self.defaultWindow, MosquittoTransport.sendMaximum) }

    private func pump(_ now: UInt64) {
        guard stopping == .no || isDraining else { return }
        while machine.isUp, inFlight.count < window, unwritten < Self.defaultWindow {
            guard let (header, ticket) = store.withLock({ $0.take(into: &scratch) }) else { return }
            switch send(header, ticket) {
            case .taken: handleEvents(now)
            case .tooLarge:
                statistics.tooLarge += 1
                store.withLock { $0.release(ticket) }
                report(.tooLarge(topic: header.topic, bytes: scratch.count))
            case .impossible:
                statistics.countRefusal(144)
                store.withLock { $0.release(ticket) }
                report(.refused(topic: header.topic, reason: 144))
            case .later:
                store.withLock { $0.putBack(ticket) }
                return
            }
        }
    }

    private func send(_ header: PublicationHeader, _ ticket: OutgoingStore.Ticket) -> HandOver {
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
            store.withLock { $0.release(ticket) }
        } else {
            inFlight.append(InFlight(id: id, ticket: ticket, topic: header.topic))
            statistics.inFlightPeak = max(statistics.inFlightPeak, inFlight.count)
        }
        return outcome
    }

    private func finished(_ id: Int32, _ reason: Int) {
        if case .farewell(id, let end) = stopping {
            stopping = .leaving(end: end)
            feedStop()
            return
        }
        guard let index = inFlight.firstIndex(where: { $0.id == id }) else {
            unwritten = max(0, unwritten - 1)
            return
        }
        let message = inFlight.remove(at: index)
        store.withLock { $0.release(message.ticket) }
        ackedInConnection = true
        fruitless = 0
        // 16: nobody has subscribed, which is no failure.
        if reason < 128 {
            statistics.acked += 1
        } else {
            statistics.countRefusal(reason)
            report(.refused(topic: message.topic, reason: reason))
        }
    }

    /// Bytes of the PUBLISH packet, never less than they are.
    static func packetSize(_ header: PublicationHeader, payload: Int) -> Int {
        let properties = 5 + 3 + header.contentType.rawValue.utf8.count
        return 1 + 4 + 2 + header.topic.utf8.count + 2 + 2 + properties + payload
    }

    // MARK: the orderly stop

    private var isDraining: Bool { if case .draining = stopping { true } else { false } }

    private func feedStop() {
        _ = machine.handle(.stop, now: 0, using: &random)
        transport.disconnect()
    }

    private func proceedStop(_ now: UInt64) {
        switch stopping {
        case .no, .done: return
        case .draining(let until, let end):
            guard machine.isUp else {
                // Nobody listens; the last will speaks for us.
                if machine.handle(.stop, now: now, using: &random) == .abandon { transport.abandon() }
                stopping = .done
                return
            }
            let empty = inFlight.isEmpty && unwritten == 0 && store.withLock { $0.isEmpty }
            guard empty || now >= until else { return }
            var text = options.presence.offline
            let outcome = text.withUTF8 { transport.publish(presenceHeader, UnsafeRawBufferPointer($0)) }
            if case .taken(let id) = outcome {
                stopping = .farewell(id: id, end: end)
                handleEvents(now)
            } else {
                stopping = .leaving(end: end)
                feedStop()
            }
        case .farewell(_, let end):
            guard now >= end || !machine.isUp else { return }
            if machine.isUp { feedStop() }
            stopping = .leaving(end: end)
            proceedStop(now)
        case .leaving(let end):
            if now >= end || !transport.wantsWrite { stopping = .done }
        }
    }

    private func updateStatistics(_ now: UInt64) {
        statistics.connected = machine.isUp
        statistics.inFlight = inFlight.count
        let (dropped, replaced, messages, bytes, oldest) = store.withLock {
            ($0.queue.dropped, $0.retained.replaced, $0.queue.count, $0.queue.bytes, $0.queue.oldest)
        }
        statistics.dropped = dropped
        statistics.replaced = replaced
        statistics.queueMessages = messages
        statistics.queueBytes = bytes
        statistics.oldest = oldest.map { Double(now - min(now, $0)) / 1e9 } ?? 0
    }
}

/// A source of random numbers that is passed in as a function.
struct AnyRandom: RandomNumberGenerator {
    private let source: () -> UInt64
    init(_ source: @escaping () -> UInt64) { self.source = source }
    mutating func next() -> UInt64 { source() }
    static var system: AnyRandom {
        AnyRandom {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
    }
}
