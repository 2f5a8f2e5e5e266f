import Messages
import Settings
import TestSupport
import Testing

@testable import MQTT

/// A broker that acknowledges each message as it comes and hangs up on one topic.
private func converse(_ bench: Bench, poison: String, rounds: Int = 100) {
    for _ in 0..<rounds {
        guard !bench.transport.sent.isEmpty else { return }
        let message = bench.transport.sent.removeFirst()
        if message.topic == poison { return }
        if message.header.qos > 0 { bench.transport.events.append(.finished(id: message.id, reason: 0)) }
        bench.step()
    }
}

/// What a keeper has of messages; it offers what is not in memory, the oldest first.
private struct Disk {
    var messages: [Int64: (header: PublicationHeader, payload: [UInt8])] = [:]
    var away: Set<Int64> = []
    private var last: Int64 = 0

    mutating func round(_ bench: Bench) {
        var payload: [UInt8] = []
        while let message = bench.store.withLock({ $0.queue.takeUnkept(into: &payload) }) {
            last += 1
            messages[last] = (message.header, payload)
            if case .settled(let outcome) = bench.mark(message.ticket, last) { settle(last, outcome) }
        }
        for one in bench.settled() { settle(one.key, one.outcome) }
        guard bench.core.life.isUp else { return }
        for key in away.sorted() {
            guard let (header, payload) = messages[key], bench.store.withLock({ $0.mayOffer(header, key: key) }) else {
                continue
            }
            let now = bench.now
            let isTaken = payload.withUnsafeBytes { bytes in
                bench.store.withLock { $0.queue.offerBackfill(header, key: key, bytes, now: now) }
            }
            guard isTaken else { return }
            away.remove(key)
        }
        if away.isEmpty { bench.store.withLock { $0.queue.setOverflow(false) } }
    }

    private mutating func settle(_ key: Int64, _ outcome: Settlement.Outcome) {
        if outcome == .delivered { messages[key] = nil } else { away.insert(key) }
    }
}

private func lose(_ bench: Bench) {
    bench.transport.lose()
    bench.transport.sent.removeAll()
    bench.step()
    bench.step(after: second)
    bench.transport.accept()
    bench.step()
}

@Suite struct SuspicionTests {
    private func board() -> Bench {
        Bench {
            $0.connection.brokers = [BrokerAddress(host: "b", port: 1, tls: false)]
            $0.connection.mqtt.keepalive = 0
        }
    }

    @Test func onlyTheMessageThatBreaksConnectionsIsGivenUp() {
        let bench = board()
        bench.put("s/info", "who", retain: true)
        bench.put("s/schema", "too much for this broker", retain: true)
        bench.put("e0")
        bench.comeUp()
        // It hangs up before any acknowledgement gets through: all that was on its way is suspect.
        for _ in 0..<Suspicion.fruitlessLimit { lose(bench) }
        // Once to become a suspect, and then alone.
        for _ in 0...Refusals.patience {
            #expect(bench.core.statistics.abandoned == 0)
            #expect(bench.transport.sent.count == 1)
            converse(bench, poison: "s/schema")
            lose(bench)
        }
        #expect(bench.core.statistics.abandoned == 1)
        #expect(bench.reports.contains(.abandoned(topic: "s/schema")))
        converse(bench, poison: "s/schema")
        #expect(bench.core.statistics.queueMessages == 0)
        #expect(bench.core.statistics.acked > 0)
        #expect(!bench.reports.contains(.abandoned(topic: "s/info")))
        bench.put("s/schema", "smaller", retain: true)
        bench.step(after: Refusals.firstOfBreaks)
        #expect(bench.transport.sent.map(\.text) == ["smaller"])
    }

    @Test func aLineThatBreaksBeforeAnyAcknowledgementCostsNoMessage() {
        let bench = board()
        bench.put("s/config", "c", retain: true)
        bench.put("e0")
        bench.comeUp()
        for _ in 0..<50 { lose(bench) }
        #expect(bench.core.statistics.abandoned == 0)
        converse(bench, poison: "")
        #expect(bench.core.statistics.queueMessages == 0)
        #expect(bench.core.statistics.inFlight == 0)
    }

