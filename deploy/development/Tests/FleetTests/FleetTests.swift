import Foundation
import Seismology
import TestSupport
import Testing

@testable import simulate_fleet

/// `simulate-fleet`.
@Suite struct FleetTests {
    @Test(arguments: [(100, 20_000, 1), (6633, 20_000, 1), (6634, 20_000, 2), (10_000, 20_000, 2), (10_000, 1024, 33)])
    func threadsShareTheOpenFiles(_ stations: Int, _ files: Int, _ threads: Int) {
        #expect(SimulatedFleet.threads(for: stations, openFiles: files) == threads)
    }

    /// A wave sets in with its peak and fades; a level has the largest of its window, and nothing before the wave is there.
    @Test(arguments: [
        (0.0, 0.0), (19.9, 0), (20, 0.1), (29, 0.1), (30, 1), (39.9, 1), (40, 1), (45, 0.367_879), (50, 0.135_335),
    ])
    func levelsFollowAWave(_ time: Double, _ peak: Double) {
        let shaking = SimulatedEarthquake.Shaking(p: 20, s: 30, firstPeak: 0.1, peak: 1, distance: 80)
        #expect(abs(shaking.peak(within: time - 10...time) - peak) < 1e-6)
        #expect(!shaking.isOver(at: time) && shaking.isOver(at: 66))
    }

    /// While an event is open the levels of its station say so, with its acceleration and intensity; after it no more.
    @Test func levelsAgreeWithTheEvents() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port, ["seismote/+/state/level", "seismote/+/event/trigger"])
        let child = try ChildProcess(
            AgentProcess.builtProgram("simulate-fleet"),
            [
                "3", "--broker", "mqtt://127.0.0.1:\(broker.port)", "--per-second", "200",
                "--seconds", "30", "--false-onsets", "8640", "--level-seconds", "1",
            ])
        #expect(child.wait(within: 60) == 0, "\(child.errors)")
        var open: [String: Int] = [:]
        var largest: [String: Double] = [:]
        var compared = 0
        var ended = 0
        for message in listener.messages {
            let parts = message.topic.split(separator: "/").map(String.init)
            let (station, body) = (parts[1], message.json)
            if parts[3] == "trigger" {
                let kind = try #require(body["event_type"] as? String)
                open[station, default: 0] += kind == "onset" ? 1 : kind == "end" ? -1 : 0
                if kind == "end" { ended += 1 }
                largest[station] = kind == "end" ? nil : try #require(body["pga"] as? Double)
                #expect(body["mmi"] is Double && body["pgv"] is Double)
                continue
            }
            let triggered = try #require(body["triggered"] as? Bool)
            #expect(triggered == (open[station, default: 0] > 0), "\(message.text)")
            let (pga, mmi) = (try #require(body["pga"] as? Double), try #require(body["mmi"] as? Double))
            let expected = try #require(IntensityRelation.worden12.estimate(.init(pga: pga, pgv: pga / 10))).value
            #expect(abs(mmi - expected) < 1e-3, "\(message.text)")
            guard let peak = largest.removeValue(forKey: station), triggered else { continue }
            #expect(pga >= peak * 0.999, "\(message.text) after \(peak)")
            compared += 1
        }
        #expect(compared > 3 && ended > 0, "\(compared) levels beside events, \(ended) ends")
    }

    @Test func tooFewFilesForAnyStation() { #expect(SimulatedFleet.threads(for: 1, openFiles: 100) == nil) }

    /// Three threads, each with fewer files than a third of the stations of one would need. What the broker answers to is
    /// written down, once each.
    @Test func aFleetOfSeveralThreads() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder()
        let sent = folder.url.appendingPathComponent("sent.jsonl")
        let program = AgentProcess.builtProgram("simulate-fleet")
        let child = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "ulimit -n 160; exec \(program) 60 --broker mqtt://127.0.0.1:\(broker.port) --per-second 200 "
                    + "--seconds 6 --false-onsets 86400 --sent \(sent.path)",
            ])
        #expect(child.wait(within: 60) == 0)
        let last = child.errors.split(separator: "\n").last.map(String.init) ?? ""
        #expect(last.hasPrefix("60 of 60 connected, "), "\(child.errors)")
        #expect(last.contains(" 0 refused"), "\(last)")
        #expect(last.contains(", 0 connections lost"), "\(last)")
        let lines = try String(contentsOf: sent, encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let names = lines.map { "\($0["event_id"] ?? "") \($0["event_type"] ?? "")" }
        #expect(names.count > 60)
        #expect(Set(names).count == names.count)
        // (The last ones may be on their way when the time is over.)
        #expect(lines.filter { $0["answered"] is NSNull }.count < names.count / 4)
        #expect(Set(names.map { $0.prefix(8) }).count > 40, "of most stations")
    }
}
