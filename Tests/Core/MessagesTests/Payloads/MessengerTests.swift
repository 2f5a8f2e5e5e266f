import Seismology
import Testing

@testable import Messages

@Suite struct MessengerTests {
    /// The table of interface.md.
    @Test func everyMessageTravelsAsTheInterfaceSays() throws {
        let collector = Collector()
        var m = try Samples.messenger()
        m.send(online: true, to: collector.sink)
        m.send(Samples.info, time: 0, to: collector.sink)
        m.send(Samples.config, time: 0, to: collector.sink)
        m.send(schema: .object([]), to: collector.sink)
        m.send(Samples.summary, time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.health, time: 0, to: collector.sink)
        m.send(Samples.alert, time: 0, to: collector.sink)
        m.clearAlert("sensor_missing", to: collector.sink)
        m.send(Samples.event(.onset), time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.event(.end), time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.trace(), time: 0, quality: .replay, to: collector.sink)
        collector.sink(m.waveformHeader(eventID: "e"), UnsafeRawBufferPointer(start: nil, count: 0))
        m.send(Samples.update, time: 0, to: collector.sink)

        let base = "seismote/basement-north"
        func header(
            _ topic: String, _ qos: Int, _ retain: Bool, _ type: ContentType, _ expiry: UInt32?, _ priority: Priority,
            _ event: EventMark? = nil
        ) -> PublicationHeader {
            var header = PublicationHeader(
                topic: "\(base)/\(topic)", qos: qos, retain: retain, contentType: type, expiry: expiry,
                priority: priority)
            header.event = event
            return header
        }
        let id = Samples.event(.onset).eventID
        #expect(
            collector.sent.map(\.header) == [
                header("state/online", 1, true, .text, nil, .essential),
                header("state/info", 1, true, .json, nil, .essential),
                header("state/config", 1, true, .json, nil, .essential),
                header("state/config/schema", 1, true, .json, nil, .essential),
                header("state/summary", 0, true, .json, nil, .state),
                header("state/digest", 0, true, .json, nil, .state),
                header("state/level", 0, true, .json, nil, .state),
                header("state/health", 1, true, .json, nil, .state),
                header("state/alert/sensor_missing", 1, true, .json, nil, .essential),
                header("state/alert/sensor_missing", 1, true, .json, nil, .essential),
                header("event/trigger", 1, false, .json, 3600, .essential, EventMark(id: id, part: .onset)),
                header("event/current", 1, true, .json, 2_592_000, .essential),
                header("event/trigger", 1, false, .json, nil, .essential, EventMark(id: id, part: .end)),
                header("event/last", 1, true, .json, nil, .essential),
                header("event/current", 1, true, .json, 2_592_000, .essential),
                header("data/trace", 1, false, .json, 60, .trace),
                header("data/waveform/e", 1, false, .mseed, nil, .essential, EventMark(id: "e", part: .waveform)),
                header("state/update", 1, true, .json, nil, .essential),
            ])
        #expect(collector.sent[4].bytes == collector.sent[5].bytes)
        #expect(collector.sent[9].bytes.isEmpty)
        // An event is retained twice: open, and over.
        #expect(collector.sent[10].bytes == collector.sent[11].bytes)
        #expect(collector.sent[12].bytes == collector.sent[13].bytes)
        #expect(collector.sent[14].bytes.isEmpty)
    }

    @Test func eachStreamCountsForItself() throws {
        let collector = Collector()
        var m = try Samples.messenger()
        m.send(Samples.summary, time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.trace(), time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.summary, time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.event(.onset), time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.event(.end), time: 0, quality: .replay, to: collector.sink)
        m.send(Samples.summary, time: 0, quality: .replay, to: collector.sink)
        let numbers = try collector.sent.filter { !$0.bytes.isEmpty }.map { try #require($0.object()["seq"] as? Int) }
        // Each summary with its level, the first also as a digest, the event's messages twice.
        #expect(numbers == [0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2])
    }

    /// One in ten seconds, and each in which the state of the station is another.
    @Test func digestsAreFew() throws {
        let collector = Collector()
        var m = try Samples.messenger()
        var summary = Samples.summary
        (summary.triggered, summary.eventClass) = (false, nil)
        var digests: [Int] = []
        func second(_ second: Int) {
            let before = collector.sent.count
            m.send(summary, time: Int64(second) * 1_000_000_000, quality: .replay, to: collector.sink)
            if collector.sent.dropFirst(before).contains(where: { $0.header.topic.hasSuffix("/digest") }) {
                digests.append(second)
            }
        }
        for s in 0..<24 { second(s) }
        #expect(digests == [0, 10, 20])
        summary.triggered = true
        second(24)
        summary.eventClass = EventClass()
        second(25)
        summary.eventClass?.likely = .earthquake
        second(26)
        summary.eventClass?.isCertain = true
        second(27)
        summary.alarm = true
        for s in 28..<40 { second(s) }
        #expect(digests == [0, 10, 20, 24, 25, 26, 27, 28, 38])
        // The messenger of other settings goes on; time that goes back begins anew.
        var other = try Samples.messenger()
        other.takeOver(m)
        m = other
        second(40)
        second(3)
        #expect(digests.suffix(2) == [38, 3])
    }

    /// An overview of 1000 stations reads one each second of each.
    @Test func aLevelIsSmall() throws {
        let collector = Collector()
        var m = Messenger(topics: try Topics(id: String(repeating: "s", count: 20)), boot: Samples.boot)
        var summary = Samples.summary
        summary.pga = 1.2345678901e-5
        for k in summary.intensity.indices { summary.intensity[k].value = 12.345678 }
        m.send(summary, time: 0, quality: .replay, to: collector.sink)
        #expect(collector.sent[2].header.topic.hasSuffix("/level") && collector.sent[2].bytes.count <= 250)
    }

    /// Typed stores take the type of the first value that they see.
    @Test func aFloatNeverLooksLikeAnInteger() throws {
        let collector = Collector()
        var m = try Samples.messenger()
        var summary = Samples.summary
        (summary.pga, summary.pgv) = (3, 0.1)
        m.send(summary, time: 0, quality: .replay, to: collector.sink)
        var event = Samples.event(.onset)
        (event.pga, event.pgv) = (3, 1 / 3)
        m.send(event, time: 0, quality: .replay, to: collector.sink)
        let texts = collector.sent.map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(texts[0].contains("\"pga\":3.0,"))
        #expect(texts[0].contains("\"pgv\":0.1,"))
        #expect(texts[2].contains("\"pga\":3.0,"))
        // Events keep all digits.
        #expect(texts[3].contains("\"pga\":3.0,"))
        #expect(texts[3].contains("\"pgv\":0.3333333333333333,"))
    }

    @Test func tracesTakeTheirQualityOfServiceFromTheSettings() throws {
        let collector = Collector()
        var m = Messenger(topics: try Topics(id: "a"), boot: Samples.boot, traceQoS: 0)
        m.send(Samples.trace(), time: 0, quality: .replay, to: collector.sink)
        #expect(collector.sent.first?.header.qos == 0)
    }

    @Test func traceBlocksAreReused() throws {
        var block = Samples.trace()
        block.gap = true
        block.removeAll()
        #expect(block.count == 0)
        #expect(!block.gap)
        for _ in 0..<20 { block.append([.raw], [0, 0, 0], triggered: 0) }
        #expect(block.isFull)
        block.append([.raw], [1, 1, 1], triggered: 7)
        #expect(block.count == 20)
        #expect(block.value(.raw, axis: 2, at: 0) == 0)
        #expect(!block.isTriggered(axis: 0, at: 3))
        let collector = Collector()
        var m = try Samples.messenger()
        m.send(block, time: 0, quality: .replay, to: collector.sink)
        let z = try #require(collector.sent[0].object()["z"] as? [String: [Double]])
        #expect(z["raw"] == [Double](repeating: 0, count: 20))
    }
}
