import Foundation
import Instruments
import MiniSEED
import SignalProcessing
import TestSupport
import Testing

@testable import Sensors

/// Stamps of a limited resolution: the samples behind them are regular.
@Suite struct CSVTimesTests {
    /// How a logger writes the time of a sample.
    enum Writing: CaseIterable {
        case rounded, cut, raised
        func stamp(_ time: Double, _ step: Double) -> Double {
            switch self {
            case .rounded: (time / step).rounded() * step
            case .cut: (time / step).rounded(.down) * step
            case .raised: (time / step).rounded(.up) * step
            }
        }
    }

    /// Rows whose x is their number.
    private func table(
        rate: Double, seconds: Double, step: Double, digits: Int, _ writing: Writing = .rounded, offset: Double = 0,
        without missing: Range<Int> = 0..<0
    ) -> [UInt8] {
        var text: [UInt8] = Array("t,x,y,z\n".utf8)
        for index in 0..<Int(rate * seconds) where !missing.contains(index) {
            let stamp = writing.stamp(offset + Double(index) / rate, step)
            text += Array("\(fixed(stamp, digits)),\(index),0.5,9.8\n".utf8)
        }
        return text
    }

    private func fixed(_ value: Double, _ digits: Int) -> String {
        let scale = pow(10.0, Double(digits))
        let whole = Int64((value * scale).rounded())
        let (a, b) = whole.quotientAndRemainder(dividingBy: Int64(scale))
        return digits == 0 ? "\(a)" : "\(a)." + String(repeating: "0", count: digits - String(b).count) + "\(b)"
    }

    /// A log in milliseconds at 100.37 Hz was drawn onto a grid by straight lines and lost half of its energy.
    @Test(
        arguments: [
            (100.37, 300.0), (52.083, 120), (100.0213, 600), (119.7, 60), (31.25, 100), (400.8, 20), (25.9, 30),
        ],
        Writing.allCases)
    func millisecondsAreATrueRate(_ sampling: (rate: Double, seconds: Double), _ writing: Writing) throws {
        for (step, digits) in [(0.001, 3), (0.001, 6), (1e-6, 6), (0.0005, 4)] {
            let bytes = table(
                rate: sampling.rate, seconds: sampling.seconds, step: step, digits: digits, writing, offset: 3.2)
            let (delivery, description) = try replay(bytes, block: 4096)
            let error = description.rate / sampling.rate - 1
            #expect(abs(error) < 0.3 * step / sampling.seconds + 1e-9, "\(step) \(digits): \(description.rate)")
            #expect(delivery.x == (0..<delivery.x.count).map(Double.init) && delivery.marks.count == 1)
            #expect(delivery.x.count == Int(sampling.rate * sampling.seconds))
        }
    }

    @Test func anHourToAMillionth() throws {
        let bytes = table(rate: 100.0213, seconds: 3600, step: 0.001, digits: 3)
        let (delivery, description) = try replay(bytes, block: 65536)
        #expect(abs(description.rate / 100.0213 - 1) < 1e-7, "\(description.rate)")
        #expect(delivery.x == (0..<delivery.x.count).map(Double.init) && delivery.marks.count == 1)
    }

    /// Steps that are as coarse as the samples, or coarser: the same stamp stands at several rows.
    @Test(arguments: [(1.0, 0), (0.1, 1), (0.01, 2), (1.0, 6)], [100.0, 99.63, 52.083])
    func coarseStampsRepeat(_ writing: (step: Double, digits: Int), rate: Double) throws {
        let bytes = table(rate: rate, seconds: 600, step: writing.step, digits: writing.digits, .cut)
        let (delivery, description) = try replay(bytes, block: 4096)
        #expect(abs(description.rate / rate - 1) < 0.5 * writing.step / 600, "\(description.rate)")
        #expect(delivery.x == (0..<delivery.x.count).map(Double.init) && delivery.marks.count == 1)
    }