    @Test func afterAQuietMomentMessagesGoTogetherAgain() {
        let bench = board()
        bench.put("e0")
        bench.comeUp()
        for _ in 0..<Suspicion.fruitlessLimit { lose(bench) }
        #expect(bench.transport.sent.count == 1)
        converse(bench, poison: "")
        bench.step(after: Suspicion.quiet)
        for index in 0..<5 { bench.put("e\(index)") }
        bench.step()
        #expect(bench.transport.sent.count == 5)
    }

    @Test func aStateThatWasGivenUpIsTriedAgainEverMoreRarely() {
        let bench = board()
        bench.put("s/schema", "large", retain: true)
        bench.comeUp()
        for _ in 0..<Suspicion.fruitlessLimit { lose(bench) }
        for _ in 0...Refusals.patience {
            converse(bench, poison: "s/schema")
            lose(bench)
        }
        #expect(bench.core.statistics.abandoned == 1)
        #expect(bench.core.statistics.held.map(\.topic) == ["s/schema"])
        var wait = Refusals.firstOfBreaks
        for _ in 2...4 {
            // (It came up a second after the end of the connection before.)
            converse(bench, poison: "s/schema")
            bench.transport.sent.removeAll()
            bench.step(after: wait - 2 * second)
            #expect(!bench.transport.topics.contains("s/schema"))
            bench.step(after: 2 * second)
            #expect(bench.transport.topics == ["s/schema"])
            lose(bench)
            // Once is enough now, and is not counted again.
            #expect(bench.core.statistics.abandoned == 1)
            wait *= 2
        }
        converse(bench, poison: "")
        bench.step(after: wait)
        converse(bench, poison: "")
        #expect(bench.core.statistics.inFlight == 0)
        #expect(bench.core.statistics.held == [])
        bench.transport.sent.removeAll()
        bench.step(after: 100_000 * second)
        #expect(bench.transport.sent.isEmpty)
    }

    @Test func aSilenceIsNobodysFault() {
        var suspicion = Suspicion()
        for _ in 0..<20 {
            suspicion.acknowledged()
            let isSuspect = suspicion.broke(byPeer: false, isBusy: true, age: 0)
            #expect(!isSuspect)
        }
        #expect(!suspicion.oneAtATime)
    }

    @Test func aLineThatIsWellForLongNeedsNoCare() {
        var suspicion = Suspicion()
        for _ in 0..<Suspicion.fruitlessLimit { _ = suspicion.broke(byPeer: true, isBusy: true, age: 0) }
        #expect(suspicion.oneAtATime)
        for _ in 0..<Suspicion.well { suspicion.acknowledged() }
        #expect(!suspicion.oneAtATime)
    }

    /// A defect: on a line that broke now and then, different messages of one topic added up, and one was given up.
    @Test func aLineThatBreaksWithEverySecondTraceLosesNone() {
        let bench = board()
        bench.comeUp()
        for number in 0..<20 { bench.put("trace", "block \(number)") }
        bench.step()
        for _ in 0..<Suspicion.fruitlessLimit { lose(bench) }
        for _ in 0..<40 {
            // `online` and one trace are acknowledged, the next is under way when the line breaks.
            for _ in 0..<2 {
                bench.transport.acknowledgeAll()
                bench.transport.sent.removeAll()
                bench.step()
            }
            lose(bench)
        }
        #expect(bench.core.statistics.abandoned == 0)
        #expect(bench.core.statistics.queueMessages == 0)
    }

