import Foundation
import Settings
import SignalProcessing
import Testing

@testable import Station

@Suite struct MountingTests {
    private static func raw(
        _ recording: Recording, _ configuration: Configuration, block: Int = 16, range: Double? = nil
    ) throws -> (samples: [SIMD3<Double>], firstIndices: [Int], sent: [Sent], status: StationStatus, level: Level?) {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: recording.rate, range: range), boot: "boot")
        var samples: [SIMD3<Double>] = []
        var starts: [Int] = []
        pipeline.onSeries = { chunk in
            if chunk.firstIndex == 0 { starts.append(samples.count) }
            for i in 0..<chunk.count {
                samples.append([chunk.raw[i], chunk.raw[chunk.stride + i], chunk.raw[2 * chunk.stride + i]])
            }
        }
        var sent: [Sent] = []
        for b in recording.blocks(of: block) {
            pipeline.process(b, quality: .replay) { header, bytes in
                sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
            }
        }
        let level = pipeline.level
        pipeline.finish { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        return (samples, starts, sent, pipeline.status, level)
    }

    private static func one(_ v: SIMD3<Double>, _ count: Int = 1) -> Recording {
        Recording(
            x: [Double](repeating: v.x, count: count), y: [Double](repeating: v.y, count: count),
            z: [Double](repeating: v.z, count: count))
    }

    /// Of a sensor that lies turned by so much about one axis, its x, y and z show what points where.
    @Test(
        arguments: [
            ([0, 0, 90], [1, 0, 0], [0, 1, 0]), ([0, 0, -90], [1, 0, 0], [0, -1, 0]),
            ([90, 0, 0], [0, 1, 0], [0, 0, 1]),
            ([0, 90, 0], [0, 0, 1], [1, 0, 0]), ([180, 0, 0], [1, 2, 3], [1, -2, -3]),
            // First about x, which takes y up, then about z, which leaves it there.
            ([90, 0, 90], [0, 1, 0], [0, 0, 1]), ([90, 0, 90], [1, 0, 0], [0, 1, 0]),
        ] as [([Double], [Double], [Double])])
    func rotationTurnsBack(angles: [Double], measured: [Double], expected: [Double]) throws {
        let configuration = testConfiguration {
            ($0.sensor.mounting.rotation.x, $0.sensor.mounting.rotation.y) = (angles[0], angles[1])
            $0.sensor.mounting.rotation.z = angles[2]
        }
        let out = try Self.raw(Self.one([measured[0], measured[1], measured[2]]), configuration).samples[0]
        #expect(out == [expected[0], expected[1], expected[2]])
    }

    @Test func anglesAddUpAndLengthsStay() throws {
        let (a, b) = (Matrix3.turned(roll: 10, pitch: 0, yaw: 0), Matrix3.turned(roll: 20, pitch: 0, yaw: 0))
        let c = Matrix3.turned(roll: 30, pitch: 0, yaw: 0)
        for (p, q) in zip((a * b).rows, c.rows) { #expect(abs(p - q) < 1e-15) }
        let all = Matrix3.turned(roll: 12, pitch: -34, yaw: 56)
        let inverse = try #require(all.inverse)
        for (p, q) in zip((all * inverse).rows, Matrix3.identity.rows) { #expect(abs(p - q) < 1e-15) }
        for (p, q) in zip(inverse.rows, [0, 3, 6, 1, 4, 7, 2, 5, 8].map { all.rows[$0] }) {
            #expect(abs(p - q) < 1e-15)
        }
        #expect(Matrix3(rows: [1, 2, 3, 2, 4, 6, 0, 0, 1]).inverse == nil)
    }

    @Test func calibrationIsOfTheSensorsAxesAndComesBeforeTheMap() throws {
        let configuration = testConfiguration {
            ($0.sensor.calibration.offset.x, $0.sensor.calibration.offset.z) = (1, -2)
            $0.sensor.calibration.matrix = [2, 0, 0, 0, 1, 0.5, 0, 0, 1]
            $0.sensor.mounting.sources.x = .init(axis: 1, sign: -1)
            $0.sensor.mounting.sources.y = .init(axis: 0, sign: 1)
        }
        // (3, 4, 5) − offset = (2, 4, 7); × matrix = (4, 7.5, 7); mapped = (−7.5, 4, 7).
        #expect(try Self.raw(Self.one([3, 4, 5]), configuration).samples[0] == [-7.5, 4, 7])
    }

    /// The same bytes as before there was a matrix: nothing is computed, not even a product with 1.
    @Test func withoutAnyOfItNumbersAreCopied() throws {
        var recording = burst(seconds: 5, from: 1, to: 2)
        recording.x[3] = -0.0
        let out = try Self.raw(recording, testConfiguration()).samples
        #expect(out.count == recording.x.count)
        for i in out.indices {
            #expect(
                out[i].x.bitPattern == recording.x[i].bitPattern && out[i].z.bitPattern == recording.z[i].bitPattern)
        }
    }

    @Test func aFullScaleIsTheSensorsOwn() throws {
        let configuration = testConfiguration { $0.sensor.mounting.rotation.z = 45 }
        // 14 along the sensor's x is 9.9 along x and y: clipped nevertheless.
        #expect(try Self.raw(Self.one([14, 0, 0]), configuration, range: 14).status.clippedSamples == 1)
        // And 14.1 along the station's x is 10 on both of the sensor's: not clipped.
        #expect(try Self.raw(Self.one([10, -10, 0]), configuration, range: 14).status.clippedSamples == 0)
    }

    /// Tilted by some degrees, with noise; shaken until a second, then at rest.
    private static func tilted(_ degrees: Double, shaken: Double, seconds: Double = 12) -> Recording {
        var recording = burst(seconds: seconds, from: 0, to: shaken)
        let (s, c) = (sin(degrees / 180 * .pi), cos(degrees / 180 * .pi))
        for i in recording.x.indices {
            let (x, z) = (recording.x[i], recording.z[i])
            (recording.x[i], recording.z[i]) = (c * x + s * z, c * z - s * x)
        }
        return recording
    }

    @Test func levellingWaitsForRestAndTurnsGravityUp() throws {
        let configuration = testConfiguration { $0.sensor.mounting.level = true }
        let (samples, starts, sent, status, level) = try Self.raw(Self.tilted(5, shaken: 3), configuration)
        let found = try #require(level)
        #expect(abs(found.tilt - 5) < 0.01)
        // Windows of 2 s: the one from 2 to 4 s moves, the next does not, and at 6 s what follows begins anew.
        #expect(starts == [0, 600])
        #expect(status.gaps == 0)
        #expect(abs(samples[599].x - 0.855) < 0.01)
        #expect(abs(samples[700].x) < 0.002 && abs(samples[700].z - 9.80665) < 0.002)
        let traces = sent.filter { $0.name == "data/trace" }
        // The trace says that it begins anew there, not that anything is missing.
        #expect(traces.filter { $0.json["gap"] as? Bool == true }.count <= 2)
    }

    @Test func levellingDoesNotTakeWhatIsNotGravity() throws {
        let configuration = testConfiguration { $0.sensor.mounting.level = true }
        #expect(try Self.raw(Self.one([0, 0, 5], 1000), configuration).level == nil)
        #expect(try Self.raw(Self.tilted(5, shaken: 12), configuration).level == nil)
        // It slides: quiet in itself, but its halves differ.
        var sliding = Self.one([0, 0, 9.80665], 1000)
        for i in sliding.x.indices { sliding.x[i] = 0.0009 * Double(i) }
        #expect(try Self.raw(sliding, configuration).level == nil)
    }

    @Test func theSmallestRotationTakesAnyDirectionUp() {
        for v in [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0.3, -0.5, 0.8], [-1, 2, -3], [1e-9, 0, -1]] as [[Double]] {
            let m = Matrix3.upright(v[0], v[1], v[2])
            let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).squareRoot()
            let up = m.times(v[0], v[1], v[2])
            #expect(abs(up.x) < 1e-8 * length && abs(up.y) < 1e-8 * length && abs(up.z - length) < 1e-8 * length)
            let turned = m * (m.inverse ?? .identity)
            for (p, q) in zip(turned.rows, Matrix3.identity.rows) { #expect(abs(p - q) < 1e-12) }
        }
    }

    /// Levelling, rotation and calibration give the same bytes for any size of block.
    @Test(arguments: [1, 7, 100, 1000]) func anyBlockSizeGivesTheSame(size: Int) throws {
        let configuration = testConfiguration {
            $0.sensor.mounting.level = true
            $0.sensor.mounting.rotation.y = 3
            $0.sensor.calibration.offset.x = 0.01
            $0.sensor.calibration.matrix[1] = 0.02
        }
        let recording = Self.tilted(2, shaken: 3)
        let whole = try Self.raw(recording, configuration, block: 1200)
        let cut = try Self.raw(recording, configuration, block: size)
        #expect(whole.samples == cut.samples && whole.sent == cut.sent && whole.level == cut.level)
        #expect(whole.level != nil)
    }

    @Test func theLevelStaysWhenOtherSettingsChange() throws {
        var configuration = testConfiguration { $0.sensor.mounting.level = true }
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: 100), boot: "boot")
        let blocks = Self.tilted(5, shaken: 0).blocks(of: 100)
        for block in blocks[..<6] { pipeline.process(block, quality: .replay) { _, _ in } }
        let first = pipeline.level
        #expect(first != nil)
        configuration.conditioning.offset = .ema(.corner(0.1))
        try pipeline.reconfigure(configuration, revision: 1) { _, _ in }
        let second = pipeline.level
        #expect(second == first)
        configuration.sensor.mounting.rotation.x = 1
        try pipeline.reconfigure(configuration, revision: 2) { _, _ in }
        let third = pipeline.level
        #expect(third == nil)
        for block in blocks[6...] { pipeline.process(block, quality: .replay) { _, _ in } }
        let fourth = pipeline.level
        #expect(fourth != nil)
    }
}
