import Foundation
import Messages
import Settings
import SignalProcessing

@testable import Station

/// A run during which something is asked of the pipeline before a sample; blocks end there, whatever their size.
struct OrderedRun {
    var sent: [Sent] = []
    /// x, y, z one after the other, m/s².
    var raw: [[Double]] = [[], [], []]
    var filtered: [[Double]] = [[], [], []]
    var rms: [[Double]] = [[], [], []]
    var status = StationStatus()

    init(
        _ recording: Recording, _ configuration: Configuration, size: Int = 50, gaps: [Int: Int] = [:],
        at orders: [Int: (inout StationPipeline, PublicationSink) throws -> Void] = [:]
    ) throws {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: recording.rate), boot: "boot")
        var (raw, filtered, rms) = (raw, filtered, rms)
        pipeline.onSeries = { chunk in
            for axis in 0..<3 {
                for i in 0..<chunk.count {
                    raw[axis].append(chunk.raw[axis * chunk.stride + i])
                    filtered[axis].append(chunk.filtered[axis * chunk.stride + i])
                    rms[axis].append(chunk.rms[axis * chunk.stride + i])
                }
            }
        }
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        var passed = 0
        for block in recording.blocks(of: size, gaps: gaps) {
            var i = 0
            while i < block.count {
                if let order = orders[passed] { try order(&pipeline, sink) }
                var part = SampleBlock(capacity: size)
                part.time = block.time + Int64((Double(i) * 1e9 / recording.rate).rounded())
                part.gapBefore = i == 0 && block.gapBefore
                part.lostBefore = i == 0 ? block.lostBefore : 0
                repeat {
                    part.append(block[0, i], block[1, i], block[2, i])
                    i += 1
                    passed += 1
                } while i < block.count && orders[passed] == nil
                pipeline.process(part, quality: .replay, to: sink)
            }
        }
        pipeline.finish(to: sink)
        pipeline.onSeries = nil
        (self.sent, self.raw, self.filtered, self.rms, status) = (sent, raw, filtered, rms, pipeline.status)
    }

    func messages(_ name: String) -> [[String: Any]] { sent.filter { $0.name == name }.map(\.json) }

    /// All but those of some streams.
    func others(than names: String...) -> [Sent] { sent.filter { one in !names.contains { one.name.hasPrefix($0) } } }
}