    /// A defect: on a line that broke a moment after `online`, again and again, just this was given up, so that a station
    /// that was there again counted as away for 10 s and more, and said so last.
    @Test(arguments: [MQTTConfiguration.ProtocolVersion.v5, .v311])
    func presenceIsNotGivenUpForABadLine(version: MQTTConfiguration.ProtocolVersion) {
        let bench = Bench {
            ($0.connection.mqtt.keepalive, $0.connection.mqtt.protocolVersion) = (0, version)
        }
        bench.put("s/info", "who", retain: true)
        bench.comeUp()
        for _ in 0..<Refusals.patience + Suspicion.fruitlessLimit + 2 {
            bench.transport.acknowledgeAll()
            bench.step()
            lose(bench)
        }
        #expect(bench.core.statistics.abandoned == 0)
        converse(bench, poison: "")
        bench.step(after: Suspicion.quiet)
        bench.transport.sent.removeAll()
        bench.reconnect()
        #expect(bench.transport.topics.first == "s/online")
    }

    /// A defect: after a few short connections a topic is suspect, and its messages wait until nothing else is on its way.
    /// One that was made meanwhile overtook them: traces came in the wrong order after a broker was killed again and again.
    @Test(arguments: 0..<40 as Range<UInt64>) func whatIsSuspectIsNotOvertaken(seed: UInt64) {
        var dice = SplitMix64(state: seed &* 104_729)
        let isKept = seed >= 20
        let bench = Bench {
            ($0.base, $0.connection.mqtt.keepalive, $0.keepsEssential) = ("s", 0, isKept)
            $0.connection.mqtt.protocolVersion = seed % 2 == 0 ? .v5 : .v311
            // (The broker's connections are shorter than its silences.)
            $0.ackTimeout = 600
        }
        let topics = ["s/data/trace", "s/event/trigger", "s/data/waveform/1"]
        var made = [Int](repeating: 0, count: topics.count)
        // What came for the first time, by topic.
        var came = [[Int]](repeating: [], count: topics.count)
        var unanswered: [Int32] = []
        var suspects = 0
        var disk = Disk()
        func arrive(_ count: Int) {
            for message in bench.transport.sent.prefix(count) {
                if message.header.qos > 0 { unanswered.append(message.id) }
                guard let topic = topics.firstIndex(of: message.topic), let number = Int(message.text) else { continue }
                if !came[topic].contains(number) { came[topic].append(number) }
            }
            bench.transport.sent.removeFirst(min(count, bench.transport.sent.count))
        }
        for round in 0..<4000 {
            let isGood = round >= 2500
            if isGood {
                arrive(100)
                for id in unanswered { bench.transport.events.append(.finished(id: id, reason: 0)) }
                unanswered.removeAll()
            }
            switch Int.random(in: 0..<24, using: &dice) {
            case 0 where !isGood, 1 where !isGood:
                let topic = Int.random(in: 0..<topics.count, using: &dice)
                bench.put(topics[topic], "\(made[topic])", topic == 1 ? .essential : .trace)
                made[topic] += 1
            case 2 where !isGood:
                bench.put("s/summary", "s", qos: Int.random(in: 0...1, using: &dice), retain: true, .state)
            case 3...9: arrive(Int.random(in: 1...5, using: &dice))
            case 10...17:
                let count = Int.random(in: 1...3, using: &dice)
                for id in unanswered.prefix(count) { bench.transport.events.append(.finished(id: id, reason: 0)) }
                unanswered.removeFirst(min(count, unanswered.count))
            case 18 where !isGood && bench.transport.isConnected:
                // It goes with what lay unread in the line.
                bench.transport.lose(byPeer: Int.random(in: 0..<3, using: &dice) > 0)
                bench.transport.sent.removeAll()
                unanswered.removeAll()
            case 19...21 where bench.transport.log.last == "connect" && !bench.transport.isConnected:
                bench.transport.accept()
            default: break
            }
            if isGood || Int.random(in: 0..<3, using: &dice) == 0 { disk.round(bench) }
            bench.step(after: UInt64.random(in: 0...second / 4, using: &dice))
            suspects = max(suspects, bench.core.known.refusals.entries.count)
        }
        // (What is essential and on disk comes last.)
        for (topic, numbers) in zip(topics, came) where !isKept || topic != topics[1] {
            #expect(numbers == numbers.sorted(), "\(topic)")
        }
        #expect(disk.messages.isEmpty)
        #expect(came.map(\.count) == made)
        #expect(suspects > 0)
    }
}
