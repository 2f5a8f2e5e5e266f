import Foundation
import Messages
import Settings
import Testing
import Values

@testable import Station

/// What events, summaries and levels say of the nature of an event.
@Suite struct AssessmentTests {
    /// Quiet, then a motion of several frequencies that grows within a second and fades: an earthquake to the discriminator.
    private static let quake: Recording = {
        var recording = burst(seconds: 75, from: 80, to: 80)
        for i in 4000..<7500 {
            let t = Double(i - 4000) / 100
            let envelope = 0.5 * min(1, t) * exp(-t / 5)
            func wave(_ phase: Double) -> Double {
                [1.3, 2.7, 4.1].reduce(0) { $0 + envelope * sin(2 * .pi * $1 * t * (1 + phase / 10) + phase * $1) }
            }
            recording.x[i] += wave(0)
            recording.y[i] += wave(1)
            recording.z[i] += 0.6 * wave(2)
        }
        return recording
    }()

    private func messages(_ recording: Recording = quake, _ change: (inout Configuration) -> Void) throws -> [Sent] {
        try play(recording.blocks(of: 100), testConfiguration(change)).sent
    }

    private func events(_ sent: [Sent]) -> [[String: Any]] {
        sent.filter { $0.name == "event/trigger" }.map(\.json)
    }

    private func time(_ event: [String: Any]) throws -> Int64 {
        try #require(Timestamp(event["onset"] as? String ?? "")).nanoseconds
    }

