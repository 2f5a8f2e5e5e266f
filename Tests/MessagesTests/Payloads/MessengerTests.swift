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
                header("state/health", 1, true, .json, nil, .state),
                header("state/alert/sensor_missing", 1, true, .json, nil, .essential),
                header("state/alert/sensor_missing", 1, true, .json, nil, .essential),
                header("event/trigger", 1, false, .json, 3600, .essential, EventMark(id: id, part: .onset)),
                header("event/trigger", 1, false, .json, nil, .essential, EventMark(id: id, part: .end)),
                header("event/last", 1, true, .json, nil, .essential),
                header("data/trace", 1, false, .json, 60, .trace),
                header("data/waveform/e", 1, false, .mseed, nil, .essential, EventMark(id: "e", part: .waveform)),
            ])
        #expect(collector.sent[7].bytes.isEmpty)
        #expect(collector.sent[9].bytes == collector.sent[10].bytes)
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
        let numbers = try collector.sent.map { try #require($0.object()["seq"] as? Int) }
        #expect(numbers == [0, 0, 1, 0, 1, 1, 2])
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
