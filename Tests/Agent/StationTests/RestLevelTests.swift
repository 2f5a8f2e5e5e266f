import Foundation
import Messages
import Settings
import SignalProcessing
import Testing

@testable import Station

/// The level of a sensor outlives a restart.
@Suite struct RestLevelTests {
    private let configuration = testConfiguration { $0.conditioning.settle = nil }

    /// Gravity, an offset, some noise, and a floor that vibrates.
    private func floor(
        seconds: Double, rate: Double = 250, hz: Double = 40, velocity: Double = 4e-3, tilt: Double = 0,
        phase: Double = 0
    ) -> Recording {
        var state: UInt64 = 3
        var axes = [[Double]](repeating: [], count: 3)
        for i in 0..<Int(seconds * rate) {
            let turn: Double = 2 * .pi * hz * Double(i) / rate + phase
            let a: Double = velocity * 2 * .pi * hz * cos(turn)
            for axis in 0..<3 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let noise: Double = (Double(state >> 40) / Double(1 << 24) - 0.5) * 1e-3
                let level: Double = [0.3 + tilt, -0.2, 9.75][axis]
                axes[axis].append(level + noise + (axis == 0 ? a : a / 10))
            }
        }
        return Recording(rate: rate, x: axes[0], y: axes[1], z: axes[2])
    }

    private func summaries(_ recording: Recording, _ level: RestLevel?, size: Int = 64) throws -> (
        all: [[String: Any]], sent: [Sent], rest: (x: Double, y: Double, z: Double)?
    ) {
        var pipeline = try StationPipeline(
            configuration: configuration, sensor: StationSensor(rate: recording.rate), boot: "boot")
        if let level { pipeline.goOn(from: level) }
        var sent: [Sent] = []
        let sink: PublicationSink = { header, bytes in
            sent.append(Sent(topic: header.topic, qos: header.qos, retain: header.retain, bytes: Array(bytes)))
        }
        for block in recording.blocks(of: size) { pipeline.process(block, quality: .replay, to: sink) }
        pipeline.finish(to: sink)
        return (sent.filter { $0.name == "state/summary" }.map(\.json), sent, pipeline.restLevel)
    }

    private func level(_ x: Double, _ y: Double, _ z: Double) -> RestLevel {
        RestLevel(x: x, y: y, z: z, time: 0, origin: 1)
    }

    private func firstValid(_ all: [[String: Any]]) -> Int {
        all.firstIndex { $0["valid"] as? Bool == true } ?? all.count
    }

    /// A floor that vibrates when the station starts: what is valid is right, and with the level of the run before it is valid
    /// sooner.
    @Test(arguments: [(40.0, 0.0), (40, 1.1), (12, 0), (12, 2.5), (5, 0.3), (2, 0)])
    func aFloorThatVibratesIsKnownSooner(_ hz: Double, _ phase: Double) throws {
        let moving = floor(seconds: 90, hz: hz, phase: phase)
        let before = try summaries(moving, nil)
        let rest = try #require(before.rest)
        #expect(abs(rest.x - 0.3) < 2e-3 && abs(rest.y + 0.2) < 1e-3 && abs(rest.z - 9.75) < 1e-3)
        let after = try summaries(moving, level(rest.x, rest.y, rest.z))
        let steady = try #require(before.all.last?["pgv"] as? Double)
        for summary in before.all + after.all where summary["valid"] as? Bool == true {
            let pgv = try #require(summary["pgv"] as? Double)
            #expect(abs(pgv / steady - 1) < 0.05, "\(pgv) at \(summary["t"] ?? "")")
        }
        let (late, soon) = (firstValid(before.all), firstValid(after.all))
        #expect(soon <= late, "\(soon) \(late)")
        if phase == 0, hz > 10 { #expect(soon < late - 3, "\(soon) \(late)") }
        for size in [1, 7, 1000] {
            #expect(try summaries(moving, level(rest.x, rest.y, rest.z), size: size).sent == after.sent)
        }
    }

    /// One that lies otherwise than before, or whose offset has drifted, begins as if nothing were known.
    @Test(arguments: [(0.5, 0.0), (-3, 0), (0.05, 0), (0.5, 1e-4)])
    func anotherLevelIsNotUsed(_ tilt: Double, _ velocity: Double) throws {
        let quiet = floor(seconds: 40, velocity: velocity, tilt: tilt)
        let (known, unknown) = (try summaries(quiet, level(0.3, -0.2, 9.75)), try summaries(quiet, nil))
        #expect(known.sent == unknown.sent)
    }

    /// At rest the level that was kept makes nothing worse.
    @Test func aStartAtRestIsAsBefore() throws {
        let quiet = floor(seconds: 40, velocity: 0)
        let (known, unknown) = (try summaries(quiet, level(0.3, -0.2, 9.75)), try summaries(quiet, nil))
        #expect(firstValid(known.all) <= firstValid(unknown.all))
        for summary in known.all where summary["valid"] as? Bool == true {
            #expect(summary["pgv"] as? Double ?? 1 < 2e-4)
        }
        // A recording shorter than the first second.
        #expect(try summaries(floor(seconds: 0.4), level(0.3, -0.2, 9.75)).rest == nil)
    }

    @Test func onlyTheSameSensorAndTheSameDayFit() {
        let (now, hour): (Int64, Int64) = (1_767_608_430_000_000_000, 3_600_000_000_000)
        var one = RestLevel(x: 0.1, y: 0.2, z: 9.8, time: now, origin: 7)
        #expect(one.fits(origin: 7, now: now + hour) && !one.fits(origin: 8, now: now + hour))
        #expect(!one.fits(origin: 7, now: now - 1) && !one.fits(origin: 7, now: now + 25 * hour))
        one.time = .min
        #expect(!one.fits(origin: 7, now: now))
        one = RestLevel(x: .infinity, y: 0, z: 9.8, time: now, origin: 7)
        #expect(!one.fits(origin: 7, now: now))
    }

    @Test func whatTurnsNumbersIntoTheStationsChangesTheOrigin() {
        var configuration = Configuration()
        func origin(_ driver: String = "i2c", _ chip: String = "adxl355", _ rate: Double = 100) -> UInt64? {
            RestLevel.origin(
                driver: driver, chip: chip, StationSensor(rate: rate, range: 19.6, resolution: 1e-4), configuration)
        }
        let own = origin()
        #expect(own != nil && own == origin())
        var others: [UInt64?] = [origin("iio"), origin("i2c", "adxl345"), origin("i2c", "adxl355", 125)]
        configuration.sensor.mounting.sources.x.sign = -1
        others.append(origin())
        configuration = Configuration()
        configuration.sensor.mounting.rotation.z = 1
        others.append(origin())
        configuration = Configuration()
        configuration.sensor.calibration.offset.y = 0.01
        others.append(origin())
        configuration = Configuration()
        configuration.sensor.calibration.matrix[4] = 1.001
        others.append(origin())
        #expect(Set(others).count == others.count && !others.contains(own) && !others.contains(nil))
        configuration = Configuration()
        configuration.sensor.mounting.north = 90
        #expect(origin() == own)
        configuration.sensor.mounting.level = true
        #expect(origin() == nil)
    }
}
