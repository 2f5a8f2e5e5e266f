import Foundation
import Messages
import Platform
import TestSupport
import Testing

@testable import MQTT

/// A keeper that has an array for a disk, on a thread of its own.
final class ArrayKeeper: Sendable {
    struct State {
        var disk: [Int64: (header: PublicationHeader, payload: [UInt8])] = [:]
        var away: Set<Int64> = []
        var lastKey: Int64 = 0
        var delivered = 0
        var ended = false
    }
    let state = Mutex(State())
    private let link: Link
    private let keepsTopics: Bool
    private let finished = DispatchSemaphore(value: 0)

    /// - Parameter keepsTopics: what comes from disk goes to the topic that it has.
    init(_ link: Link, keepsTopics: Bool = false) {
        (self.link, self.keepsTopics) = (link, keepsTopics)
        Thread.detachNewThread { [self] in
            while !state.withLock({ $0.ended }) {
                if link.keeperWake.wait(milliseconds: 20) { link.keeperWake.clear() }
                round()
            }
            finished.signal()
        }
    }

    func end() {
        state.withLock { $0.ended = true }
        finished.wait()
    }

    private func round() {
        var bytes: [UInt8] = []
        while let (header, _, ticket) = link.takeUnkept(into: &bytes) {
            let key = state.withLock { state in
                state.lastKey += 1
                state.disk[state.lastKey] = (header, bytes)
                return state.lastKey
            }
            switch link.markKept(ticket, key: key) {
            case .waiting: break
            case .settled(let outcome): settle(Settlement(key: key, outcome: outcome))
            }
        }
        var settled: [Settlement] = []
        link.takeSettled(into: &settled)
        for settlement in settled { settle(settlement) }
        // What is held back at the beginning of a round stays back until its end, or else the later ones came first.
        var held: Set<String> = []
        for key in state.withLock({ $0.away.sorted() }) {
            guard let entry = state.withLock({ $0.disk[key] }) else { continue }
            let payload = entry.payload
            var header = entry.header
            if !keepsTopics {
                header.isHistory = true
                header.topic = header.topic.replacingOccurrences(of: "event", with: "data/history/event")
            }
            guard !held.contains(header.topic), link.mayOffer(header, key: key) else {
                held.insert(header.topic)
                continue
            }
            guard payload.withUnsafeBytes({ link.offerBackfill(header, key: key, $0) }) else { break }
            state.withLock { _ = $0.away.remove(key) }
        }
    }

    private func settle(_ settlement: Settlement) {
        state.withLock { state in
            if settlement.outcome == .displaced || settlement.outcome == .held {
                state.away.insert(settlement.key)
            } else {
                state.disk[settlement.key] = nil
                state.delivered += 1
            }
        }
    }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct KeeperBrokerTests {
    @Test(arguments: BrokerTests.versions) func whatMemoryHasNoRoomForComesBackFromDisk(
        version: MQTTVersion
    ) throws {
        let broker = try Broker()
        let board = try RealLink(port: broker.port) {
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.keepsEssential = true
            $0.queueMessages = 40
        }
        let keeper = ArrayKeeper(board.link)
        defer { keeper.end() }
        #expect(board.connected())
        broker.kill()
        #expect(board.disconnected())
        for index in 0..<300 {
            board.publish("s/event/trigger", "\(index)", .essential)
            // As fast as a disk may be: the keeper is done with each before the next ten come.
            if index % 10 == 9 { #expect(eventually { keeper.state.withLock { $0.lastKey } == Int64(index + 1) }) }
        }
        try broker.start()
        let listener = try Subscriber(port: broker.port, ["s/#"])
        #expect(eventually(within: 20) { keeper.state.withLock { $0.delivered } == 300 })
        #expect(keeper.state.withLock { $0.disk.count } == 0)
        #expect(board.link.statistics.dropped.total == 0)
        #expect(board.link.statistics.displaced > 0)
        let history = listener.messages(on: "s/data/history/event/trigger")
        #expect(!history.isEmpty)
        #expect(history.allSatisfy { $0.isHistory == (version == .v5) })
        let numbers = history.compactMap { Int($0.text) }
        #expect(numbers == numbers.sorted())
    }

    @Test func aLiveEventIsKeptAndDeliveredAndIsNotDelayedByTheKeeper() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port, ["s/#"])
        let board = try RealLink(port: broker.port) { $0.keepsEssential = true }
        let keeper = ArrayKeeper(board.link)
        defer { keeper.end() }
        #expect(board.connected())
        var delays: [Double] = []
        for index in 0..<100 {
            let began = ProcessInfo.processInfo.systemUptime
            board.publish("s/event/trigger", "\(index)", .essential)
            let heard = listener.first { $0.text == "\(index)" }
            delays.append(((heard?.arrived ?? .infinity) - began) * 1000)
        }
        delays.sort()
        print("kept and delivered: median \(delays[50]) ms, worst \(delays[99]) ms")
        #expect(delays[50] < 50)
        #expect(eventually { keeper.state.withLock { $0.delivered == 100 && $0.disk.isEmpty } })
    }
}
