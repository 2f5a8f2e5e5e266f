import Messages
import Testing

@testable import MQTT

/// A defect: two agents with one id took each other's place without end, and said nothing but "connection was lost".
@Suite struct DuplicateTests {
    private func up(_ version: MQTTVersion, _ change: (inout LinkOptions) -> Void = { _ in }) -> Bench {
        let bench = Bench {
            $0.connection.mqtt.protocolVersion = .init(version)
            ($0.connection.mqtt.keepalive, $0.connection.mqtt.reconnectMinimum, $0.connection.mqtt.reconnectMaximum) = (
                0, 1, 120
            )
            change(&$0)
        }
        bench.comeUp()
        bench.acknowledge()
        return bench
    }

    /// The connection ends while nothing is on its way; the time until the next attempt (ns).
    private func end(_ bench: Bench, code: Int = 0) -> UInt64 {
        bench.step(after: second)
        bench.transport.isConnected = false
        bench.transport.events.append(.lost(reason: "end", byPeer: true, code: code))
        bench.step()
        guard case .waiting(let until) = bench.core.life.state else { return 0 }
        let pause = until - bench.now
        bench.step(after: pause)
        bench.transport.accept()
        bench.step()
        bench.acknowledge()
        return pause
    }

    @Test func with5TheBrokerSaysThatOurPlaceIsTaken() {
        let bench = up(.v5)
        var pauses = [end(bench, code: 142)]
        #expect(bench.core.statistics.duplicate == .init(count: 1, isSure: true))
        for _ in 0..<9 { pauses.append(end(bench, code: 142)) }
        #expect(pauses.last.map { $0 > 200 * second && $0 <= 300 * second } == true)
        for (pause, next) in zip(pauses, pauses.dropFirst()) { #expect(next >= min(pause, 200 * second)) }
        // The other is gone.
        bench.step(after: 599 * second)
        #expect(bench.core.statistics.duplicate != nil)
        bench.step(after: 2 * second)
        #expect(bench.core.statistics.duplicate == nil)
        #expect(end(bench) <= 3 * second)
    }

    @Test func with311ConnectionsThatEndInTheMiddleOfNothingAreASign() {
        let bench = up(.v311)
        for _ in 1..<DuplicateWatch.enough {
            #expect(end(bench) < 60 * second)
            #expect(bench.core.statistics.duplicate == nil)
        }
        _ = end(bench)
        #expect(bench.core.statistics.duplicate == .init(count: UInt64(DuplicateWatch.enough), isSure: false))
        var pauses: [UInt64] = []
        for _ in 0..<8 { pauses.append(end(bench)) }
        #expect(pauses.last.map { $0 > 200 * second } == true)
        #expect(bench.core.statistics.held == [])
    }

    /// Ends now and then are none.
    @Test func aBrokerThatIsStartedOnceADayIsNoOtherStation() {
        let bench = up(.v311)
        for _ in 0..<20 {
            bench.step(after: 700 * second)
            _ = end(bench)
        }
        #expect(bench.core.statistics.duplicate == nil)
    }

    @Test func aLineThatBreaksWithAMessageIsNoOtherStation() {
        let bench = up(.v311)
        for index in 0..<20 {
            bench.step(after: second)
            bench.put("t", "\(index)")
            bench.step()
            bench.transport.lose()
            bench.step()
            bench.transport.sent.removeAll()
            bench.step(after: 120 * second)
            bench.transport.accept()
            bench.step()
            bench.acknowledge()
        }
        #expect(bench.core.statistics.duplicate == nil)
    }

    @Test func wordsOfAnotherOnOurOwnTopicMakeItSure() {
        let bench = up(.v311) {
            var check = LinkOptions.SelfCheck()
            check.echoTopics = ["s/info"]
            (check.identityTopic, check.identity) = ("s/info", Array("me".utf8))
            $0.selfCheck = check
        }
        bench.put("s/info", "it is me", retain: true)
        bench.step()
        bench.acknowledge()
        func comeBack(_ words: String) {
            bench.step(after: second)
            bench.transport.lose()
            bench.step()
            bench.step(after: 300 * second)
            bench.transport.accept()
            bench.step()
            bench.transport.answer()
            bench.echo("s/info", retained: true, words)
            bench.step()
            bench.acknowledge()
        }
        for _ in 0..<3 { comeBack("it is me") }
        #expect(bench.core.statistics.duplicate == nil)
        for _ in 0..<3 { comeBack("it is you") }
        #expect(bench.core.statistics.duplicate?.isSure == true)
    }
}
