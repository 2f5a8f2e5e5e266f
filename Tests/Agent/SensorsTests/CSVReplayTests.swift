import Foundation
import Instruments
import SignalProcessing
import TestSupport
import Testing

@testable import Sensors

@Suite struct CSVReplayTests {
    @Test(arguments: [100, 50, 31.25, 30, 200.0 / 3, 1000, 62.5, 15, 0.5], [3, 6, 9])
    func ratesAreExact(rate: Double, digits: Int) throws {
        // Digits so few that a sample's place cannot be told are another matter.
        guard pow(10, -Double(digits)) < 0.3 / rate else { return }
        for count in [40, 3000] {
            let (delivery, description) = try replay(csv(count, rate: rate, digits: digits))
            #expect(description.rate == rate, "\(digits) digits, \(count) samples: \(description.rate)")
            let expected: [Double] = (0..<count).map { Double($0) }
            #expect(delivery.x == expected)
            #expect(delivery.marks.count == 1)
        }
    }

    @Test func everyWayOfWriting() throws {
        let plain = try replay("0,1,2,3\n0.01,4,5,6\n0.02,7,8,9.5\n").delivery
        #expect(plain.x == [1, 4, 7] && plain.y == [2, 5, 8] && plain.z == [3, 6, 9.5])
        for text in [
            "t,x,y,z\r\n0,1,2,3\r\n0.01,4,5,6\r\n0.02,7,8,9.5", "\u{FEFF}t;x;y;z\n0;1;2;3\n0.01;4;5;6\n0.02;7;8;9.5\n",
            "# made by hand\n\n0 1 2  3\n 0.01\t4 5 6 \n# in between\n0.02 7 8 9.5\n\n",
            "time [s], accX, accY, accZ\n0, 1, 2, 3\n0.01, 4, 5, 6\n0.02, 7, 8, 9.5\n",
            "0.000000000000000000e+00,1.0e0,2,3\n1.000000000000000021e-02,4,5,6\n2.000000000000000042e-02,7,8,9.5\n",
        ] {
            #expect(try replay(text).delivery == plain)
        }
    }

    @Test func unitsAndScales() throws {
        let text = "0,1,-2,0.5\n0.01,2,3,4\n"
        #expect(try replay(text) { $0.unit = .g }.delivery.y == [-2 * standardGravity, 3 * standardGravity])
        let scaled = try replay(text) { $0.scale = PerAxis(x: 2, y: -1, z: 10) }.delivery
        #expect(scaled.x == [2, 4] && scaled.y == [2, -3] && scaled.z == [5, 40])
    }

    @Test func timesOfTheSamples() throws {
        let relative = try replay("5,0,0,0\n5.01,0,0,0\n")
        #expect(relative.delivery.times[0] == 5_000_000_000)
        let absolute = try replay("2019-07-06T03:19:47.3683Z,0,0,0\n2019-07-06T03:19:47.3783Z,0,0,0\n")
        #expect(absolute.delivery.times[0] == 1_562_383_187_368_300_000)
        #expect(absolute.description.rate == 100)
        #expect(absolute.description.clock == .recording)
    }

