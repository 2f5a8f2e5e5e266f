import Foundation
import Messages
import Testing

@testable import Station

/// Blocks whose numbers say nothing.
@Suite struct FaultTests {
    /// 60 s with shaking from 20 to 25 s; the fault is there for blocks that begin in an interval of seconds.
    private static func play(
        block: Int = 100, faulty: Range<Double>, _ reason: InvalidReason = .stuck
    ) throws -> (sent: [Sent], status: StationStatus) {
        var pipeline = try StationPipeline(
            configuration: testConfiguration(), sensor: StationSensor(rate: 100), boot: "boot")
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        let recording = burst()
        for b in recording.blocks(of: block) {
            let second = Double(b.time - recording.start) / 1e9
            pipeline.process(b, quality: .replay, fault: faulty.contains(second) ? reason : nil, to: sink)
        }
        pipeline.finish(to: sink)
        return (sent, pipeline.status)
    }

    @Test func noEventBeginsFromThem() throws {
        #expect(try Self.play(faulty: 100..<101).sent.contains { $0.name == "event/trigger" })
        #expect(try !Self.play(faulty: 10..<40).sent.contains { $0.name == "event/trigger" })
    }

    @Test(arguments: [InvalidReason.stuck, .implausible]) func theSummarySaysSo(reason: InvalidReason) throws {
        let summaries = try Self.play(faulty: 10..<40, reason).sent.filter { $0.name == "state/summary" }.map(\.json)
        let reasons = summaries.map { $0["reason"] as? String }
        // (The velocity is certain some seconds after a start.)
        #expect(reasons.prefix(10).allSatisfy { $0 == nil || $0 == "settling" } && reasons[9] == nil)
        #expect(reasons[10..<40].allSatisfy { $0 == reason.rawValue })
        #expect(summaries[10..<40].allSatisfy { $0["valid"] as? Bool == false })
        #expect(reasons[41...].allSatisfy { $0 == nil || $0 == "gap" } && reasons.last == .some(nil))
    }

    @Test func whatFollowsBeginsAsAfterAGap() throws {
        let (sent, status) = try Self.play(faulty: 10..<40)
        #expect(status.gaps == 1 && status.lostSamples == 0 && status.samples == 6000)
        let gaps = sent.filter { $0.name == "data/trace" && $0.json["gap"] as? Bool == true }
        #expect(gaps.count == 1)
        #expect((gaps.first?.json["t"] as? String)?.hasPrefix("2026-01-05T10:21:10.12") == true)
    }

    /// An event that is open when the sensor fails ends by itself.
    @Test func anOpenEventEnds() throws {
        let events = try Self.play(faulty: 22..<100).sent.filter { $0.name == "event/trigger" }
        #expect(events.first?.json["event_type"] as? String == "onset")
        #expect(events.last?.json["event_type"] as? String == "end")
    }

    @Test func anyBlockSizeThatKeepsTheBordersGivesTheSame() throws {
        let whole = try Self.play(block: 1000, faulty: 10..<40)
        let cut = try Self.play(block: 10, faulty: 10..<40)
        #expect(whole.sent == cut.sent && whole.status == cut.status)
    }
}
