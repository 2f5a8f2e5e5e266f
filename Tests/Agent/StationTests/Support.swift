import Foundation
import Messages
import Settings
import SignalProcessing

@testable import Station

/// A message as a test looks at it.
struct Sent: Equatable {
    var topic: String
    var qos: Int
    var retain: Bool
    var bytes: [UInt8]

    /// The topic below `seismote/test/`.
    var name: String { String(topic.dropFirst("seismote/test/".count)) }

    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }
}

/// Three axes over time, with gaps.
struct Recording {
    var rate = 100.0
    var start: Int64 = 1_767_608_430_120_000_000
    var x: [Double]
    var y: [Double]
    var z: [Double]

    /// Blocks of a size; none goes over one of the places where samples are missing.
    /// - Parameter gaps: sample number and how many are missing before it.
    func blocks(of size: Int, gaps: [Int: Int] = [:]) -> [SampleBlock] {
        var blocks: [SampleBlock] = []
        var i = 0
        var lost = 0
        while i < x.count {
            var block = SampleBlock(capacity: size)
            if let missing = gaps[i] {
                lost += missing
                block.lostBefore = missing
            }
            block.gapBefore = i == 0 || gaps[i] != nil
            block.time = start + Int64((Double(i + lost) * 1e9 / rate).rounded())
            repeat {
                block.append(x[i], y[i], z[i])
                i += 1
            } while block.count < size && i < x.count && gaps[i] == nil
            blocks.append(block)
        }
        return blocks
    }
}

func testConfiguration(_ change: (inout Configuration) -> Void = { _ in }) -> Configuration {
    var configuration = Configuration()
    configuration.station.id = "test"
    configuration.conditioning.settle = 0
    // Debug code takes long for the transforms of a minute each second: only tests that are about them ask for JMA's.
    configuration.intensity.scales = [.worden12]
    (configuration.intensity.jmaWindow, configuration.spectrum.window) = (10, 5)
    change(&configuration)
    return configuration
}

/// Everything the pipeline says of some blocks.
func play(
    _ blocks: [SampleBlock], _ configuration: Configuration, rate: Double = 100, range: Double? = nil
) throws -> (sent: [Sent], status: StationStatus) {
    var pipeline = try StationPipeline(
        configuration: configuration, sensor: StationSensor(rate: rate, range: range), boot: "boot")
    var sent: [Sent] = []
    let sink: PublicationSink = { header, bytes in
        sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
    }
    for block in blocks { pipeline.process(block, quality: .replay, to: sink) }
    pipeline.finish(to: sink)
    return (sent, pipeline.status)
}

/// Quiet, a burst of 5 Hz from second `from` to `to`, quiet; gravity on z.
func burst(seconds: Double = 60, from: Double = 20, to: Double = 25, amplitude: Double = 1, rate: Double = 100)
    -> Recording
{
    let n = Int(seconds * rate)
    var x = [Double](repeating: 0, count: n)
    var y = x
    var z = [Double](repeating: 9.80665, count: n)
    var state: UInt64 = 42
    for i in 0..<n {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let noise = (Double(state >> 40) / Double(1 << 24) - 0.5) * 1e-3
        let t = Double(i) / rate
        let a = t >= from && t < to ? amplitude * sin(2 * .pi * 5 * t) : 0
        x[i] = noise + a
        y[i] = noise - a / 2
        z[i] += noise / 2
    }
    return Recording(rate: rate, x: x, y: y, z: z)
}