    @Test func tearsAreGaps() throws {
        let lines = csv(300, rate: 50, header: false).split(separator: "\n")
        let (delivery, description) = try replay((lines[..<100] + lines[110...]).joined(separator: "\n"))
        #expect(description.rate == 50)
        #expect(delivery.x.count == 290)
        #expect(
            delivery.marks == [
                .init(index: 0, time: 0, lost: 0), .init(index: 100, time: 2_200_000_000, lost: 10),
            ])
    }

    /// A straight line through irregular samples is met on any grid: exactly where they are joined by lines, to the
    /// kernel's 90 dB of a step where the grid has their rate.
    @Test func irregularSamplesAreInterpolated() throws {
        var (text, time) = ("", 0.0)
        var noise = SeededNoise(seed: 8)
        while time < 20 {
            text += String(format: "%.6f,%.9f,%.9f,9.8\n", time, 3 * time - 7, 1 - time)
            // The time is what its text says.
            time = ((time + 0.02 + 0.001 * max(-5, min(5, noise.gaussian()))) * 1e6).rounded() / 1e6
        }
        for rate in [nil, 50, 64, 20] as [Double?] {
            let (delivery, description) = try replay(text, rate: rate)
            #expect(description.rate == rate ?? 50)
            #expect(abs(delivery.x.count - Int(20 * description.rate)) <= 2)
            for (index, value) in delivery.x.enumerated() {
                let allowed = description.rate == 50 ? 1e-4 * 3 / 50 : 2e-8
                #expect(abs(value - (3 * Double(index) / description.rate - 7)) < allowed)
                #expect(abs(delivery.y[index] - (1 - Double(index) / description.rate)) < allowed)
            }
            #expect(delivery.marks.count == 1)
        }
    }

    @Test func holesInIrregularSamplesAreGaps() throws {
        var (text, time) = ("", 0.0)
        for index in 0..<400 {
            // 4 intervals are still bridged, 20 are not.
            time += index == 100 ? 0.04 : index == 200 ? 0.2 : index % 2 == 0 ? 0.0085 : 0.0115
            text += String(format: "%.6f,%.6f,0,0\n", time, time)
        }
        let (delivery, description) = try replay(text)
        #expect(description.rate == 100)
        #expect(delivery.marks.count == 2)
        let mark = try #require(delivery.marks.last)
        let before = try #require(delivery.marks.first)
        // The grid goes on: the gap is a whole number of intervals.
        let grid = Double(mark.time - before.time) / 1e7
        #expect(grid == grid.rounded() && Int(grid) == mark.index + mark.lost)
        #expect((19...20).contains(mark.lost))
    }

    @Test func progressCounts() throws {
        try withFile(csv(1000, rate: 100)) { path in
            var settings = ReplaySettings(file: path)
            settings.speed = 0
            var sensor = ReplaySensor(settings)
            #expect(sensor.progress == ReplayProgress(read: 0, total: 0))
            _ = try sensor.open()
            #expect(sensor.progress == ReplayProgress(read: 0, total: 1000))
            _ = try Delivery(&sensor, block: 100, atMost: 300)
            #expect(sensor.progress == ReplayProgress(read: 300, total: 1000))
        }
    }

    @Test func loopGoesOnInTime() throws {
        try withFile(csv(100, rate: 100)) { path in
            var settings = ReplaySettings(file: path)
            (settings.speed, settings.loop) = (0, true)
            var sensor = ReplaySensor(settings)
            _ = try sensor.open()
            let delivery = try Delivery(&sensor, block: 30, atMost: 250)
            #expect(delivery.counts == [30, 30, 30, 10, 30, 30, 30, 10, 30, 30])
            #expect(delivery.marks.map(\.index) == [0, 100, 200])
            #expect(delivery.marks.map(\.time) == [0, 1_000_000_000, 2_000_000_000])
            #expect(delivery.x[100] == 0 && delivery.x[199] == 99)
        }
    }

    @Test func linesOverBufferBordersAreWhole() throws {
        // More than two buffers of 64 KiB.
        let (delivery, _) = try replay(csv(12_000, rate: 100))
        let expected: [Double] = (0..<12_000).map { Double($0) }
        #expect(delivery.x == expected)
    }
}

