import Messages
import Testing

@testable import MQTT

/// What happens to retained values when the base of all topics changes.
@Suite struct ChangeOfBaseTests {
    private func up() -> ChangeBench {
        let bench = ChangeBench()
        bench.bench.put("s/info", "i", retain: true, .essential)
        bench.bench.put("s/summary", "1", qos: 0, retain: true, .state)
        bench.bench.comeUp()
        bench.acknowledge()
        bench.transport.log.removeAll()
        return bench
    }

    @Test func valuesMoveAndTheOldOnesAreEmptiedFirst() {
        let bench = up()
        bench.bench.put("s/event", "waits", .essential)
        bench.change(toOtherBase)
        #expect(bench.acknowledge() == ["s/info ", "s/summary ", "s/event waits"])
        #expect(bench.acknowledge() == ["s/online offline"])
        #expect(bench.transport.log == ["disconnect", "abandon", "open 0", "connect"])
        #expect(bench.accept() == ["n/online online", "n/info i", "n/summary 1"])
        #expect(bench.statistics.queueBytes == 0)
    }

    @Test func nothingOfTheNewBaseGoesToTheOldBroker() {
        let bench = up()
        bench.ask {
            toOther(&$0)
            toOtherBase(&$0)
        }
        // The link's thread does not know yet.
        bench.bench.put("n/info", "new", retain: true, .essential)
        bench.bench.step()
        bench.take()
        let all = bench.acknowledge() + bench.acknowledge()
        #expect(all == ["s/info ", "s/summary ", "s/online offline"])
        #expect(bench.accept() == ["n/online online", "n/info new", "n/summary 1"])
    }

    @Test func whatIsStillPublishedBelowTheOldBaseFollows() {
        let bench = up()
        bench.change(toOtherBase)
        bench.bench.put("s/summary", "2", qos: 0, retain: true, .state)
        bench.bench.put("s/event", "as addressed", .essential)
        bench.bench.step()
        bench.acknowledge()
        bench.acknowledge()
        #expect(bench.accept() == ["n/online online", "n/info i", "n/summary 2"])
    }

    @Test func thereAndBackEverythingIsWhereItWas() {
        let bench = up()
        bench.change(toOtherBase)
        bench.acknowledge()
        bench.acknowledge()
        #expect(bench.accept() == ["n/online online", "n/info i", "n/summary 1"])
        bench.change(backToFirstBase)
        #expect(bench.acknowledge() == ["n/info ", "n/summary "])
        #expect(bench.acknowledge() == ["n/online offline"])
        #expect(bench.accept() == ["s/online online", "s/info i", "s/summary 1"])
    }

    @Test func backBeforeTheNewBrokerWasThereNothingIsEmptiedThatIsInUse() {
        let bench = up()
        bench.transport.lose()
        bench.bench.step()
        bench.change(toOtherBase)
        bench.change(backToFirstBase)
        #expect(bench.accept() == ["s/online online", "s/info i", "s/summary 1"])
    }

    @Test func withoutConnectionTheOldValuesAreEmptiedAfterwardsOnTheSameBroker() {
        let bench = up()
        bench.transport.lose()
        bench.bench.step()
        bench.change(toOtherBase)
        let sent = bench.accept()
        #expect(
            sent == ["n/online online", "n/info i", "n/summary 1", "s/info ", "s/summary ", "s/online offline"])
        // Once.
        bench.bench.reconnect()
        #expect(bench.acknowledge() == ["n/online online", "n/info i", "n/summary 1"])
    }

    @Test func anotherBrokerHasNothingToEmpty() {
        let bench = up()
        bench.transport.lose()
        bench.bench.step()
        bench.change {
            toOther(&$0)
            toOtherBase(&$0)
        }
        #expect(bench.accept() == ["n/online online", "n/info i", "n/summary 1"])
    }

    @Test func aBrokerThatForbidsTheNewBaseHasNoPartInWhatComesAfter() {
        let bench = up()
        bench.change(toOtherBase)
        bench.acknowledge()
        bench.acknowledge()
        bench.transport.sent.removeAll()
        bench.transport.accept()
        bench.bench.step()
        bench.transport.acknowledgeAll(reason: 135)
        bench.bench.step()
        #expect(bench.statistics.deniedTopics == ["n/online", "n/info"])
        bench.bench.put("n/event", "refused", .essential)
        bench.ask(backToFirstBase)
        bench.take()
        for _ in 0..<4 {
            bench.transport.acknowledgeAll(reason: 135)
            bench.transport.sent.removeAll()
            bench.bench.step()
        }
        // What was refused is tried once with other settings, and is then nothing that could be allowed again.
        #expect(bench.accept() == ["s/online online", "s/info i", "s/summary 1", "n/event refused"])
        for message in bench.transport.sent where message.header.qos > 0 {
            bench.transport.events.append(.finished(id: message.id, reason: message.topic == "n/event" ? 135 : 0))
        }
        bench.bench.step()
        #expect(bench.statistics.deniedTopics.isEmpty)
        #expect(bench.statistics.held.isEmpty)
        #expect(bench.statistics.queueMessages == 0)
    }

    @Test(arguments: [("s", "s/s"), ("s/s", "s"), ("s", "sx"), ("s", "t")]) func basesInsideEachOther(
        old: String, new: String
    ) {
        var table = RetainedTable(order: ["\(old)/online", "\(old)/info"])
        func set(_ topic: String) {
            let header = PublicationHeader(topic: topic, qos: 1, retain: true, priority: .state)
            Array("x".utf8).withUnsafeBytes { _ = table.set(header, $0) }
        }
        func all() -> [String] {
            var bytes: [UInt8] = []
            var topics: [String] = []
            while let (header, _) = table.take(into: &bytes) { topics.append(header.topic) }
            return topics
        }
        set("\(old)/info")
        set("other")
        #expect(all() == ["\(old)/info", "other"])
        table.move(from: old, to: new, presence: "", change: 1)
        #expect(all() == ["\(old)/info"])
        table.release(change: 1)
        #expect(all() == ["\(new)/info"])
        set("\(old)/info")
        set("\(new)/health")
        #expect(all() == ["\(new)/info", "\(new)/health"])
        table.move(from: new, to: old, presence: "", change: 2)
        table.release(change: 1)
        #expect(all() == ["\(new)/info", "\(new)/health"])
        table.release(change: 2)
        #expect(all() == ["\(old)/info", "\(old)/health"])
    }
}
