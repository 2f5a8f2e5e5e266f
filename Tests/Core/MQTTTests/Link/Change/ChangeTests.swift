import Messages
import Testing

@testable import MQTT

/// Other options on a live link, with a broker played by hand.
@Suite struct ChangeTests {
    private func up(_ change: (inout LinkOptions) -> Void = { _ in }) -> ChangeBench {
        let bench = ChangeBench(change)
        bench.bench.put("s/info", "i", retain: true, .essential)
        bench.bench.comeUp()
        bench.acknowledge()
        bench.transport.log.removeAll()
        return bench
    }

    @Test func theOldBrokerHearsOfflineAndTheNewOneEverything() {
        let bench = up()
        bench.change(toOther)
        #expect(bench.transport.sent.map(\.text) == ["offline"])
        #expect(bench.core.life.isUp)
        bench.acknowledge()
        #expect(bench.transport.log == ["disconnect", "abandon", "open 0", "connect"])
        #expect(bench.transport.options?.connection.brokers.first?.host == "other")
        #expect(bench.accept() == ["s/online online", "s/info i"])
        #expect(bench.statistics.connects == 2)
    }

    @Test func nothingHappensWhenNothingDiffers() {
        let bench = up()
        let before = bench.statistics.connections
        #expect(bench.change { _ in } < before)
        #expect(bench.transport.log.isEmpty)
        #expect(bench.statistics.connections == before)
    }

    @Test func whatNeedsNoConnectionIsTakenUpInPlace() {
        let bench = up()
        bench.change {
            $0.connection.mqtt.reconnectMinimum = 7
            $0.connection.mqtt.reconnectMaximum = 7
            $0.backfillPerSecond = 1
        }
        #expect(bench.transport.log.isEmpty)
        bench.transport.lose()
        bench.bench.step()
        #expect(bench.core.life.deadline == bench.bench.now + 7 * second)
        // And is cut when it is under way.
        bench.change { $0.connection.mqtt.reconnectMaximum = 2 }
        #expect(bench.core.life.deadline == bench.bench.now + 7 * second)
        bench.change {
            $0.connection.mqtt.reconnectMinimum = 1
            $0.connection.mqtt.reconnectMaximum = 2
        }
        #expect(bench.core.life.deadline == bench.bench.now + 2 * second)
    }

    @Test func connectionsAfterAChangeHaveHigherNumbersThanItSays() {
        let bench = up()
        let first = bench.statistics.connections
        bench.transport.events.append(.message(InboundMessage(topic: "s/cmd/ping", payload: [])))
        bench.bench.step()
        #expect(bench.bench.received.last?.connection == first)
        let number = bench.ask(toOther)
        #expect(number > first)
        // Comes up again meanwhile with the old options.
        bench.bench.reconnect()
        #expect(bench.statistics.connections > first)
        #expect(bench.statistics.connections < number)
        bench.acknowledge()
        bench.take()
        bench.acknowledge()
        _ = bench.accept()
        #expect(bench.statistics.connections > number)
        bench.transport.events.append(.message(InboundMessage(topic: "s/cmd/ping", payload: [])))
        bench.bench.step()
        #expect(bench.bench.received.last?.connection == bench.statistics.connections)
    }

    @Test func whatWaitsIsSentBeforeAndWhatComesMeanwhileAfter() {
        let bench = up()
        for index in 0..<30 { bench.bench.put("s/e\(index)", "", .essential) }
        bench.change(toOther)
        // No more than the window, and no good-bye before all is acknowledged.
        #expect(bench.transport.sent.count == 20)
        #expect(bench.acknowledge().count == 20)
        #expect(bench.transport.sent.count == 10)
        bench.acknowledge()
        #expect(bench.transport.sent.map(\.text) == ["offline"])
        bench.bench.put("s/late", "", .essential)
        bench.bench.step()
        #expect(bench.transport.sent.count == 1)
        bench.acknowledge()
        #expect(bench.accept() == ["s/online online", "s/info i", "s/late "])
        #expect(bench.statistics.acked == 1 + 1 + 30 + 2 + 1)
    }

