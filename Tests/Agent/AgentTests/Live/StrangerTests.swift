import Foundation
import Messages
import TestSupport
import Testing
import Values

@testable import Agent

/// Commands that would lead the station, or its password, to a stranger: what the stranger gets to see, byte for byte.
@Suite(.timeLimit(.minutes(10))) struct StrangerTests {
    private static func bench(_ home: RawListener, _ more: String = "") throws -> AgentBench {
        try AgentBench(
            """
            mqtt:
              uri: "mqtt://127.0.0.1:\(home.port)"
              username: station
              password: from-the-file
              reconnect: {min_s: 0.1, max_s: 0.2}
            \(more)
            """, [.sampling, .link])
    }

    /// Defect: the user and the password of the settings file went there in clear text.
    @Test(arguments: [nil, "all"]) func aBrokerThatACommandNamesIsToldNoPassword(_ group: String?) throws {
        let (home, stranger) = (try RawListener(), try RawListener())
        let bench = try Self.bench(home)
        #expect(eventually { home.greetings.contains { $0.hasText("from-the-file") && $0.hasText("station") } })
        bench.send(
            "config", "\"set\":{\"mqtt\":{\"uri\":\"mqtt://127.0.0.1:\(stranger.port)\"}},\"confirm_s\":2", group: group
        )
        func goesOn(until isTrue: () -> Bool) -> Bool {
            eventually(within: 20) {
                bench.round()
                if bench.orders.hasOrders { bench.gate.give(1) }
                return isTrue()
            }
        }
        #expect(goesOn { stranger.greetings.contains { $0.hasText("seismote-test") } })
        #expect(!stranger.greetings.contains { $0.hasText("from-the-file") || $0.hasText("station") })
        // Nobody confirms it: home again, as before.
        let before = home.greetings.count
        #expect(goesOn { home.greetings.dropFirst(before).contains { $0.hasText("from-the-file") } })
        #expect(bench.keeper.ledger.pending == nil)
        #expect(!stranger.greetings.contains { $0.hasText("from-the-file") || $0.hasText("station") })
    }

    @Test func aBrokerThatACommandNamesIsToldWhatTheCommandBrings() throws {
        let (home, other) = (try RawListener(), try RawListener())
        let bench = try Self.bench(home)
        #expect(eventually { !home.greetings.isEmpty })
        let patch =
            "{\"mqtt\":{\"uri\":\"mqtt://127.0.0.1:\(other.port)\",\"username\":\"guest\",\"password\":\"brought\"}}"
        #expect(bench.change(patch, ",\"confirm_s\":600"))
        #expect(eventually { other.greetings.contains { $0.hasText("guest") && $0.hasText("brought") } })
        #expect(!other.greetings.contains { $0.hasText("from-the-file") })
    }

    /// The restart does not make the stranger a friend.
    @Test func theNextStartTellsItNoPasswordEither() throws {
        let (home, stranger) = (try RawListener(), try RawListener())
        let bench = try Self.bench(home)
        #expect(eventually { !home.greetings.isEmpty })
        let patch = "{\"mqtt\":{\"uri\":\"mqtt://127.0.0.1:\(stranger.port)\"}}"
        #expect(bench.change(patch, ",\"confirm_s\":600"))
        let kept = try Data(contentsOf: URL(fileURLWithPath: bench.folder.path("settings.json")))
        let next = try AgentBench(
            "mqtt: {uri: \"mqtt://127.0.0.1:\(home.port)\", username: station, password: from-the-file}", [.link]
        ) { try kept.write(to: URL(fileURLWithPath: $0.path("settings.json"))) }
        #expect(next.keeper.ledger.connectionTrial == 1)
        #expect(eventually { stranger.greetings.count >= 2 })
        #expect(!stranger.greetings.contains { $0.hasText("from-the-file") || $0.hasText("station") })
    }

    @Test(arguments: [
        #"{"mqtt":{"password_file":"/etc/shadow"}}"#, #"{"mqtt":{"tls":{"ca_file":"/etc/shadow"}}}"#,
        #"{"mqtt":{"tls":{"cert_file":"/etc/shadow","key_file":"/etc/shadow"}}}"#,
        #"{"mqtt":{"tls":{"psk_identity":"a","psk_file":"/etc/shadow"}}}"#,
        #"{"sensor":{"driver":"replay","replay":{"file":"/etc/shadow"}}}"#, #"{"storage":{"directory":"/etc"}}"#,
        #"{"sensor":{"iio":{"uri":"ip:elsewhere"}}}"#, #"{"sensor":{"i2c":{"data_ready":"gpiochip0:1"}}}"#,
        #"{"mqtt":{"home_assistant":{"prefix":"seismote/other/cmd"}}}"#,
    ]) func noCommandNamesAFileOrAnAddressBesideTheBroker(_ patch: String) throws {
        let bench = try AgentBench("", [])
        for group in [nil, "all"] { bench.send("config", "\"set\":\(patch),\"confirm_s\":60", group: group) }
        var replies: [(id: String, phase: String, codes: [String])] = []
        #expect(
            eventually {
                bench.round()
                replies += bench.replies()
                return replies.count == 2
            })
        #expect(replies.allSatisfy { $0.codes.contains("locked") })
        #expect(bench.keeper.ledger.revision == 0)
    }
}
