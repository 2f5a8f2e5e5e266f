import Foundation
import TestSupport
import Testing

@testable import seismote

/// `seismote simulate-fleet`.
@Suite struct FleetTests {
    @Test(arguments: [(100, 20_000, 1), (6633, 20_000, 1), (6634, 20_000, 2), (10_000, 20_000, 2), (10_000, 1024, 33)])
    func threadsShareTheOpenFiles(_ stations: Int, _ files: Int, _ threads: Int) {
        #expect(SimulatedFleet.threads(for: stations, openFiles: files) == threads)
    }

    @Test func tooFewFilesForAnyStation() { #expect(SimulatedFleet.threads(for: 1, openFiles: 100) == nil) }

    /// Three threads, each with fewer files than a third of the stations of one would need. What the broker answers to is
    /// written down, once each.
    @Test func aFleetOfSeveralThreads() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder()
        let sent = folder.url.appendingPathComponent("sent.jsonl")
        let tool = AgentProcess.builtProgram("seismote")
        let child = try ChildProcess(
            "/bin/sh",
            [
                "-c",
                "ulimit -n 160; exec \(tool) simulate-fleet 60 --broker mqtt://127.0.0.1:\(broker.port) --per-second 200 "
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
