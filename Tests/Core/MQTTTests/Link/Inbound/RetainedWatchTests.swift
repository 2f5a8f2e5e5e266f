import Messages
import TestSupport
import Testing

@testable import MQTT

/// Somebody else writes retained topics of a station: late wills, values of before, other stations.
@Suite struct RetainedWatchTests {
    private static func bench(_ version: MQTTVersion = .v5) -> Bench {
        let bench = Bench {
            $0.base = "s"
            $0.connection.mqtt.protocolVersion = .init(version)
            $0.watched = ["s/online", "s/info", "s/alert/+"]
            $0.watchedWhole = ["s/schema", "home/device"]
            var check = LinkOptions.SelfCheck()
            (check.identityTopic, check.identity) = ("s/info", Array("boot-1".utf8))
            $0.selfCheck = check
        }
        bench.put("s/info", "boot-1", retain: true)
        bench.put("s/alert/mine", "wrong", retain: true)
        bench.put("s/schema", "all settings", retain: true)
        bench.put("home/device", "all entities", retain: true)
        bench.comeUp()
        bench.transport.answer()
        bench.step()
        bench.transport.acknowledgeAll()
        bench.step(after: second)
        bench.transport.sent.removeAll()
        return bench
    }

    private static func hear(_ bench: Bench, _ topic: String, _ text: String, retained: Bool = false) {
        bench.transport.events.append(
            .message(InboundMessage(topic: topic, payload: Array(text.utf8), isRetained: retained)))
        bench.step()
    }

    private static func said(_ bench: Bench) -> [String] {
        defer { bench.transport.sent.removeAll() }
        return bench.transport.sent.map { "\($0.topic)=\($0.text)\($0.header.retain ? "" : " not retained")" }
    }

    /// A defect: the delayed last will of another broker came over a bridge, and the station was `offline` for good.
    @Test(arguments: BrokerTests.versions) func offlineIsAnsweredWithinTwoSecondsAndAtMostOnceASecond(
        version: MQTTVersion
    ) {
        let bench = Self.bench(version)
        var answers: [UInt64] = []
        let begin = bench.now
        // Ten times a second, for five seconds.
        for _ in 0..<50 {
            Self.hear(bench, "s/online", "offline")
            bench.step(after: second / 10)
            bench.transport.acknowledgeAll()
            for word in Self.said(bench) {
                #expect(word == "s/online=online")
                answers.append(bench.now - begin)
            }
        }
        #expect(answers.first.map { $0 <= second } == true)
        #expect((4...6).contains(answers.count))
        for (earlier, later) in zip(answers, answers.dropFirst()) { #expect(later - earlier >= second) }
        #expect(bench.received.isEmpty)
        #expect(bench.core.statistics.overwritten?.topics == ["s/online"])
    }

    @Test func ourOwnWordThatComesBackIsNoNews() {
        let bench = Self.bench(.v311)
        Self.hear(bench, "s/online", "online")
        Self.hear(bench, "s/info", "boot-1")
        Self.hear(bench, "s/alert/mine", "wrong")
        Self.hear(bench, "s/alert/other", "")
        // One of before, behind which ours comes.
        Self.hear(bench, "s/alert/mine", "was wrong")
        Self.hear(bench, "s/alert/mine", "wrong")
        // What a broker has of before, with the subscription.
        Self.hear(bench, "s/online", "offline", retained: true)
        bench.step(after: 3 * second)
        #expect(Self.said(bench) == [])
        #expect(bench.core.statistics.overwritten == nil)
    }

    @Test func eachOfOurTopicsGetsItsValueBackAndForeignAlertsAreEmptied() {
        for (topic, foreign, wanted) in [
            ("s/info", "boot-1 of another name", "s/info=boot-1"), ("s/info", "", "s/info=boot-1"),
            ("s/alert/mine", "", "s/alert/mine=wrong"), ("s/alert/other", "{}", "s/alert/other="),
        ] {
            let bench = Self.bench()
            Self.hear(bench, topic, foreign)
            bench.step(after: RetainedCorrection.moment)
            #expect(Self.said(bench) == [wanted])
        }
    }

    /// Large ones come back in 3.1.1, where they are not subscribed to; a device that somebody deletes in Home Assistant
    /// is not there again at once.
    @Test func largeMessagesAreCorrectedWhereTheyDoNotComeBack() {
        for (topic, foreign, wanted) in [
            ("s/schema", "old settings", ["s/schema=all settings"]), ("s/schema", "", ["s/schema=all settings"]),
            ("home/device", "old entities", ["home/device=all entities"]), ("home/device", "", []),
        ] {
            let bench = Self.bench()
            #expect(bench.transport.log.contains("subscribe \(topic)"))
            Self.hear(bench, topic, foreign)
            bench.step(after: RetainedCorrection.moment)
            #expect(Self.said(bench) == wanted)
        }
        #expect(!Self.bench(.v311).transport.log.contains("subscribe s/schema"))
    }

    /// Each answers the other, for ever: less and less.
    @Test func twoStationsOfOneIDDoNotFightAndSayIt() {
        let bench = Self.bench()
        var answers = 0
        for _ in 0..<3600 {
            Self.hear(bench, "s/info", "boot-2")
            bench.transport.events.append(.heard)
            bench.step(after: second)
            bench.transport.acknowledgeAll()
            answers += Self.said(bench).filter { $0 == "s/info=boot-1" }.count
        }
        #expect((10...25).contains(answers), "\(answers)")
        #expect(bench.core.statistics.duplicate?.isSure == true)
        // The other is gone: the last answer comes within five minutes, and is remembered for ten.
        for _ in 0..<1000 {
            bench.transport.events.append(.heard)
            bench.step(after: second)
            bench.transport.acknowledgeAll()
        }
        #expect(bench.core.statistics.duplicate == nil)
        #expect(bench.core.statistics.overwritten == nil)
    }

    /// A station that was started again hears of its own run before, once.
    @Test func oneLateMessageIsNoAlert() {
        let bench = Self.bench()
        Self.hear(bench, "s/info", "boot-0")
        bench.step(after: second)
        #expect(Self.said(bench) == ["s/info=boot-1"])
        #expect(bench.core.statistics.duplicate == nil && bench.core.statistics.overwritten == nil)
    }
}