    /// Short stretches between gaps got each a rate of their own.
    @Test func stretchesBetweenGapsHaveOneRate() throws {
        var text = "t,x,y,z\n"
        let (rate, gaps) = (100.37, [1000, 1050, 1300, 4000])
        var index = 0
        for number in 0..<6000 {
            if gaps.contains(number) { index += 17 }
            text += "\(fixed(Double(index) / rate, 3)),\(number),0,0\n"
            index += 1
        }
        let (delivery, description) = try replay(text, block: 512)
        #expect(abs(description.rate / rate - 1) < 1e-5, "\(description.rate)")
        let samples: [Double] = (0..<6000).map { Double($0) }
        #expect(delivery.x == samples)
        #expect(delivery.marks.map(\.index) == [0] + gaps && delivery.marks.map(\.lost) == [0, 17, 17, 17, 17])
        for (mark, number) in zip(delivery.marks, [0] + gaps) {
            let expected = Double(number + 17 * (gaps.firstIndex(of: number).map { $0 + 1 } ?? 0)) / rate
            #expect(abs(Double(mark.time) / 1e9 - expected) < 0.001, "\(mark)")
        }
    }

    /// A clock that wanders by some parts in a million is followed, and tears nothing.
    @Test func aWanderingClockIsFollowed() throws {
        var text = "t,x,y,z\n"
        var stamps: [Double] = []
        for index in 0..<60_000 {
            let time = Double(index) / 100
            stamps.append(time + 0.02 * sin(time / 100))
            text += "\(fixed(stamps[index], 4)),\(index),0,0\n"
        }
        let (delivery, description) = try replay(text, block: 100)
        #expect(delivery.x == (0..<60_000).map(Double.init) && delivery.marks.count == 1)
        #expect(abs(description.rate / 100 - 1) < 3e-4)
        for (index, time) in delivery.times { #expect(abs(Double(time) / 1e9 - stamps[index]) < 0.005) }
    }

    @Test func aLongFileTakesTimeInProportion() throws {
        // Of the processor: others may be at work as well.
        func seconds(_ count: Int) throws -> Double {
            let rows = table(rate: 100.37, seconds: Double(count) / 100.37, step: 0.001, digits: 3)
            return try withFile(rows, "r.csv") { path in
                var sensor = ReplaySensor(ReplaySettings(file: path))
                let before = clock()
                _ = try sensor.open()
                return Double(clock() - before)
            }
        }
        let (short, long) = (try seconds(30_000), try seconds(300_000))
        #expect(long < 40 * short, "\(short), \(long) µs")
    }

    /// Irregular samples are taken between their neighbours, and that is said with a figure.
    @Test func irregularSamplesAreSaid() throws {
        var (text, noise) = ("t,x,y,z\n", SeededNoise(seed: 5))
        for index in 0..<3000 {
            let time = Double(index) / 50 + 0.004 * max(-1, min(1, noise.gaussian()))
            text += "\(fixed(time + 1, 6)),\(sin(time)),0,0\n"
        }
        try withFile(text) { path in
            var sensor = ReplaySensor(ReplaySettings(file: path))
            let description = try sensor.open()
            #expect(description.rate == 50)
            let note = try #require(sensor.notes.first)
            #expect(note.contains("irregular") && note.contains("% RMS") && note.contains("50.0 Hz"), "\(note)")
            #expect(sensor.condition.notes == sensor.notes)
        }
        try withFile(table(rate: 100.37, seconds: 30, step: 0.001, digits: 3)) { path in
            var sensor = ReplaySensor(ReplaySettings(file: path))
            _ = try sensor.open()
            #expect(!sensor.notes.contains { $0.contains("irregular") })
        }
    }

    /// Sines up to 0.8 of half the rate come out as they are; straight lines took 21 % of one at 35 Hz.
    @Test(arguments: [(0.05, 1e-4), (0.1, 2e-4), (0.2, 1e-2)]) func irregularSamplesKeepTheirSines(
        _ jitter: Double, _ allowed: Double
    ) throws {
        for frequency in [1.0, 10, 25, 35, 40] {
            var (text, noise) = ("t,x,y,z\n", SeededNoise(seed: 11))
            for index in 0..<9000 {
                let time =
                    ((Double(index) + jitter * (Double(noise.bits() % 2001) / 1000 - 1)) * 1e4 + 1e6).rounded() / 1e6
                text += "\(fixed(time, 6)),\(sin(2 * .pi * frequency * time)),1,9.8\n"
            }
            let (delivery, description) = try replay(text, block: 777)
            #expect(description.rate == 100 && delivery.marks.count == 1)
            let start = Double(delivery.marks[0].time) / 1e9
            for index in 100..<(delivery.x.count - 100) {
                let expected = sin(2 * .pi * frequency * (start + Double(index) / 100))
                #expect(
                    abs(delivery.x[index] - expected) < allowed && abs(delivery.z[index] - 9.8) < 1e-9,
                    "\(frequency) Hz, \(index)")
            }
            // Whole and in any pieces the same.
            #expect(try replay(text, block: 5000).delivery.x == delivery.x)
        }
    }

