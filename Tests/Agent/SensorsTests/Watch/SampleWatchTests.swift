import Foundation
import SignalProcessing
import Testing

@testable import Sensors

@Suite struct SampleWatchTests {
    struct Signal {
        var noise = SeededNoise(seed: 7)
        var rate = 100.0
        var resolution = 0.0383
        /// RMS in m/s².
        var level = 0.03
        var gravity = 9.80665
        var samples: [SIMD3<Double>] = []

        /// At rest for some seconds, rounded to the sensor's steps.
        mutating func rest(_ seconds: Double) {
            for _ in 0..<Int(seconds * rate) {
                let v = SIMD3(noise.gaussian(), noise.gaussian(), noise.gaussian()) * level + [0, 0, gravity]
                samples.append((v / resolution).rounded(.toNearestOrEven) * resolution)
            }
        }

        /// The last sample over and over.
        mutating func freeze(_ seconds: Double, axes: [Int] = [0, 1, 2]) {
            guard let last = samples.last else { return }
            let from = samples.count
            rest(seconds)
            for i in from..<samples.count { for axis in axes { samples[i][axis] = last[axis] } }
        }

        mutating func add(_ value: SIMD3<Double>, _ seconds: Double) {
            samples += [SIMD3<Double>](repeating: value, count: Int(seconds * rate))
        }
    }

    /// What was wrong when, in seconds: each change.
    static func changes(
        _ signal: Signal, range: Double? = 19.6133, resolution: Double? = nil
    ) -> [(second: Double, faults: SampleFaults)] {
        var watch = SampleWatch(rate: signal.rate, range: range, resolution: resolution ?? signal.resolution)
        var changes: [(Double, SampleFaults)] = []
        var block = SampleBlock(capacity: 1)
        for (i, v) in signal.samples.enumerated() {
            block.removeAll()
            block.append(v.x, v.y, v.z)
            if watch.take(block) { changes.append((Double(i + 1) / signal.rate, watch.faults)) }
        }
        return changes
    }

    @Test(arguments: [100.0, 400, 12.5]) func aFrozenSensorIsStuckAfterASecondAndWellAfterAMoment(rate: Double) {
        var signal = Signal(rate: rate)
        signal.rest(20)
        signal.freeze(5)
        signal.rest(20)
        let changes = Self.changes(signal)
        #expect(changes.map(\.faults) == [.stuck, []])
        let shortest = max(1, 50 / rate)
        #expect(abs(changes[0].second - 20 - shortest) < 0.1 && changes[0].second >= 20 + shortest)
        #expect(changes[1].second > 25 && changes[1].second < 25 + max(0.2, 10 / rate))
    }

    @Test func oneStuckAxisIsFoundLaterAndIsAnother() {
        var signal = Signal()
        signal.rest(10)
        signal.freeze(40, axes: [1])
        signal.rest(5)
        let changes = Self.changes(signal)
        #expect(changes.map(\.faults) == [.axisStuck, []])
        #expect(abs(changes[0].second - 40) < 0.1)
    }

    /// Noise of a tenth of a step of 16 mg: a run of a second is nothing special there.
    @Test func aCoarseSensorIsNotStuckByNature() {
        for shift in [0.0, 0.02, 0.05] {
            var signal = Signal(resolution: 0.157, level: 0.0157, gravity: 9.80665 + shift)
            signal.rest(600)
            #expect(Self.changes(signal).isEmpty, "\(shift)")
        }
    }

    @Test func aCoarseSensorThatFreezesIsFoundAfterAMinute() {
        var signal = Signal(resolution: 0.157, level: 0.05)
        signal.rest(120)
        signal.freeze(60)
        let changes = Self.changes(signal)
        #expect(changes.map(\.faults) == [.stuck])
    }

    /// A freeze of minutes teaches it next to nothing: the next is found as soon.
    @Test func aLongFreezeIsNotTakenForNature() throws {
        var signal = Signal()
        signal.rest(60)
        signal.freeze(600)
        signal.rest(5)
        signal.freeze(5)
        let changes = Self.changes(signal)
        #expect(changes.map(\.faults) == [.stuck, [], .stuck])
        let last = try #require(changes.last)
        #expect(last.second - 665 < 2)
    }

    @Test func singleClippedSamplesAreNotSaturationAndManyAre() {
        var signal = Signal()
        signal.rest(10)
        signal.samples[500].x = 19.6133
        signal.samples[501].x = -19.6133
        #expect(Self.changes(signal).isEmpty)
        for i in 0..<10 { signal.samples[600 + 3 * i].y = 19.6133 }
        signal.rest(20)
        let changes = Self.changes(signal)
        #expect(changes.map(\.faults) == [.saturated, []])
        #expect(changes.first?.second == 7)
        #expect(changes.last?.second == 12)
    }

    /// 127 of 128 steps is all that 8 bits have.
    @Test func theLargestNumberOfACoarseSensorIsFullScale() {
        var signal = Signal(resolution: 0.153)
        signal.rest(10)
        for i in 0..<20 { signal.samples[100 + i].z = 127 * 19.6133 / 128 }
        #expect(Self.changes(signal).first?.faults == .saturated)
        #expect(Self.changes(signal, range: nil).isEmpty)
    }

    @Test(arguments: [0.0, 4.5, 15, 18]) func whatIsNotGravityIsImplausibleAfterTenSeconds(magnitude: Double) {
        var signal = Signal()
        signal.rest(20)
        signal.gravity = magnitude
        signal.rest(30)
        signal.gravity = 9.80665
        signal.rest(10)
        let changes = Self.changes(signal, range: nil)
        #expect(changes.map(\.faults) == [.implausible, []])
        #expect(changes.map(\.second) == [30, 51])
    }

    @Test func zerosAreBoth() throws {
        var signal = Signal()
        signal.rest(5)
        signal.add(.zero, 30)
        let changes = Self.changes(signal)
        #expect(changes.map(\.faults) == [.stuck, [.stuck, .implausible]])
    }

    @Test func noNumbersAreImplausible() {
        var signal = Signal()
        signal.rest(5)
        signal.add([.nan, 0, 9.8], 15)
        signal.rest(5)
        #expect(Self.changes(signal).map(\.faults) == [.implausible, []])
    }

    /// Shaking of 1.5 g for half a minute is an earthquake, not a broken sensor.
    @Test func strongShakingIsPlausible() {
        var signal = Signal(resolution: 0.001, level: 5)
        signal.rest(60)
        #expect(Self.changes(signal, range: 78.4).isEmpty)
    }

    @Test(arguments: [7, 16, 100, 4096]) func anyCutGivesTheSame(size: Int) {
        var signal = Signal()
        signal.rest(12)
        signal.freeze(3)
        signal.rest(2)
        signal.add([19.6133, 0, 0], 12.34)
        signal.rest(3)
        signal.freeze(33, axes: [2])
        var watches = [SampleWatch](repeating: .init(rate: 100, range: 19.6133, resolution: 0.0383), count: 2)
        for (n, capacity) in [1, size].enumerated() {
            var block = SampleBlock(capacity: capacity)
            for v in signal.samples {
                block.append(v.x, v.y, v.z)
                if block.count == capacity {
                    _ = watches[n].take(block)
                    block.removeAll()
                }
            }
            _ = watches[n].take(block)
        }
        #expect(watches[0] == watches[1])
        #expect(watches[0].faults == .axisStuck)
    }
}