    @Test func anEarthquakeIsToldStepByStep() throws {
        let all = events(try messages { $0.alarm.enabled = true })
        let classes = try all.map { try #require($0["class"] as? [String: Any]) }
        #expect(classes.first?["likely"] as? String == "unclassified" && classes.first?["p"] == nil)
        #expect(classes.last?["likely"] as? String == "earthquake" && classes.last?["final"] as? Bool == true)
        #expect(classes.first?["final"] as? Bool == false && classes.contains { $0["certain"] as? Bool == true })
        let times = classes.compactMap { $0["t_s"] as? Double }
        for wanted in [0.48, 0.96, 1.92, 2.88, 4.8] { #expect(times.contains { abs($0 - wanted) < 0.13 }, "\(wanted)") }
        #expect(all.first?["alarm"] == nil && all.last?["alarm"] as? Bool == true)
        #expect(all.first?["onsite"] is NSNull)
        let estimates = all.compactMap { ($0["onsite"] as? [String: Any])?["t_s"] as? Int }
        #expect(Set(estimates) == [1, 2, 3, 5, 8] && estimates == estimates.sorted())
        for event in all {
            guard let onsite = event["onsite"] as? [String: Any] else { continue }
            func value(_ key: String) throws -> Double { try #require(onsite[key] as? Double) }
            // What has been is no less; the range is open to both sides of the prediction.
            let (low, predicted, high) = (try value("pgv_low"), try value("pgv_predicted"), try value("pgv_high"))
            #expect(low >= (event["pgv"] as? Double ?? .infinity) && low <= predicted && high > 2 * predicted)
        }
        let features = try #require(all.last?["class_features"] as? [[Double]])
        #expect(features.count == 5 && features.allSatisfy { $0.count == 17 })
        #expect(all.dropLast().allSatisfy { $0["class_features"] == nil })
    }

    /// A second after the onset an update for the motion and one for the estimate are due with the same sample, and so
    /// they are a second later: one goes out.
    @Test func oneUpdateAtAMoment() throws {
        let all = events(try messages { $0.alarm.enabled = true })
        let updates = all.filter { $0["event_type"] as? String == "update" }
        let moments = try updates.map { try #require($0["duration_s"] as? Double) }
        for due in [1.0, 2, 3, 5, 8] { #expect(moments.filter { abs($0 - due) < 0.005 }.count == 1, "\(due) s") }
        #expect(Set(moments).count == moments.count, "\(moments)")
    }

    @Test func theSummaryHasTheOpenEventsClass() throws {
        let sent = try messages { _ in }
        let classes = sent.filter { $0.name == "state/summary" }.map { $0.json["class"] as? [String: Any] }
        #expect(classes[0] == nil)
        #expect(classes.contains { $0?["likely"] as? String == "earthquake" })
        let end = try #require(sent.firstIndex { $0.name == "event/last" })
        #expect(sent[end...].filter { $0.name == "state/summary" }.allSatisfy { $0.json["class"] == nil })
    }

    /// Everything else stays, to the byte: only more updates come.
    @Test func nothingElseDependsOnIt() throws {
        let without = try messages {
            ($0.classification.enabled, $0.onsite.enabled) = (false, false)
        }
        let with = try messages { $0.alarm.enabled = true }
        func other(_ sent: [Sent]) -> [Sent] {
            // (The summary, which is the digest, too, and the level name the class.)
            let own = ["state/summary", "state/digest", "state/level"]
            return sent.filter { !$0.name.hasPrefix("event/") && !own.contains($0.name) }
        }
        #expect(other(with) == other(without))
        /// Without what the open event is taken for.
        func levels(_ sent: [Sent]) -> [NSDictionary] {
            sent.filter { $0.name == "state/level" }.map { $0.json.filter { $0.key != "likely" } as NSDictionary }
        }
        #expect(levels(with) == levels(without) && !levels(with).isEmpty)
        func plain(_ sent: [Sent], _ kind: String) throws -> [NSDictionary] {
            events(sent).filter { $0["event_type"] as? String == kind }.map { event in
                let own = ["class", "onsite", "alarm", "class_features", "seq"]
                return event.filter { !own.contains($0.key) } as NSDictionary
            }
        }
        for kind in ["onset", "end"] { #expect(try plain(with, kind) == plain(without, kind)) }
        let updates = (try plain(with, "update"), try plain(without, "update"))
        #expect(updates.1.allSatisfy { updates.0.contains($0) } && updates.0.count > updates.1.count)
        #expect(events(without).allSatisfy { $0["class"] == nil && $0["onsite"] is NSNull && $0["alarm"] == nil })
    }

    @Test func aTestEventIsNotJudged() throws {
        var pipeline = try StationPipeline(
            configuration: testConfiguration { $0.alarm.enabled = true }, sensor: .init(rate: 100, range: nil),
            boot: "b")
        var told: [[String: Any]] = []
        let sink: PublicationSink = { header, bytes in
            let sent = Sent(topic: header.topic, qos: 0, retain: false, bytes: Array(bytes))
            if sent.name == "event/trigger" { told.append(sent.json) }
        }
        var isBegun = false
        for (i, block) in burst(seconds: 60, from: 70, to: 70).blocks(of: 100).enumerated() {
            if i == 30 { isBegun = pipeline.beginTestEvent() }
            pipeline.process(block, quality: .replay, to: sink)
        }
        #expect(told.last?["event_type"] as? String == "end" && told.allSatisfy { $0["class"] == nil })
        let isAlarm = pipeline.isAlarm
        #expect(isBegun && !isAlarm)
    }

    /// A change of what belongs to other stages does not disturb an assessment; one of its own ends the alarm's watch only.
    @Test func goesOnOverAChangeOfSettings() throws {
        func run(_ change: ((inout Configuration) -> Void)?) throws -> [[String: Any]] {
            var configuration = testConfiguration { $0.alarm.enabled = true }
            var pipeline = try StationPipeline(
                configuration: configuration, sensor: .init(rate: 100, range: nil), boot: "b")
            var told: [[String: Any]] = []
            let sink: PublicationSink = { header, bytes in
                let sent = Sent(topic: header.topic, qos: 0, retain: false, bytes: Array(bytes))
                if sent.name == "event/trigger" { told.append(sent.json) }
            }
            for (i, block) in Self.quake.blocks(of: 100).enumerated() {
                if i == 39, let change {
                    change(&configuration)
                    try pipeline.reconfigure(configuration, revision: 0, to: sink)
                }
                pipeline.process(block, quality: .replay, to: sink)
            }
            pipeline.finish(to: sink)
            return told
        }
        let plain = try run(nil)
        for other in [{ $0.trace.rate = 10 }, { $0.alarm.velocity = 0.004 }] as [(inout Configuration) -> Void] {
            let changed = try run(other)
            #expect(changed.map { $0["class"] as? NSDictionary } == plain.map { $0["class"] as? NSDictionary })
            #expect(changed.last?["alarm"] as? Bool == true)
        }
    }
}