    @Test func aBrokerThatAcknowledgesNothingIsLeftAfterThreeSecondsAndNothingIsLost() {
        let bench = up()
        for index in 0..<30 { bench.bench.put("s/e\(index)", "", .essential) }
        bench.bench.step()
        bench.change(toOther)
        #expect(bench.core.deadline == bench.bench.now + LinkLife.drainingTime)
        bench.bench.step(after: LinkLife.drainingTime)
        #expect(bench.transport.sent.last?.text == "offline")
        #expect(bench.core.life.isUp)
        bench.bench.step(after: LinkLife.departureTime - LinkLife.drainingTime)
        #expect(bench.transport.log == ["disconnect", "abandon", "open 0", "connect"])
        let sent = bench.accept()
        #expect(sent.count == 20)
        #expect(bench.acknowledge().count == 12)
        #expect(bench.statistics.queueBytes == 0)
        #expect(bench.statistics.dropped.total == 0)
    }

    @Test func aConnectionThatBreaksDuringTheGoodByeIsNotWaitedFor() {
        let bench = up()
        bench.bench.put("s/e", "", .essential)
        bench.change(toOther)
        bench.transport.lose()
        bench.bench.step()
        #expect(bench.transport.log == ["abandon", "open 0", "connect"])
        #expect(bench.accept() == ["s/online online", "s/info i", "s/e "])
    }

    @Test func aPauseBeforeTheNextAttemptEndsWithAChange() {
        let bench = up()
        bench.transport.connectProblem = "refused"
        bench.transport.lose()
        bench.bench.step()
        bench.bench.step(after: second)
        #expect(bench.core.life.deadline == bench.bench.now + second)
        bench.transport.log.removeAll()
        bench.transport.connectProblem = nil
        bench.change(toOther)
        #expect(bench.transport.log == ["abandon", "open 0", "connect"])
        #expect(bench.accept() == ["s/online online", "s/info i"])
    }

    @Test func anAttemptThatIsUnderWayIsGivenUp() {
        let bench = ChangeBench()
        bench.bench.step()
        bench.change(toOther)
        #expect(bench.transport.log == ["open 0", "connect", "abandon", "open 0", "connect"])
        #expect(bench.accept() == ["s/online online"])
        #expect(bench.statistics.connects == 1)
    }

    @Test func aChangeBeforeTheStartIsTheStart() {
        let bench = ChangeBench()
        bench.ask(toOther)
        bench.take()
        #expect(bench.transport.log == ["abandon", "open 0", "connect"])
        #expect(bench.transport.options?.connection.brokers.first?.host == "other")
    }

    @Test func theLastOfSeveralChangesCounts() {
        let bench = up()
        bench.change(toOther)
        let number = bench.change { $0.connection.brokers[0].host = "third" }
        bench.acknowledge()
        #expect(bench.transport.log == ["disconnect", "abandon", "open 0", "connect"])
        #expect(bench.transport.options?.connection.brokers.first?.host == "third")
        _ = bench.accept()
        #expect(bench.statistics.connections > number)
    }

    @Test func thereAndBackBeforeTheGoodByeLeavesTheConnectionAlone() {
        let bench = up()
        bench.bench.put("s/e", "", .essential)
        bench.bench.step()
        bench.change(toOther)
        let number = bench.change { $0.connection.brokers[0].host = "b0" }
        #expect(bench.acknowledge() == ["s/e "])
        #expect(bench.transport.log.isEmpty)
        #expect(bench.core.life.isUp)
        #expect(bench.statistics.connections > number)
        // The same when the link's thread did not even hear of it.
        bench.ask(toOther)
        bench.ask { $0.connection.brokers[0].host = "b0" }
        bench.take()
        #expect(bench.transport.log.isEmpty)
    }

