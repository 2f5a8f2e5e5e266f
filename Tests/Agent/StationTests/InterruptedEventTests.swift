import Foundation
import Messages
import MiniSEED
import Settings
import Testing
import Values

@testable import Station

/// An event that a killed agent left open is closed with what was kept of it.
@Suite struct InterruptedEventTests {
    private struct Run {
        var sent: [(header: PublicationHeader, bytes: [UInt8])] = []
        var segments: [[UInt8]] = []
    }

    /// What an agent made until it was killed after so many samples, and what a whole run makes.
    private func run(samples: Int? = nil) throws -> Run {
        var pipeline = try StationPipeline(
            configuration: testConfiguration { $0.waveform.chunk = 3 },
            sensor: StationSensor(rate: 100, resolution: 1e-3), boot: "boot")
        var run = Run()
        pipeline.onSegment = { run.segments.append(Array($1)) }
        let sink: PublicationSink = { run.sent.append(($0, Array($1))) }
        var left = samples ?? .max
        for block in burst(seconds: 70).blocks(of: 10) where left > 0 {
            pipeline.process(block, quality: .replay, to: sink)
            left -= block.count
        }
        if samples == nil { pipeline.finish(to: sink) }
        return run
    }

    private func interrupted(_ run: Run) throws -> InterruptedEvent {
        let triggers = run.sent.filter { $0.header.topic.hasSuffix("event/trigger") }
        let newest = try #require(triggers.last)
        let id = try #require(newest.header.event?.id)
        return InterruptedEvent(
            id: id, newest: newest.bytes, header: newest.header,
            waveform: run.sent.filter { $0.header.event?.part == .waveform }.map(\.bytes))
    }

    private func topic(_ event: InterruptedEvent) -> PublicationHeader {
        Stream.waveform.delivery.header(topic: "seismote/test/data/waveform/\(event.id)")
    }

    private func samples(_ messages: [[UInt8]], channel: Int) throws -> [Double] {
        var byChannel: [String: [Double]] = [:]
        for bytes in messages {
            var reader = MiniSEEDReader(bytes)
            while let record = try reader.next() {
                byChannel[record.header.source.description, default: []] += record.samples.values
            }
        }
        return byChannel.sorted { $0.key < $1.key }.map(\.value)[channel]
    }

    @Test(arguments: [2150, 2303, 2999]) func theRestOfTheWaveformAndAnEnd(samples count: Int) throws {
        let whole = try run()
        let killed = try run(samples: count)
        let event = try interrupted(killed)
        let messages = try #require(
            event.messages(segments: killed.segments, from: 0, topic: topic(event)))
        let end = try #require(messages.last)
        #expect(end.header.event == EventMark(id: event.id, part: .end))
        #expect(end.header.expiry == nil)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(end.payload)) as? [String: Any])
        let last = try #require(try JSONSerialization.jsonObject(with: Data(event.newest)) as? [String: Any])
        #expect(json["event_type"] as? String == "end")
        #expect(json["interrupted"] as? Bool == true)
        #expect(json["event_id"] as? String == event.id)
        #expect(json["boot"] as? String == "boot")
        #expect(json["seq"] as? Int == (last["seq"] as? Int ?? 0) + 1)
        #expect(json["pga"] as? Double == last["pga"] as? Double)
        // The waveform goes on where it was, without a sample twice, up to a second before the kill.
        let all = event.waveform + messages.dropLast().map(\.payload)
        let expected = try samples(whole.sent.filter { $0.header.event?.part == .waveform }.map(\.bytes), channel: 0)
        let found = try samples(all, channel: 0)
        #expect(found.count > 100 && found == Array(expected.prefix(found.count)))
        #expect(found.count <= expected.count)
        let waveform = try #require(json["waveform"] as? [String: Any])
        #expect(waveform["messages"] as? Int == all.count)
        #expect(waveform["bytes"] as? Int == all.reduce(0) { $0 + $1.count })
        #expect(waveform["sha256"] as? String == SHA256.hexDigest(of: all.flatMap { $0 }))
    }

    @Test func withoutWaveformsThereIsAnEndAlone() throws {
        let killed = try run(samples: 2303)
        let event = try interrupted(killed)
        let messages = try #require(event.messages(segments: killed.segments, from: 0, topic: nil))
        #expect(messages.count == 1)
    }

    @Test func whatIsNoEventIsLeftAlone() {
        let header = PublicationHeader(topic: "t", qos: 1, retain: false, priority: .essential)
        for text in ["", "{", "[]", "{\"onset\": 5}", "{\"onset\": \"yesterday\"}"] {
            let event = InterruptedEvent(id: "e", newest: Array(text.utf8), header: header, waveform: [[1, 2, 3]])
            #expect(event.messages(segments: [[4]], from: 0, topic: nil) == nil)
        }
    }
}
