import Messages
import Testing

@testable import Agent

/// One summary a minute is kept of the time without a broker.
@Suite struct OfflineSummariesTests {
    private static let topics = try? Topics(id: "a")

    private func kept(_ connected: (Int) -> Bool, seconds: Int) throws -> [Int] {
        let topics = try #require(Self.topics)
        var offline = OfflineSummaries(topics: topics)
        let header = Stream.summary.delivery.header(topic: topics.summary)
        var kept: [Int] = []
        for second in 0..<seconds {
            let late = offline.header(for: header, isConnected: connected(second), now: Int64(second) * 1_000_000_000)
            guard let late else { continue }
            #expect(late.topic == "seismote/a/data/history/summary")
            #expect(late.qos == 1 && !late.retain && late.isHistory)
            kept.append(second)
        }
        return kept
    }

    @Test func nothingWhileConnected() throws {
        #expect(try kept({ _ in true }, seconds: 200) == [])
    }

    @Test func nothingOfAShortBreak() throws {
        #expect(try kept({ $0 < 10 || $0 > 40 }, seconds: 200) == [])
    }

    @Test func oneAMinuteOfALongOne() throws {
        #expect(try kept({ $0 < 10 || $0 > 250 }, seconds: 400) == [70, 130, 190, 250])
    }

    @Test func theRootMayChangeOnTheWay() throws {
        let topics = try #require(Self.topics)
        var offline = OfflineSummaries(topics: topics)
        let other = try Topics(root: "school/seismote", id: "a")
        var kept: [String] = []
        for second in 0..<250 as Range<Int64> {
            let header = Stream.summary.delivery.header(topic: second < 100 ? topics.summary : other.summary)
            if let late = offline.header(for: header, isConnected: false, now: second * 1_000_000_000) {
                kept.append(late.topic)
            }
        }
        let history = "school/seismote/a/data/history/summary"
        #expect(kept == ["seismote/a/data/history/summary", history, history, history])
    }

    @Test func otherMessagesAreNoneOfIt() throws {
        let topics = try #require(Self.topics)
        var offline = OfflineSummaries(topics: topics)
        let header = Stream.health.delivery.header(topic: topics.health)
        for second in 0..<200 as Range<Int64> {
            let late = offline.header(for: header, isConnected: false, now: second * 1_000_000_000)
            #expect(late == nil)
        }
    }
}