@Suite struct CSVErrorTests {
    @Test func everyErrorNamesFileAndLine() throws {
        let cases: [(String, String)] = [
            ("t,x,y,z\n0,1,2,3\n0.01,1,nan,3\n", "recording.csv:3: y is not a finite number: \"nan\""),
            ("0,1,2,3\n0.01,1e999,2,3\n", "recording.csv:2: x is not a finite number: \"1e999\""),
            ("0,1,2,3\n0.01,1,2,three\n", "recording.csv:2: z is not a number: \"three\""),
            ("0,1,2,3\n0.01,1,2,\n", "recording.csv:2: z is not a number: \"\""),
            ("0,1,2,3\n0.01,1,2\n", "recording.csv:2: 3 columns, there must be four: t, x, y, z"),
            ("0,1,2,3\n0.01,1,2,3,4\n", "recording.csv:2: 5 columns, there must be four: t, x, y, z"),
            ("#\n0\n", "recording.csv:2: 1 column, there must be four: t, x, y, z"),
            ("0.01,1,2,3\n\n0.01,1,2,3\n", "recording.csv:3: the time does not increase: 0.0 s before the line above"),
            ("0.5,1,2,3\n0.25,1,2,3\n", "recording.csv:2: the time does not increase: 0.25 s before the line above"),
            ("0,1,2,3\nx,1,2,3\n", "recording.csv:2: t is neither seconds nor a date with time: \"x\""),
            ("nan,1,2,3\n", "recording.csv:1: t is neither seconds nor a date with time: \"nan\""),
            (
                "t,a,b,c\n0,1,2,3\n",
                "recording.csv:1: no column for x: the header names \"t\", \"a\", \"b\", \"c\"; name them t, x, y, z"
            ),
            (
                "0,1,2,3\n2019-07-06T03:19:47Z,1,2,3\n",
                "recording.csv:2: seconds from a start and absolute times are mixed"
            ),
            ("", "recording.csv: the file is empty"), ("# nothing\n\n", "recording.csv: no samples in the file"),
            ("t,x,y,z\n", "recording.csv: no samples in the file"),
            ("0,1,2,3\n", "recording.csv: there is only one sample: at least two are needed for the rate"),
            (
                "0,1,2,3\n" + String(repeating: "9", count: 5000) + "\n",
                "recording.csv:2: the line is longer than 4096 bytes"
            ),
            (String(repeating: "1,", count: 100_000), "recording.csv:1: the line is longer than 4096 bytes"),
        ]
        for (text, message) in cases {
            #expect(try openingError(text) == SensorError(.format, message))
        }
    }

    @Test func binaryIsNoRecording() throws {
        var noise = SeededNoise(seed: 77)
        let bytes = (0..<10_000).map { _ in UInt8(noise.bits() & 0xFF) }
        let error = try openingError(bytes)
        #expect(error?.code == .format)
        #expect(error?.message.hasPrefix("recording.csv:1: ") == true)
        #expect(error?.message.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } == true)
    }

    /// Damage anywhere in a good file: it plays, or it is refused with its name, and never crashes.
    @Test func damagedTextNeverCrashes() throws {
        let original = Array(csv(5, rate: 100).utf8)
        var noise = SeededNoise(seed: 99)
        var refused = 0
        for _ in 0..<700 {
            var bytes = original
            for _ in 0...(noise.bits() % 3) {
                let characters: [UInt8] = Array("0123456789.,;-+eE \t\r\n#\0ntx\u{7F}".utf8)
                bytes[Int(noise.bits() % UInt64(bytes.count))] =
                    characters[Int(noise.bits() % UInt64(characters.count))]
            }
            do {
                _ = try replay(bytes)
            } catch let error as SensorError {
                refused += 1
                #expect(error.code == .format && error.message.contains("recording.csv"))
            }
        }
        #expect(refused > 175)
    }

    @Test func filesThatAreNone() throws {
        for (path, code) in [
            ("/nonexistent/r.csv", SensorError.Code.missing), ("/tmp", .format), ("/dev/zero", .format),
        ] {
            var sensor = ReplaySensor(ReplaySettings(file: path))
            do throws(SensorError) {
                _ = try sensor.open()
                Issue.record("\(path) was opened")
            } catch {
                #expect(error.code == code && error.message.hasPrefix(path))
            }
        }
    }
}
