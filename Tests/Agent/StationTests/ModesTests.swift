import Messages
import Settings
import Testing
import Values
import Vibration

@testable import Station

#if canImport(Glibc)
import Glibc
#endif

/// Natural modes, from the samples of the pipeline to the messages.
@Suite struct ModesTests {
    private static let start: Int64 = 1_767_607_200_000_000_000

    private static func noise(_ seed: UInt64, _ count: Int) -> [Double] {
        var state = seed
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) / Double(1 << 24) - 0.5
        }
    }

    /// A building that wind moves at 1.50 Hz, 1 % damping, along x and half as much along y; gravity on z. 50 samples a
    /// second.
    private static func building(_ seconds: Int) -> Recording {
        let (rate, n) = (50.0, seconds * 50)
        let wind = noise(10, n)
        let w = 2 * Double.pi * 1.5 / rate
        let (a1, a2) = (-2 * exp(-0.01 * w) * cos(w), exp(-0.02 * w))
        let rest = (1...3).map { noise(UInt64($0), n).map { $0 * 2e-4 } }
        var (x, y, z) = (rest[0], rest[1], rest[2].map { $0 + 9.80665 })
        var (y1, y2) = (0.0, 0.0)
        for i in 0..<n {
            let moved = 1e-4 * wind[i] - a1 * y1 - a2 * y2
            (y2, y1) = (y1, moved)
            x[i] += moved
            y[i] += moved / 2
        }
        z[0] = z[1]
        var recording = Recording(x: x, y: y, z: z)
        (recording.rate, recording.start) = (rate, start)
        return recording
    }

    private static func configuration(top: Double = 5) -> Configuration {
        testConfiguration {
            ($0.vibration.modes, $0.vibration.modesTop, $0.vibration.modesPeriod) = (true, top, 1800)
        }
    }

    private func blocks(
        _ recording: Recording, of size: Int, gaps: [Int: Int] = [:], _ configuration: Configuration
    ) throws -> [MotionBlock] {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: recording.rate), boot: "boot")
        var found: [MotionBlock] = []
        pipeline.onMotion = { found.append($0) }
        for block in recording.blocks(of: size, gaps: gaps) {
            pipeline.process(block, quality: .replay, to: { _, _ in })
        }
        return found
    }

    /// Two periods, of which the first ends at 10:30 and the second with the recording.
    @Test func aBuildingHasItsMode() throws {
        let configuration = Self.configuration()
        var tracker = ModesTracker(configuration.vibration, topics: try Topics(id: "test"), boot: "boot")
        var sent: [(PublicationHeader, Value)] = []
        let sink: PublicationSink = { header, bytes in
            sent.append((header, (try? JSONReader.read(Array(bytes))) ?? .null))
        }
        for block in try blocks(Self.building(2900), of: 100, configuration) {
            tracker.take(
                block, temperature: block.start < Self.start + 900_000_000_000 ? nil : 21.5, quality: .replay, to: sink)
        }
        #expect(sent.count == 1)
        tracker.finish(quality: .replay, to: sink)
        tracker.finish(quality: .replay, to: sink)
        #expect(sent.count == 2)
        // Pieces of 20 s: 90 in the first half hour, of which the first continues nothing, and 55 in the second,
        // of which the filter still has the end of the last.
        #expect(sent.map { ModesMessage($0.1)?.segments } == [89, 54], "a period has its own motion")
        for (header, value) in sent {
            #expect(header.topic == "seismote/test/data/modes" && !header.retain && header.qos == 1)
            let message = try #require(ModesMessage(value))
            #expect(message.temperature == 21.5)
            let mode = try #require(message.modes.first)
            #expect(message.modes.count == 1)
            #expect(abs(mode.frequency / 1.5 - 1) < 0.006 && mode.damping > 0.005 && mode.damping < 0.02, "\(mode)")
            #expect(mode.id == 1, "it keeps its number")
            #expect(mode.shape[0] == 1 && abs(mode.shape[1] - 0.5) < 0.05 && abs(mode.shape[2]) < 0.05)
        }
        // A restart goes on with the numbers of before.
        var past = FollowedModes()
        past.recall(
            [try #require(ModesMessage(sent[0].1)).modes[0]].map { mode in
                var mode = mode
                mode.id = 41
                return mode
            })
        tracker.goOn(from: past)
        for block in try blocks(Self.building(1800), of: 100, configuration) {
            tracker.take(block, temperature: nil, quality: .replay, to: sink)
        }
        tracker.finish(quality: .replay, to: sink)
        #expect(sent.count == 3)
        #expect(ModesMessage(sent[2].1)?.modes.first?.id == 41)
        #expect(sent[0].1["seq"] == 0)
        #expect(sent[1].1["seq"] == 1)
    }

    /// Pieces of 20 s at a quarter of the rate, whatever the blocks of the sensor.
    @Test func piecesAreTheSameForAnySizeOfBlock() throws {
        let (recording, gaps) = (Self.building(200), [3000: 20])
        let configuration = Self.configuration()
        let whole = try blocks(recording, of: 10_000, gaps: gaps, configuration)
        #expect(whole.map(\.continues) == [false, true, false, true, true, true, true, true])
        let factor = 50 / whole[0].rate
        #expect(factor == 4 && whole[0].count == ModeAnalysis.half(rate: 12.5))
        for (index, block) in whole.enumerated() {
            #expect(block.motion.allSatisfy { abs($0) < 1 })
            let before = block.continues ? whole[index - 1].end : Self.start + (index == 0 ? 0 : 60_400_000_000)
            #expect(abs(block.start - before) < 1000, "\(index)")
        }
        for size in [1, 37, 128] {
            #expect(try blocks(recording, of: size, gaps: gaps, configuration) == whole)
        }
    }

    /// Nothing of it changes a message; at a rate that does not carry it, and off, there is none.
    @Test func offThereIsNothing() throws {
        let recording = Self.building(90)
        #expect(try blocks(recording, of: 100, Self.configuration(top: 20)).count == 4)
        #expect(try blocks(recording, of: 100, Self.configuration(top: 21)).isEmpty)
        var off = Self.configuration()
        off.vibration.modes = false
        #expect(try blocks(recording, of: 100, off).isEmpty)
        let played = recording.blocks(of: 100)
        #expect(try play(played, off, rate: 50).sent == play(played, Self.configuration(), rate: 50).sent)
    }

    /// Motion before a gap and after it makes no segment together; a period without enough of it says nothing.
    @Test func gapsAreNotBridged() throws {
        let half = ModeAnalysis.half(rate: 12.5)
        var tracker = ModesTracker(Self.configuration().vibration, topics: try Topics(id: "test"), boot: "boot")
        var sent = 0
        var time = Self.start
        for (count, continues) in [(30, false), (20, true)] {
            time = Self.start
            for _ in 0..<count {
                let values = Self.noise(UInt64(time / 1_000_000_000), 3 * half).map { Float($0) }
                let block = MotionBlock(start: time, rate: 12.5, continues: continues, motion: values)
                tracker.take(block, temperature: nil, quality: .replay, to: { _, _ in sent += 1 })
                time = block.end
            }
            tracker.finish(quality: .replay, to: { _, _ in sent += 1 })
            #expect(sent == (continues ? 1 : 0))
        }
    }
}
