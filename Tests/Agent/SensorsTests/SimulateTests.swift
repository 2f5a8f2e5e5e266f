import Foundation
import Instruments
import Testing

@testable import Sensors
@testable import SignalProcessing

@Suite struct SimulateTests {
    private func play(
        _ count: Int, block: Int = 100, _ change: (inout SensorConfiguration) -> Void
    ) throws -> Delivery {
        var settings = SensorConfiguration()
        change(&settings)
        var sensor = SimulateSensor(settings, speed: 0, clock: VirtualClock())
        _ = try sensor.open()
        return try Delivery(&sensor, block: block, atMost: count)
    }

    private func rms(_ values: some Collection<Double>) -> Double {
        (values.reduce(0) { $0 + $1 * $1 } / Double(values.count)).squareRoot()
    }

    @Test func testSignalsHaveTheirLeadIn() throws {
        let sine = try play(200) {
            ($0.simulate.scenario, $0.simulate.amplitude, $0.simulate.frequency) = (.sine, 3, 2.5)
        }
        for index in 0..<200 {
            let expected = index < 20 ? 0 : 3 * sin(2 * .pi * 2.5 * Double(index - 20) / 100)
            #expect(abs(sine.x[index] - expected) < 1e-14 * 100)
        }
        #expect(sine.x == sine.y && sine.x == sine.z)
        let step = try play(100) { ($0.simulate.scenario, $0.simulate.amplitude) = (.step, 2) }
        #expect(step.x == [Double](repeating: 0, count: 20) + [Double](repeating: 2, count: 80))
        let impulse = try play(100) { ($0.simulate.scenario, $0.simulate.amplitude) = (.impulse, 2) }
        #expect(impulse.z == [Double](repeating: 0, count: 20) + [2] + [Double](repeating: 0, count: 79))
    }

    @Test func sineStaysExactForADay() {
        let source = SineSource(amplitude: 1, frequency: 1, rate: 100)
        for index in stride(from: 0, to: 8_640_000, by: 100) {
            #expect(abs(source.value(at: TestSignal.leadIn + index + 25) - 1) < 1e-12)
        }
    }

    @Test func quietIsGravityAndNoise() throws {
        let quiet = try play(60_000) { ($0.simulate.noise, $0.simulate.seed) = (0.01, 5) }
        let axes: [(values: [Double], mean: Double)] = [(quiet.x, 0), (quiet.y, 0), (quiet.z, standardGravity)]
        let root = 60_000.0.squareRoot()
        for axis in axes {
            let centred: [Double] = axis.values.map { $0 - axis.mean }
            let mean: Double = centred.reduce(0, +) / 60_000
            #expect(abs(mean) < 0.04 / root)
            #expect(abs(rms(centred) / 0.01 - 1) < 0.02)
            // White: neighbours know nothing of each other.
            let products: [Double] = (1..<60_000).map { centred[$0] * centred[$0 - 1] }
            let covariance: Double = products.reduce(0, +) / 60_000
            #expect(abs(covariance) < 4e-4 / root)
        }
        #expect(try play(100) { ($0.simulate.noise, $0.simulate.seed) = (0.01, 5) }.x == Array(quiet.x.prefix(100)))
        #expect(try play(100) { ($0.simulate.noise, $0.simulate.seed) = (0.01, 6) }.x != Array(quiet.x.prefix(100)))
        #expect(try play(100) { $0.simulate.noise = 0 }.z == [Double](repeating: standardGravity, count: 100))
    }

    /// Published test values: xoshiro256++ from the state that SplitMix64 makes of 0.
    @Test func noiseIsTheSameEverywhere() {
        var noise = SeededNoise(seed: 0)
        #expect(
            (0..<3).map { _ in noise.bits() } == [0x5317_5D61_490B_23DF, 0x61DA_6F3D_C380_D507, 0x5C0F_DF91_EC9A_7BFC])
        var gaussian = SeededNoise(seed: 1)
        let first = (0..<1_000_000).map { _ in gaussian.gaussian() }
        #expect(abs(rms(first) - 1) < 0.003)
        #expect(first.allSatisfy { ($0 * 65536 * 2).rounded() == $0 * 65536 * 2 })
    }

    @Test(arguments: [50, 100, 1000] as [Double], [1, 2, 3] as [UInt64])
    func quakeLooksLikeOne(rate: Double, seed: UInt64) throws {
        let count = Int(240 * rate)
        let quake = try play(count) {
            ($0.simulate.scenario, $0.rate, $0.simulate.noise, $0.simulate.seed) = (.quake, rate, 0, seed)
        }
        let z = quake.z.map { $0 - standardGravity }
        let horizontal = max(quake.x.map(abs).max() ?? 0, quake.y.map(abs).max() ?? 0)
        #expect(abs(horizontal - 0.5) < 1e-12)
        func window(_ values: [Double], _ from: Double, _ to: Double) -> Double {
            rms(values[Int(from * rate)..<Int(to * rate)])
        }
        // 30 km: S comes 3.57 s after P, which comes at 40 s.
        #expect(window(quake.x, 0, 40) == 0 && window(z, 0, 40) == 0)
        #expect(window(z, 40, 43.5) > 2 * window(quake.x, 40, 43.5), "P is mostly vertical")
        #expect(window(quake.x, 43.6, 47) > 4 * window(quake.x, 40, 43.5), "S is larger on the horizontals")
        #expect(window(quake.x, 43.6, 47) > window(z, 43.6, 47))
        #expect(window(quake.x, 43.6, 47) > 4 * window(quake.x, 60, 70) && window(quake.x, 60, 70) > 0, "coda")
        #expect(Array(quake.x[..<(count / 2)]) == Array(quake.x[(count / 2)...]), "every two minutes")
    }

    @Test func walkAndKnockHaveTheirShapes() throws {
        let walk = try play(3000) { ($0.simulate.scenario, $0.simulate.noise) = (.walk, 0) }
        #expect(rms(walk.z.map { $0 - standardGravity }) > 1)
        let knock = try play(2000) { ($0.simulate.scenario, $0.simulate.noise) = (.tableKnock, 0) }
        let z = knock.z.map { $0 - standardGravity }
        #expect(z.firstIndex { $0 != 0 } == 500)
        #expect(z[500] == 1.5 || abs(z[500] - 1.5) < 1e-12)
        #expect(rms(z[530..<600]) < 0.01 && abs(z[1500] - 1.5) < 1e-12)
    }

    @Test func theRangeIsASensors() throws {
        let walk = try play(3000) { ($0.simulate.scenario, $0.range) = (.walk, 9) }
        #expect(walk.z.max() == 9)
    }

    @Test func impossibleSettingsAreNamed() throws {
        let changes: [(String, (inout SensorConfiguration) -> Void)] = [
            ("rate", { $0.rate = 0 }), ("rate", { $0.rate = .nan }), ("noise", { $0.simulate.noise = -1 }),
            ("range", { $0.range = 0 }),
            ("frequency", { ($0.simulate.scenario, $0.simulate.frequency) = (.sine, 50) }),
        ]
        for (name, change) in changes {
            var settings = SensorConfiguration()
            change(&settings)
            var sensor = SimulateSensor(settings, clock: VirtualClock())
            do throws(SensorError) {
                _ = try sensor.open()
                Issue.record("\(name) was taken")
            } catch {
                #expect(error.message.hasPrefix("simulate: \(name) "))
            }
        }
    }
}
