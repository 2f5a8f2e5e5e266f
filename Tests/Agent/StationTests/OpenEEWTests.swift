import Foundation
import Messages
import Settings
import Testing

@testable import Station

/// What OpenEEW's detection is sent.
@Suite struct OpenEEWTests {
    private struct Block {
        var object: [String: Any]
        var time: Double
        func axis(_ name: String) -> [Double] { object[name] as? [Double] ?? [] }
    }

    private static func configuration(_ isOn: Bool = true) -> Configuration {
        testConfiguration {
            $0.mqtt.openEEW.enabled = isOn
            $0.mqtt.openEEW.country = "mx"
            $0.conditioning.offset = .none
        }
    }

    /// Decoded twice, as its reader does.
    private static func blocks(_ sent: [Sent]) throws -> [Block] {
        try sent.filter { $0.topic == "/traces" }.map { message in
            #expect(message.qos == 0 && !message.retain)
            let outer = try JSONSerialization.jsonObject(with: Data(message.bytes), options: .fragmentsAllowed)
            let text = try #require(outer as? String)
            let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            return Block(object: object, time: try #require(object["device_t"] as? Double))
        }
    }

    @Test(arguments: [100.0, 31.25, 125, 60, 25, 800]) func theAccelerationInGalOnAGridOfTimes(rate: Double) throws {
        // 2 Hz, 0.1 m/s².
        let n = Int(30 * rate)
        let signal = (0..<n).map { 0.1 * sin(2 * .pi * 2 * Double($0) / rate) }
        let recording = Recording(rate: rate, x: signal, y: signal.map { -$0 / 2 }, z: signal.map { _ in 9.81 })
        let blocks = try Self.blocks(play(recording.blocks(of: 100), Self.configuration(), rate: rate).sent)
        #expect(blocks.count >= 25)
        for (k, block) in blocks.enumerated() {
            #expect(
                Set(block.object.keys)
                    == ["country_code", "device_id", "x", "y", "z", "device_t", "cloud_t", "sr"])
            #expect(block.object["country_code"] as? String == "mx" && block.object["device_id"] as? String == "test")
            #expect(block.object["sr"] as? Double == 31.25 && block.object["cloud_t"] as? Double == block.time)
            let (x, y, z) = (block.axis("x"), block.axis("y"), block.axis("z"))
            #expect(x.count == 32 && y.count == 32 && z.count == 32)
            // The grid is that of 1970; blocks follow each other without a gap.
            let place = block.time * 31.25
            #expect(abs(place - place.rounded()) < 1e-4)
            if k > 0 { #expect(abs(block.time - blocks[k - 1].time - 1.024) < 1e-5) }
            guard k > 1 else { continue }
            for (i, value) in x.enumerated() {
                let t = block.time - Double(31 - i) / 31.25 - Double(recording.start) / 1e9
                #expect(abs(value - 10 * sin(2 * .pi * 2 * t)) < 0.01)
                #expect(abs(value + 2 * y[i]) < 1e-3 && abs(z[i] - 981) < 1e-3)
            }
        }
    }

    @Test func aGapBeginsANewBlock() throws {
        let recording = burst(seconds: 40)
        let blocks = try Self.blocks(play(recording.blocks(of: 64, gaps: [1555: 300]), Self.configuration()).sent)
        let steps = zip(blocks, blocks.dropFirst()).map { $1.time - $0.time }
        #expect(steps.filter { abs($0 - 1.024) > 1e-5 }.count == 1 && (steps.max() ?? 0) > 4)
    }

    @Test func itIsOffUnlessWantedAndCanBeSwitchedOn() throws {
        let recording = burst(seconds: 20).blocks(of: 100)
        #expect(try Self.blocks(play(recording, Self.configuration(false)).sent).isEmpty)
        var pipeline = try StationPipeline(
            configuration: Self.configuration(false), sensor: StationSensor(rate: 100), boot: "boot")
        var sent = 0
        let sink: PublicationSink = { header, _ in if header.topic == "here/traces" { sent += 1 } }
        for (i, block) in recording.enumerated() {
            if i == 5 {
                var configuration = Self.configuration()
                configuration.mqtt.openEEW.topic = "here/traces"
                try pipeline.reconfigure(configuration, revision: 1, to: sink)
            }
            if i == 15 { try pipeline.reconfigure(Self.configuration(false), revision: 2, to: sink) }
            pipeline.process(block, quality: .replay, to: sink)
        }
        #expect(sent == 9)
    }
}