    @Test func backAfterTheGoodByeWasSaidConnectsAnew() {
        let bench = up()
        bench.change(toOther)
        #expect(bench.transport.sent.map(\.text) == ["offline"])
        bench.change { $0.connection.brokers[0].host = "b0" }
        bench.acknowledge()
        #expect(bench.transport.log == ["disconnect", "abandon", "open 0", "connect"])
        #expect(bench.accept() == ["s/online online", "s/info i"])
    }

    @Test func onTheSameBrokerTheLastWillStays() {
        let bench = up()
        bench.change { $0.connection.mqtt.username = "other" }
        #expect(bench.transport.sent.isEmpty)
        #expect(bench.transport.log == ["disconnect with will", "abandon", "open 0", "connect"])
    }

    @Test func with311OfflineIsSaidEvenThen() {
        let bench = up { $0.connection.mqtt.protocolVersion = .v311 }
        bench.change { $0.connection.mqtt.username = "other" }
        #expect(bench.transport.sent.map(\.text) == ["offline"])
        bench.acknowledge()
        #expect(bench.transport.log.first == "disconnect")
    }

    @Test func aStopDuringTheGoodByeIsAStop() {
        let bench = up()
        bench.bench.put("s/e", "", .essential)
        bench.change(toOther)
        bench.core.handle(.stop(within: 5 * second), now: bench.bench.now)
        bench.bench.step()
        #expect(bench.acknowledge() == ["s/e "])
        #expect(bench.transport.sent.map(\.text) == ["offline"])
        bench.acknowledge()
        #expect(bench.core.life.isStopped)
        #expect(bench.transport.log == ["disconnect"])
        // And what comes after a stop changes nothing.
        bench.change { $0.connection.brokers[0].host = "third" }
        #expect(bench.transport.log == ["disconnect"])
    }

    @Test func essentialMessagesStillWaitForTheKeeper() throws {
        let bench = up { $0.keepsEssential = true }
        bench.bench.put("s/e", "slow", .essential)
        bench.change(toOther)
        #expect(bench.transport.sent.isEmpty)
        // The keeper is slow: it leaves without being kept, and only then comes the good-bye.
        bench.bench.step(after: PublicationQueue.patience)
        #expect(bench.transport.sent.map(\.text) == ["slow"])
        bench.acknowledge()
        #expect(bench.transport.sent.map(\.text) == ["offline"])
        bench.bench.put("s/e", "later", .essential)
        bench.acknowledge()
        #expect(bench.accept() == ["s/online online", "s/info i"])
        let (text, ticket) = try #require(bench.bench.ask())
        #expect(text == "slow" && bench.bench.mark(ticket, 1) == .settled(.delivered))
        #expect(bench.bench.keepAll(from: 2) == ["later"])
        bench.bench.step()
        #expect(bench.transport.sent.map(\.text) == ["later"])
    }

    @Test func subscriptionsOfBeforeDoNotStayInTheSession() {
        let bench = up { $0.subscriptions = ["s/cmd/#"] }
        bench.transport.answer()
        bench.bench.step()
        bench.transport.log.removeAll()
        bench.change { $0.subscriptions = ["n/cmd/#"] }
        var limits = BrokerLimits()
        limits.sessionPresent = true
        bench.transport.accept(limits)
        bench.bench.step()
        #expect(bench.transport.log.suffix(2) == ["unsubscribe s/cmd/#", "subscribe n/cmd/#"])
    }

    @Test func whatWasKnownOfRightsIsForgotten() {
        let bench = up()
        bench.bench.put("s/e")
        bench.bench.step()
        bench.transport.acknowledgeAll(reason: 135)
        bench.bench.step()
        #expect(bench.statistics.deniedTopics == ["s/e"])
        bench.transport.sent.removeAll()
        bench.change(toOther)
        bench.acknowledge()
        _ = bench.accept()
        #expect(bench.statistics.deniedTopics.isEmpty)
    }
}
