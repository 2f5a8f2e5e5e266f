import Messages
import Settings
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
}