    @Test(arguments: [
        ("t (ms)", "0,10,20,30", 100.0), ("time_us", "0,10000,20000,30000", 100), ("millis", "5,25,45,65", 50),
        ("Time (s)", "0,1,2,3", 1),
        ("timestamp [ns]", "1654520034434547000,1654520034444547000,1654520034454547000,1654520034464547000", 100),
        ("time", "1654520034434547000,1654520034444547000,1654520034454547000,1654520034464547000", 100),
        ("epoch_ms", "1654520034434,1654520034444,1654520034454,1654520034464", 100),
        ("time", "1654520034434,1654520034444,1654520034454,1654520034464", 100),
        ("timestamp", "1654520034.43,1654520034.44,1654520034.45,1654520034.46", 100),
        ("time", "23:59:59:980,23:59:59:990,00:00:00:000,00:00:00:010", 100),
        ("time", "9:05:01.5,9:05:02.0,9:05:02.5,9:05:03.0", 2),
        (
            "datetime", "2020/01/01 00:00:00.00,2020/01/01 00:00:00.01,2020/01/01 00:00:00.02,2020/01/01 00:00:00.03",
            100
        ),
    ]) func timesInTheirUnits(_ name: String, _ stamps: String, _ rate: Double) throws {
        let rows = stamps.split(separator: ",").map { "\($0),1,2,3\n" }.joined()
        #expect(try replay("\(name),x,y,z\n" + rows).description.rate == rate)
    }

    @Test func wholeNumbersWithoutAUnitAreAmbiguous() throws {
        let error = try openingError("t,x,y,z\n0,1,2,3\n10,1,2,3\n20,1,2,3\n30,1,2,3\n")
        #expect(
            error?.message.contains("whole numbers without a unit, 10.0 from row to row") == true,
            "\(error?.message ?? "")")
        #expect(error?.message.contains("t (ms)") == true)
        // Nanoseconds since the start of a telephone are neither seconds nor since 1970.
        let far = try openingError("time,x,y,z\n123456789012345,1,2,3\n123456799012345,1,2,3\n")
        #expect(far?.message.contains("t is neither seconds nor a date") == true, "\(far?.message ?? "")")
        #expect(
            try replay("time (ns),x,y,z\n123456789012345,1,2,3\n123456799012345,1,2,3\n").description.rate == 100)
    }
}

@Suite struct FeasibleLineTests {
    /// The lines of the hulls are those of all points.
    @Test func theSlopesAreThoseOfAllPoints() {
        var noise = SeededNoise(seed: 31)
        for _ in 0..<40 {
            var line = FeasibleLine(tolerance: 0.5, slope: 3)
            var points: [(Double, Double)] = []
            for x in 0..<200 {
                let point = (Double(x), Double(x) * 3.02 + 7 + 0.7 * (Double(noise.bits() % 1000) / 1000 - 0.5))
                guard line.add(point.0, point.1) else { break }
                points.append(point)
            }
            #expect(points.count > 20)
            var (low, high) = (-Double.infinity, Double.infinity)
            for (i, a) in points.enumerated() {
                for b in points[(i + 1)...] {
                    low = max(low, (b.1 - 0.5 - a.1 - 0.5) / (b.0 - a.0))
                    high = min(high, (b.1 + 0.5 - a.1 + 0.5) / (b.0 - a.0))
                }
            }
            #expect(abs(line.slopes.lowerBound - low) < 1e-9 && abs(line.slopes.upperBound - high) < 1e-9)
            for (x, y) in points { #expect(abs(line.value(at: x) - y) <= 0.5 + 1e-9) }
        }
    }

    @Test func aPointThatNoLinePassesChangesNothing() {
        var line = FeasibleLine(tolerance: 0.1, slope: 1)
        for x in 0..<50 {
            let passes = line.add(Double(x), Double(x))
            #expect(passes)
        }
        let before = line.slopes
        let far = [line.add(50, 51), line.add(50, 49)]
        #expect(far == [false, false] && line.slopes == before && line.count == 50)
        let near = line.add(50, 50.05)
        #expect(near)
    }
}
