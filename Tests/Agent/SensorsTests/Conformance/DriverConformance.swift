import Foundation
import Instruments
import MiniSEED
import SignalProcessing
import Testing

@testable import Sensors

/// What every driver has to keep, checked for each of them with the same code.
enum DriverConformance {
    /// - Parameters:
    ///   - make: a new driver that always delivers the same, as fast as it can.
    ///   - limit: samples to look at, for drivers without an end.
    static func check<Driver: SensorDriver>(
        _ make: () -> Driver, limit: Int, location: SourceLocation = #_sourceLocation
    ) throws {
        var reference = make()
        let description = try reference.open()
        let whole = try Delivery(&reference, block: 100, atMost: limit)
        #expect(whole.x.count >= 300, "too short to say anything", sourceLocation: location)
        #expect(description.rate > 0 && !description.chip.isEmpty, sourceLocation: location)

        for capacity in [1, 7, 16, 100] {
            var driver = make()
            _ = try driver.open()
            let cut = try Delivery(&driver, block: capacity, atMost: limit)
            checkBlocks(cut, capacity: capacity, rate: description.rate, location)
            let common = min(whole.x.count, cut.x.count)
            #expect(common >= min(limit, whole.x.count), sourceLocation: location)
            #expect(whole.x.prefix(common) == cut.x.prefix(common), sourceLocation: location)
            #expect(whole.y.prefix(common) == cut.y.prefix(common), sourceLocation: location)
            #expect(whole.z.prefix(common) == cut.z.prefix(common), sourceLocation: location)
            let (a, b) = (whole.marks.filter { $0.index < common }, cut.marks.filter { $0.index < common })
            #expect(a == b, "the same gaps for any size of block", sourceLocation: location)
            for (index, time) in whole.times where cut.times[index] != nil {
                #expect(cut.times[index] == time, sourceLocation: location)
            }
        }
        try checkLife(make, whole, location)
    }

    /// Blocks are full up to a gap or the end, the first is marked, times follow from the index.
    private static func checkBlocks(
        _ delivery: Delivery, capacity: Int, rate: Double, _ location: SourceLocation
    ) {
        #expect(delivery.marks.first?.index == 0, sourceLocation: location)
        #expect(delivery.counts.allSatisfy { (1...capacity).contains($0) }, sourceLocation: location)
        var segment = 0
        var index = 0
        for count in delivery.counts {
            if let mark = delivery.marks.first(where: { $0.index == index }) {
                let end = SampleTimeline(start: delivery.times[segment] ?? 0, rate: rate).time(of: index - segment)
                // A gap moves time on, unless it is the first.
                #expect(index == 0 || mark.time >= end, sourceLocation: location)
                segment = index
            }
            let expected = SampleTimeline(start: delivery.times[segment] ?? 0, rate: rate).time(of: index - segment)
            #expect(delivery.times[index] == expected, sourceLocation: location)
            index += count
            let atBorder = delivery.marks.contains { $0.index == index } || index == delivery.x.count
            #expect(count == capacity || atBorder, sourceLocation: location)
        }
        let finite = [delivery.x, delivery.y, delivery.z].joined().allSatisfy(\.isFinite)
        #expect(finite, sourceLocation: location)
    }

    /// Not open, open, closed and opened again.
    private static func checkLife<Driver: SensorDriver>(
        _ make: () -> Driver, _ whole: Delivery, _ location: SourceLocation
    ) throws {
        var driver = make()
        var block = SampleBlock(capacity: 100)
        #expect(throws: SensorError.self, sourceLocation: location) { try driver.read(into: &block) }
        driver.close()
        _ = try driver.open()
        _ = try driver.read(into: &block)
        driver.close()
        #expect(throws: SensorError.self, sourceLocation: location) { try driver.read(into: &block) }
        _ = try driver.open()
        let again = try Delivery(&driver, block: 100, atMost: 300)
        let common = min(again.x.count, whole.x.count)
        #expect(again.x.prefix(common) == whole.x.prefix(common), sourceLocation: location)
        #expect(again.marks.first?.index == 0, sourceLocation: location)
        // Twice open is as once.
        _ = try driver.open()
        _ = try driver.read(into: &block)
        #expect(block[0, 0] == whole.x[0] && block.gapBefore, sourceLocation: location)
    }
}

@Suite struct DriverConformanceTests {
    @Test(arguments: SimulateSettings.Scenario.allCases)
    func simulate(scenario: SimulateSettings.Scenario) throws {
        try DriverConformance.check(
            {
                var settings = SensorConfiguration()
                settings.simulate.scenario = scenario
                return SimulateSensor(settings, clock: VirtualClock())
            }, limit: 5000)
    }

    private func check(_ bytes: [UInt8], _ name: String, loop: Bool = false) throws {
        try withFile(bytes, name) { path in
            try DriverConformance.check(
                {
                    var settings = ReplaySettings(file: path)
                    settings.speed = 0
                    settings.scale = PerAxis(1)
                    settings.loop = loop
                    return ReplaySensor(settings, clock: VirtualClock())
                }, limit: 1500)
        }
    }

    @Test(arguments: [false, true]) func replayRegularCSV(loop: Bool) throws {
        // 1 s is missing in the middle.
        let text = csv(900, rate: 31.25).split(separator: "\n", omittingEmptySubsequences: true)
        let torn = text[..<400] + text[432...]
        try check(Array((torn.joined(separator: "\n") + "\n").utf8), "regular.csv", loop: loop)
    }

    @Test func replayIrregularCSV() throws {
        var (text, time) = ("", 0.0)
        for index in 0..<800 {
            time += index == 300 ? 0.4 : 0.01 + 0.004 * sin(Double(index) * 1.7)
            text += "\(time),\(sin(time)),\(cos(time)),9.8\n"
        }
        try check(Array(text.utf8), "irregular.csv")
    }

    @Test func replayMiniSEED() throws {
        let samples = (0..<700).map { Int32($0 * $0 % 1013) }
        let torn = [(start: Int64(0), samples: samples), (start: 9_000_000_000, samples: samples)]
        let bytes = try miniSEED([("HN2", torn), ("HNZ", torn), ("HN1", torn)])
        try check(bytes, "recording.mseed")
    }
}
