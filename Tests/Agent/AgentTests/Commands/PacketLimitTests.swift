import Commands
import Foundation
import Messages
import Settings
import Spool
import TestSupport
import Testing
import Values

@testable import Agent
@testable import MQTT

/// Brokers that take small packets only. Defect: a reply that was larger was none at all, not even `failed`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PacketLimitTests {
    private static let start: Int64 = 1_767_608_400_000_000_000
    private static let events = 12

    /// A station with events and levels, at a broker, and somebody who hears its replies.
    private final class Scene {
        let broker: Broker
        let bench: AgentBench
        let subscriber: Subscriber
        private var number = 0

        init(_ broker: String, _ mqtt: String = "protocol: \"5\"") throws {
            self.broker = try Broker(broker)
            subscriber = try Subscriber(
                port: self.broker.port, ["seismote/test/res/#", "seismote/test/data/history/#"])
            let uri = "mqtt://127.0.0.1:\(self.broker.port)"
            bench = try AgentBench(
                "mqtt: {uri: \"\(uri)\", \(mqtt)}", [.sampling, .storage, .link], prepare: PacketLimitTests.fill)
            let link = bench.link
            #expect(eventually(within: 30) { link.isConnected })
        }

        /// The last reply; nil: none within ten seconds.
        func ask(_ verb: String, _ members: String = "") -> Subscriber.Message? {
            number += 1
            bench.send(verb, members)
            var found: Subscriber.Message?
            _ = eventually(within: 10) {
                bench.gate.give(1)
                bench.round()
                found = subscriber.messages(on: "seismote/test/res/q\(number)").last {
                    $0.contentType == "application/cbor" || $0.json["phase"] as? String != "accepted"
                }
                return found != nil
            }
            return found
        }
    }

    private static func id(_ index: Int) -> String {
        "test-\(Timestamp(nanoseconds: start + Int64(index) * 3_600_000_000_000).stamp)"
    }

    /// Ends of events of 2 kB each, and four minutes of levels.
    private static func fill(_ folder: TemporaryFolder) throws {
        var spool = try Spool.open(SpoolOptions(directory: folder.url.path), now: 0)
        for index in 0..<events {
            let event: Value = [
                "v": 1, "event_type": "end", "event_id": .string(id(index)),
                "filler": .string(String(repeating: "x", count: 2000)),
            ]
            var header = Stream.trigger.delivery.header(topic: "seismote/test/event/trigger")
            header.event = EventMark(id: id(index), part: .end)
            let key = try event.json().withBytes { bytes throws(SpoolError) in
                try spool.put(header, bytes, made: start)
            }
            try spool.settle(key, .delivered)
        }
        var ring = try RingWriter(
            codes: ChannelCodes(network: "XX", station: "TEST", location: "00", id: "test"), rate: 100, format: .v2,
            scale: CountScale(resolution: 1e-5))
        var pieces: [(WaveformSegment, [UInt8])] = []
        for i in 0..<24_000 {
            ring.append(Double(i % 1000) / 10, 1, 9.8, time: start + Int64(i) * 10_000_000, inEvent: false) {
                pieces.append(($0, Array($1)))
            }
        }
        ring.flush { pieces.append(($0, Array($1))) }
        for (segment, bytes) in pieces {
            let one = RingSegment(
                start: segment.start, end: segment.end, samples: segment.samples, rate: segment.rate, format: .v2,
                unit: segment.unit)
            try bytes.withBytes { bytes throws(SpoolError) in try spool.appendSegment(one, bytes) }
        }
        try spool.close()
    }

    private static func time(_ seconds: Int) -> String {
        "\"\(Timestamp(nanoseconds: start + Int64(seconds) * 1_000_000_000))\""
    }

    private static var questions: [(verb: String, members: String)] {
        [
            ("ping", ""), ("status", ""), ("time", ""), ("alerts", ""), ("config-get", ""),
            ("config", #""set":{"trace":{"rate_hz":10}},"dry_run":true"#), ("config", #""set":{"x":1,"y":2,"z":3}"#),
            ("config-confirm", ""), ("events", ""), ("events", #""limit":100"#),
            ("event", "\"event_id\":\"\(id(3))\""), ("event", "\"event_id\":\"none\""),
            ("history", "\"from\":\(time(0)),\"to\":\(time(240)),\"step_s\":1"),
            ("history", "\"from\":\(time(0)),\"to\":\(time(240)),\"step_s\":1,\"encoding\":\"cbor\""),
            ("snapshot", "\"from\":\(time(0)),\"to\":\(time(60))"),
            ("resend", #""stream":"event/trigger","boot":"b","from_seq":1,"to_seq":900"#),
            ("label", "\"event_id\":\"\(id(3))\",\"label\":\"footsteps\""), ("log", ""), ("rebirth", ""),
            ("reset-extremes", ""), ("silence", ""), ("nonsense", ""),
        ]
    }

    @Test(arguments: [300, 1000, 4000]) func everyCommandIsAnswered(_ limit: Int) throws {
        let scene = try Scene("max_packet_size \(limit)")
        #expect(scene.bench.link.statistics.packetLimit == limit)
        var told = 0
        for (verb, members) in Self.questions {
            let reply = scene.ask(verb, members)
            guard let reply else {
                Issue.record("\(verb) \(members): no reply")
                continue
            }
            if reply.contentType == "application/cbor" { continue }
            guard let error = (reply.json["errors"] as? [[String: Any]])?.first, error["code"] as? String == "too_large"
            else { continue }
            told += 1
            #expect((error["got"] as? Int ?? 0) > 0, "\(verb): \(reply.text)")
            #expect((error["allowed"] as? String)?.contains { $0.isNumber } == true, "\(verb): \(reply.text)")
            // What was done is not said to have failed.
            if verb == "label" || verb == "rebirth" { #expect(reply.json["phase"] as? String == "done") }
            if verb == "ping" || verb == "events" { #expect(reply.json["phase"] as? String == "failed") }
        }
        print("\(limit): \(told) of \(Self.questions.count) too large")
        #expect(limit == 300 ? told > 10 : limit == 1000 ? (1...8).contains(told) : told <= 2)
        #expect(scene.bench.link.statistics.lastTooLarge?.topic.contains("/res/") != true)
    }

    /// Pages of `events` and `history` are as long as there is room for, and all of them together are the whole.
    @Test(arguments: [2700, 8000]) func pagesFitIntoTheBrokersPackets(_ limit: Int) throws {
        let scene = try Scene("max_packet_size \(limit)")
        var (ids, pages, after) = ([String](), 0, "")
        while pages < 2 * Self.events {
            let result = scene.ask("events", "\"limit\":100" + after)?.json["result"] as? [String: Any]
            #expect(result?["matches"] as? Int == Self.events)
            ids += (result?["events"] as? [[String: Any]] ?? []).compactMap { $0["event_id"] as? String }
            pages += 1
            guard let next = result?["next"] as? Int else { break }
            after = ",\"after\":\(next)"
        }
        #expect(ids == (0..<Self.events).reversed().map(Self.id) && pages == (limit == 2700 ? 12 : 4))
        // Tenths.
        let truth = (0..<240).map { $0 % 10 * 100 + 99 }
        for coding in ["json", "cbor"] {
            var (column, from, questions) = ([Int](), Self.time(0), 0)
            while questions < 240 {
                questions += 1
                let members = "\"from\":\(from),\"to\":\(Self.time(240)),\"step_s\":1,\"encoding\":\"\(coding)\""
                guard let bytes = scene.ask("history", members).map({ [UInt8]($0.payload) }),
                    let tree = coding == "cbor" ? CBORReader.read(bytes) : try? JSONReader.read(bytes),
                    let result = tree["result"], case .array(let all)? = result["x"]?["max"]
                else { break }
                column += all.map { Int((($0.number ?? -1) * 10).rounded()) }
                guard let next = result["next"]?.rawText else { break }
                from = "\"\(next)\""
            }
            #expect(column == truth, "\(coding): \(column.count) steps")
            #expect(questions > 1)
        }
    }

    /// A snapshot comes in messages that the broker takes; where none of its records is, it is refused.
    @Test(arguments: [2000, 500]) func aSnapshotComesInSmallerMessages(_ limit: Int) throws {
        let scene = try Scene("max_packet_size \(limit)")
        let reply = scene.ask("snapshot", "\"from\":\(Self.time(0)),\"to\":\(Self.time(60))")?.json
        guard limit == 2000 else {
            let error = (reply?["errors"] as? [[String: Any]])?.first
            #expect(reply?["phase"] as? String == "failed" && error?["code"] as? String == "too_large")
            return
        }
        let result = reply?["result"] as? [String: Any]
        let wanted = result?["messages"] as? Int ?? 0
        #expect(reply?["phase"] as? String == "done" && wanted > 3, "\(reply ?? [:])")
        #expect(
            eventually(within: 20) { scene.subscriber.messages.count { $0.topic.contains("/waveform/") } == wanted })
    }

    /// With 3.1.1 a broker cannot say what it takes: the settings do.
    @Test func withoutAWordFromTheBrokerTheSettingsSayIt() throws {
        let scene = try Scene("", "protocol: \"3.1.1\", max_packet_bytes: 1000")
        #expect(scene.bench.link.statistics.packetLimit == 1000)
        let reply = scene.ask("config-get")?.json
        #expect(((reply?["errors"] as? [[String: Any]])?.first)?["code"] as? String == "too_large")
        #expect(scene.ask("ping")?.json["phase"] as? String == "done")
    }
}
