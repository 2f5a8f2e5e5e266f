import Messages
import TestSupport
import Testing

@testable import MQTT

/// A broker played by hand that finds out what the link must never ask of it.
private final class StrictTransport: Transport {
    enum Handle { case none, attempt, connection, disconnecting }
    var handle = Handle.none
    var events: [MQTTEvent] = []
    var wantsWrite = false
    var refusesToConnect = false
    /// QoS 1 messages without acknowledgement, by number; most of them at any time.
    var unacknowledged: [(id: Int32, text: String)] = []
    var peak = 0
    var window = LinkCore.defaultWindow
    var faults: [String] = []
    /// What the broker has acknowledged.
    var arrived: [String: Int] = [:]
    var isOver = false
    private var lastID: Int32 = 0

    private func check(_ isFine: Bool, _ fault: String) { if !isFine || isOver { faults.append(fault) } }

    func change(to options: LinkOptions) { check(handle == .none, "change with a handle in use") }
    func open(broker: Int, as form: ConnectForm) -> String? {
        check(handle == .none, "a second handle")
        (unacknowledged, events) = ([], [])
        return nil
    }
    func connect() -> String? {
        check(handle == .none, "a second attempt")
        if refusesToConnect { return "refused" }
        handle = .attempt
        return nil
    }
    func publish(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> HandOver {
        check(handle == .connection, "publish without a connection")
        guard handle == .connection else { return .later }
        lastID += 1
        if header.qos == 0 {
            events.append(.finished(id: lastID, reason: 0))
        } else {
            unacknowledged.append((lastID, String(decoding: payload, as: UTF8.self)))
            peak = max(peak, unacknowledged.count)
            // One more: `offline` is not held back by the window.
            check(unacknowledged.count <= window + 1, "\(unacknowledged.count) messages on their way")
        }
        return .taken(id: lastID)
    }
    func subscribe(_ filter: String, isCheck: Bool) -> Int32? {
        check(handle == .connection, "subscribe without a connection")
        lastID += 1
        events.append(.subscribed(id: lastID, code: 1))
        return lastID
    }
    func unsubscribe(_ filter: String) { check(handle == .connection, "unsubscribe without a connection") }
    func abandon() { handle = .none }
    func disconnect(keepsWill: Bool) {
        check(handle == .connection, "disconnect without a connection")
        handle = .disconnecting
    }
    func takeEvents(into events: inout [MQTTEvent]) {
        events.append(contentsOf: self.events)
        self.events.removeAll()
    }

    func accept(_ maximum: Int?) {
        guard handle == .attempt else { return }
        handle = .connection
        var limits = BrokerLimits()
        limits.receiveMaximum = maximum
        window = maximum ?? LinkCore.defaultWindow
        events.append(.connected(limits))
    }
    func end(_ event: MQTTEvent) {
        guard handle != .none else { return }
        handle = .none
        events.append(event)
    }
    func acknowledge(_ count: Int) {
        guard handle == .connection || handle == .disconnecting else { return }
        for (id, text) in unacknowledged.prefix(count) {
            arrived[text, default: 0] += 1
            events.append(.finished(id: id, reason: 0))
        }
        unacknowledged.removeFirst(min(count, unacknowledged.count))
    }
}

/// Whole links, with their messages, in any order of what can happen to them.
@Suite struct LinkWalkTests {
    @Test(arguments: 0..<40 as Range<UInt64>) func randomLinksLoseNothingAndAskNothingForbidden(seed: UInt64) {
        var dice = SplitMix64(state: seed &* 7919)
        let transport = StrictTransport()
        var options = Lived.options(brokers: 1 + Int(seed % 2)) {
            $0.connection.mqtt.protocolVersion = seed % 3 == 0 ? .v5 : .v311
            ($0.base, $0.connection.mqtt.reconnectMaximum, $0.connection.mqtt.keepalive) = (
                "s", 4, seed % 4 == 0 ? 10 : 0
            )
            $0.subscriptions = ["s/cmd/+"]
            $0.queueMessages = 8192
        }
        let store = SharedStore(options: options)
        var random = SplitMix64(state: seed)
        let core = LinkCore(
            options: options, store: store, transport: transport, random: AnyRandom { random.next() },
            report: { _ in })
        var now: UInt64 = 0
        var (put, number) = (0, 0 as UInt64)
        func step(after time: UInt64) {
            now += time
            core.step(now: now)
            #expect(core.session.inFlight.count <= transport.window)
            // With several brokers the next is tried at once.
            if case .waiting(let until) = core.life.state {
                #expect(until > now || options.connection.brokers.count > 1)
            }
        }
        for _ in 0..<1500 {
            switch Int.random(in: 0..<16, using: &dice) {
            case 0...3:
                let text = "\(put)"
                put += 1
                let header = PublicationHeader(topic: "s/e", qos: 1, retain: false, priority: .essential)
                Array(text.utf8).withUnsafeBytes { bytes in store.withLock { $0.put(header, bytes, now: now) } }
            case 4...6: transport.accept([nil, 1, 5].randomElement(using: &dice) ?? nil)
            case 7, 8: transport.acknowledge(Int.random(in: 1...8, using: &dice))
            case 9: transport.end(.lost(reason: "end", byPeer: false))
            case 10: if transport.handle == .attempt { transport.end(.refused(code: 3, reason: "busy")) }
            case 11: transport.refusesToConnect = Int.random(in: 0..<4, using: &dice) == 0
            case 12: transport.wantsWrite = Int.random(in: 0..<3, using: &dice) == 0
            case 13:
                switch Int.random(in: 0..<3, using: &dice) {
                case 0: options.connection.mqtt.username += "x"
                case 1: options.connection.brokers[0].host += "x"
                default: options.ackTimeout = Double.random(in: 2...60, using: &dice)
                }
                number += 1
                core.handle(.change(.init(options, number: number)), now: now)
            case 14: transport.events.append(.heard)
            default: break
            }
            step(after: UInt64.random(in: 0...second / 2, using: &dice))
        }
        // A good broker in the end gets all that there is, and the link ends in order.
        (transport.refusesToConnect, transport.wantsWrite) = (false, false)
        for _ in 0..<600 where transport.arrived.keys.filter({ Int($0) != nil }).count < put {
            transport.accept(nil)
            transport.acknowledge(100)
            step(after: second / 4)
        }
        for text in 0..<put { #expect(transport.arrived["\(text)"] != nil, "message \(text), seed \(seed)") }
        for _ in 0..<8 {
            transport.acknowledge(100)
            step(after: second / 4)
        }
        #expect(core.statistics.queueBytes == 0 && core.statistics.inFlight == 0, "seed \(seed)")
        #expect(core.statistics.dropped.total == 0)
        core.handle(.stop(within: second), now: now)
        for _ in 0..<8 {
            transport.acknowledge(100)
            step(after: second / 4)
        }
        #expect(core.life.isStopped && core.deadline == nil)
        transport.isOver = true
        transport.events = [.connected(BrokerLimits()), .lost(reason: "late"), .finished(id: 1, reason: 0)]
        for event in [LinkLife.Event.stop(within: 0), .timer, .written] { core.handle(event, now: now) }
        step(after: second)
        #expect(transport.faults == [], "seed \(seed)")
        #expect(transport.peak > 5)
    }
}
