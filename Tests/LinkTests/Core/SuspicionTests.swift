import Messages
import Testing

@testable import Link

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
    private func board() -> Bench { Bench { $0.brokers = [BrokerAddress(host: "b", port: 1, tls: false)] } }

    @Test func onlyTheMessageThatBreaksConnectionsIsGivenUp() {
        let bench = board()
        bench.put("s/info", "who", retain: true)
        bench.put("s/schema", "too much for this broker", retain: true)
        bench.put("e0")
        bench.comeUp()
        // It hangs up before any acknowledgement gets through: all that was on its way is suspect.
        for _ in 0..<Suspicion.fruitlessLimit { lose(bench) }
        for _ in 0..<Suspicion.patience {
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
        bench.step()
        #expect(bench.transport.topics.contains("s/schema"))
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
        for index in 0..<5 { bench.put("e\(index)") }
        bench.step()
        #expect(bench.transport.sent.count == 5)
    }

    @Test func aStateThatWasGivenUpIsTriedAgainEverMoreRarely() {
        let bench = board()
        bench.put("s/schema", "large", retain: true)
        bench.comeUp()
        for _ in 0..<Suspicion.fruitlessLimit { lose(bench) }
        for _ in 0..<Suspicion.patience {
            converse(bench, poison: "s/schema")
            lose(bench)
        }
        #expect(bench.core.statistics.abandoned == 1)
        var wait = Pardon.first
        for round in 2...4 {
            converse(bench, poison: "s/schema")
            bench.transport.sent.removeAll()
            bench.step(after: wait - 2 * second)
            #expect(!bench.transport.topics.contains("s/schema"))
            bench.step(after: 2 * second)
            #expect(bench.transport.topics == ["s/schema"])
            // The line was well when it broke: once is enough now.
            lose(bench)
            #expect(bench.core.statistics.abandoned == UInt64(round))
            wait *= 2
        }
        converse(bench, poison: "")
        bench.step(after: wait)
        converse(bench, poison: "")
        #expect(bench.core.statistics.inFlight == 0)
        bench.transport.sent.removeAll()
        bench.step(after: 100_000 * second)
        #expect(bench.transport.sent.isEmpty)
    }

    @Test func whatCannotBeSaidAgainIsGivenUpLater() {
        var suspicion = Suspicion()
        #expect(suspicion.broke(byPeer: true, waiting: 1, oldest: .message(fingerprint: 1)) == .leave)
        #expect(suspicion.broke(byPeer: true, waiting: 1, oldest: .message(fingerprint: 1)) == .recall)
        #expect(suspicion.oneAtATime)
        for _ in 1..<Suspicion.messagePatience {
            suspicion.acknowledged()
            #expect(suspicion.broke(byPeer: true, waiting: 1, oldest: .message(fingerprint: 1)) == .recall)
        }
        suspicion.acknowledged()
        #expect(suspicion.broke(byPeer: true, waiting: 1, oldest: .message(fingerprint: 1)) == .giveUp)
    }

    @Test func aSilenceIsNobodysFault() {
        var suspicion = Suspicion()
        for _ in 0..<20 {
            #expect(suspicion.broke(byPeer: false, waiting: 3, oldest: .message(fingerprint: 1)) == .leave)
        }
        #expect(!suspicion.oneAtATime)
    }

    @Test func aLineThatIsWellForLongNeedsNoCare() {
        var suspicion = Suspicion()
        for _ in 0..<Suspicion.fruitlessLimit {
            _ = suspicion.broke(byPeer: true, waiting: 2, oldest: .message(fingerprint: 1))
        }
        #expect(suspicion.oneAtATime)
        for _ in 0..<Suspicion.well { suspicion.acknowledged() }
        #expect(!suspicion.oneAtATime)
    }

    /// A defect: on a line that broke now and then, different messages of one topic added up, and one was given up.
    @Test func differentMessagesOfATopicDoNotAddUp() {
        var suspicion = Suspicion()
        for _ in 0..<Suspicion.fruitlessLimit {
            _ = suspicion.broke(byPeer: true, waiting: 1, oldest: .message(fingerprint: 0))
        }
        #expect(suspicion.oneAtATime)
        for number in 1...50 as ClosedRange<UInt64> {
            suspicion.acknowledged()
            #expect(suspicion.broke(byPeer: true, waiting: 1, oldest: .message(fingerprint: number / 2)) == .recall)
        }
    }

    /// The same through the core: a line that breaks with each second trace loses none.
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

    /// A defect: with several states given up in one round the wait doubled for each of them.
    @Test func theWaitForAPardonDoublesByRounds() {
        var pardon = Pardon()
        func isDue(_ now: UInt64) -> Bool {
            let answer = pardon.take(now: now)
            return answer
        }
        for _ in 0..<5 { pardon.gaveUp(now: 0) }
        #expect(!isDue(Pardon.first - 1))
        #expect(isDue(Pardon.first))
        for _ in 0..<5 { pardon.gaveUp(now: Pardon.first) }
        #expect(!isDue(3 * Pardon.first - 1))
        #expect(isDue(3 * Pardon.first))
    }
}
