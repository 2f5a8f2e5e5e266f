import Foundation
import Instruments
import MiniSEED
import SignalProcessing
import TestSupport
import Testing

@testable import Sensors

@Suite struct MiniSEEDReplayTests {
    private static func ramp(_ count: Int, from first: Int = 0) -> [Int32] { (0..<count).map { Int32(first + $0) } }
    private static func whole(_ samples: [Int32]) -> [(start: Int64, samples: [Int32])] { [(0, samples)] }

    @Test(arguments: [("HNE", "HNN", "HNZ"), ("HN1", "HN2", "HN3"), ("BN1", "HN2", "LNZ")], MiniSEEDFormat.allCases)
    func axesByOrientation(names: (String, String, String), format: MiniSEEDFormat) throws {
        let (e, n, z) = (Self.ramp(500), Self.ramp(500, from: 1000), Self.ramp(500, from: -3000))
        let bytes = try miniSEED(
            [(names.2, Self.whole(z)), (names.0, Self.whole(e)), (names.1, Self.whole(n))], format: format)
        let (delivery, description) = try replay(bytes, "r.mseed") { $0.scale = PerAxis(x: 0.5, y: 2, z: -1) }
        #expect(delivery.x == e.map { Double($0) * 0.5 })
        #expect(delivery.y == n.map { Double($0) * 2 })
        #expect(delivery.z == z.map { -Double($0) })
        #expect(description.rate == 100 && delivery.times[0] == 1_000_000_000)
        // The content decides, not the name.
        #expect(try replay(bytes, "r.csv") { $0.scale = PerAxis(x: 0.5, y: 2, z: -1) }.delivery == delivery)
    }

    /// Waveforms go out in the recording's own counts where it has some.
    @Test func theStepOfIntegersIsTheirScale() throws {
        let bytes = try miniSEED(["HNE", "HNN", "HNZ"].map { ($0, Self.whole(Self.ramp(500))) })
        func step(_ bytes: [UInt8], _ scale: PerAxis<Double>) throws -> Double? {
            try replay(bytes, "r.mseed") { $0.scale = scale }.description.resolution
        }
        #expect(try step(bytes, PerAxis(x: 1e-5, y: -1e-5, z: 1e-5)) == 1e-5)
        #expect(try step(bytes, PerAxis(x: 1e-5, y: 1e-5, z: 2e-5)) == nil)
        // One channel of a stored file as all three: version 2 has its code at byte 15 and no check sum.
        for (file, expected) in [
            ("v2_int32_512", 1.0), ("v2_steim1_512", 1), ("v2_float32_512", nil), ("v2_float64_512", nil),
        ] {
            let stored = [UInt8](try Vectors.data("mseed/\(file).mseed"))
            let channel = stored[..<512]
            #expect(channel[15..<18].elementsEqual("HNE".utf8))
            let three = "ENZ".utf8.flatMap { code -> [UInt8] in Array(channel[..<17]) + [code] + Array(channel[18...]) }
            #expect(try step(three, PerAxis(x: 1, y: 1, z: 1)) == expected, "\(file)")
        }
    }

    /// The error with which a recording is refused that nobody has given a scale; nil when it is not.
    private static func unscaled(_ bytes: [UInt8]) throws -> SensorError? {
        do {
            _ = try replay(bytes, "r.mseed") { $0.scale = nil }
            return nil
        } catch let error as SensorError {
            return error
        }
    }

    /// Counts were taken for m/s²: the recording of `deploy/recordings` had a PGA of 1.4 million m/s².
    @Test(arguments: MiniSEEDFormat.allCases) func countsOfWhichNothingIsKnownAreRefused(format: MiniSEEDFormat) throws
    {
        let bytes = try miniSEED(["HNE", "HNN", "HNZ"].map { ($0, Self.whole(Self.ramp(50))) }, format: format)
        let error = try Self.unscaled(bytes)
        #expect(error?.code == .format)
        for words in ["are counts", "sensor.replay.scale", "--scale", "--stationxml"] {
            #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
    }

    @Test func countsThatTheRecordingItselfScalesNeedNoWord() throws {
        func bytes(_ units: [String]) throws -> [UInt8] {
            try zip(["HNE", "HNN", "HNZ"], units).flatMap { channel, unit in
                var writer = try MiniSEEDWriter(format: .v3, recordLength: 512)
                writer.extraHeaders = Array(unit.utf8)
                return try writer.encode(
                    Self.ramp(50), start: 0, rate: 100,
                    source: .init(network: "XX", station: "S", location: "", channel: channel))
            }
        }
        func unit(_ text: String) -> String { #"{"seismote":{"unit":"m/s^2","unit_per_count":\#(text)}}"# }
        let (delivery, description) = try replay(bytes(["1e-06", "1e-06", "1e-06"].map(unit)), "r.mseed") {
            $0.scale = nil
        }
        #expect(delivery.x == Self.ramp(50).map { Double($0) * 1e-6 } && description.resolution == 1e-6)
        #expect(
            try replay(bytes(["1e-06", "2e-06", "0.5"].map(unit)), "r.mseed") { $0.scale = nil }.delivery.z[2] == 1)
        // A scale that is given counts more.
        #expect(try replay(bytes(["1e-06", "1e-06", "1e-06"].map(unit)), "r.mseed").delivery.x[3] == 3)
        for wrong in ["0", "-1e-06", "nan", "1e999", "\"1\"", "", "1 000", "[1]"] {
            #expect(throws: SensorError.self, "\(wrong)") {
                try replay(bytes(["1", wrong, "1"].map(unit)), "r.mseed") { $0.scale = nil }
            }
        }
        #expect(throws: SensorError.self) {
            try replay(bytes(["1e-06"].map(unit) + ["{}", "{\"unit_per_count\":"]), "r.mseed") { $0.scale = nil }
        }
        let mixed = try bytes(["1", "1", "1"].map(unit)) + bytes(["2", "1", "1"].map(unit))
        let error = try Self.unscaled(mixed)
        #expect(error?.message.contains("differs between records") == true)
    }

    /// Samples that are a quantity, and CSV, need no scale.
    @Test func floatsAreTakenAsTheyAre() throws {
        let stored = [UInt8](try Vectors.data("mseed/v2_float32_512.mseed"))[..<512]
        let three = "ENZ".utf8.flatMap { code -> [UInt8] in Array(stored[..<17]) + [code] + Array(stored[18...]) }
        let plain = try replay(three, "r.mseed").delivery
        #expect(try replay(three, "r.mseed") { $0.scale = nil }.delivery == plain)
        #expect(try replay("t,x,y,z\n0,1,2,3\n0.01,1,2,3\n") { $0.scale = nil }.delivery.z == [3, 3])
    }

    @Test func commonIntervalOfChannelsThatStartApart() throws {
        let bytes = try miniSEED([
            ("HNE", [(0, Self.ramp(500))]), ("HNN", [(300_000_000, Self.ramp(500, from: 30))]),
            ("HNZ", [(-100_000_000, Self.ramp(450, from: -10))]),
        ])
        let (delivery, _) = try replay(bytes, "r.mseed")
        #expect(delivery.times[0] == 1_300_000_000)
        let expected: [Double] = (30..<440).map { Double($0) }
        #expect(delivery.x == expected)
        #expect(delivery.y == delivery.x && delivery.z == delivery.x)
    }

    @Test func tearsOverlapsAndDuplicates() throws {
        // 0 to 1.99 s, again 1.5 to 2.49 s, a whole record twice, then nothing until 4 s; z lacks 4.5 to 4.79 s.
        let xy: [(start: Int64, samples: [Int32])] = [
            (0, Self.ramp(200)), (1_500_000_000, Self.ramp(100, from: 150)), (0, Self.ramp(20)),
            (4_000_000_000, Self.ramp(100, from: 400)),
        ]
        let z: [(start: Int64, samples: [Int32])] = [
            (0, Self.ramp(250)), (4_000_000_000, Self.ramp(50, from: 400)), (4_800_000_000, Self.ramp(20, from: 480)),
        ]
        let bytes = try miniSEED([("HNE", xy), ("HNN", xy), ("HNZ", z)])
        try withFile(bytes, "r.mseed") { path in
            var settings = ReplaySettings(file: path)
            settings.speed = 0
            settings.scale = PerAxis(x: 1, y: 1, z: 1)
            var sensor = ReplaySensor(settings)
            _ = try sensor.open()
            #expect(sensor.duplicates == 2 * (50 + 20))
            #expect(sensor.progress.total == 320)
            let delivery = try Delivery(&sensor, block: 64)
            let left: [Int] = Array(0..<250) + Array(400..<450) + Array(480..<500)
            #expect(delivery.x == left.map(Double.init))
            #expect(delivery.x == delivery.y && delivery.x == delivery.z)
            #expect(
                delivery.marks == [
                    .init(index: 0, time: 1_000_000_000, lost: 0), .init(index: 250, time: 5_000_000_000, lost: 150),
                    .init(index: 300, time: 5_800_000_000, lost: 30),
                ])
        }
    }

    /// A channel of shaking (counts) that lacks the samples of some ranges.
    private static func shaking(_ axis: Int, without gaps: [Range<Int>]) -> [(start: Int64, samples: [Int32])] {
        let motion: [Int32] = (0..<1200).map { (i: Int) -> Int32 in
            let t = Double(i) / 100
            return Int32((1e5 * sin(17 * t + Double(axis)) + 3e4 * cos(5.3 * t)).rounded())
        }
        let removed = gaps.sorted { $0.lowerBound < $1.lowerBound }
        let starts = [0] + removed.map(\.upperBound)
        let ends = removed.map(\.lowerBound) + [motion.count]
        return zip(starts, ends).filter { $0 < $1 }.map { (Int64($0) * 10_000_000, Array(motion[$0..<$1])) }
    }

    private static func delivered(_ gaps: [[Range<Int>]]) throws -> Delivery {
        let channels = zip(["HNE", "HNN", "HNZ"], gaps).enumerated().map { axis, channel in
            (channel.0, shaking(axis, without: channel.1))
        }
        return try replay(try miniSEED(channels), "r.mseed").delivery
    }

    /// A gap of one channel is a gap of all three: the axes meet by time behind it, wherever it is and however long.
    @Test(arguments: [1, 2, 3, 5, 20, 50, 100, 200, 500], 0..<3)
    func aGapOfOneChannelIsAGapOfAll(_ missing: Int, _ axis: Int) throws {
        for place in [0, 1, 7, 100, 317, 633, 1200 - missing] {
            let gap = [place..<place + missing]
            var one: [[Range<Int>]] = [[], [], []]
            one[axis] = gap
            #expect(try Self.delivered(one) == Self.delivered([gap, gap, gap]), "at \(place)")
        }
    }

    /// Gaps of two channels, apart, side by side, one in the other and across each other: what all three have is delivered.
    @Test(
        arguments: [
            (300, 20, 700, 5), (300, 20, 320, 5), (300, 100, 330, 20), (300, 50, 330, 60), (0, 30, 10, 40),
        ], 0..<3)
    func gapsOfTwoChannelsAreOneOfAll(_ gaps: (Int, Int, Int, Int), _ whole: Int) throws {
        let (first, second) = (gaps.0..<gaps.0 + gaps.1, gaps.2..<gaps.2 + gaps.3)
        var apart: [[Range<Int>]] = [[first], [second]]
        apart.insert([], at: whole)
        let both = min(gaps.0, gaps.2)..<max(first.upperBound, second.upperBound)
        let lost = first.upperBound < second.lowerBound ? [first, second] : [both]
        #expect(try Self.delivered(apart) == Self.delivered([lost, lost, lost]))
    }

    /// One sample that all three channels lack is a gap, and not a clock that is set: its time and number are told.
    @Test(arguments: [1, 7, 100, 317, 633, 1198])
    func oneMissingSampleIsAGap(_ place: Int) throws {
        let gap = [place..<place + 1]
        let delivery = try Self.delivered([gap, gap, gap])
        #expect(
            delivery.marks == [
                .init(index: 0, time: 1_000_000_000, lost: 0),
                .init(index: place, time: 1_000_000_000 + Int64(place + 1) * 10_000_000, lost: 1),
            ])
    }

    /// A clock that is set by half a sample, and one that wavers by it, have no gap.
    @Test func halfASampleIsNoGap() throws {
        for late in [[0, 0, 0, 0, 5, 5, 5, 5], [0, 5, 0, 5, 0, 5, 0, 5], [0, 0, -5, 0, 0, -5, 0, 0]] {
            let stretches = late.enumerated().map { (i: Int, late: Int) -> (start: Int64, samples: [Int32]) in
                (Int64(i) * 1_000_000_000 + Int64(late) * 1_000_000, Self.ramp(100, from: 100 * i))
            }
            let bytes = try miniSEED([("HNE", stretches), ("HNN", stretches), ("HNZ", stretches)])
            let (delivery, _) = try replay(bytes, "r.mseed")
            #expect(delivery.x == (0..<800).map(Double.init))
            #expect(delivery.marks.allSatisfy { $0.lost == 0 }, "\(late)")
        }
    }

    @Test func aClockThatIsALittleFastTearsNothing() throws {
        // Records that follow each other 0.2 of a sample early.
        let stretches = (0..<20).map { (start: Int64($0) * 998_000_000, samples: Self.ramp(100, from: 100 * $0)) }
        let bytes = try miniSEED([("HNE", stretches), ("HNN", stretches), ("HNZ", stretches)])
        let (delivery, _) = try replay(bytes, "r.mseed")
        #expect(delivery.x == (0..<2000).map(Double.init) && delivery.marks.count == 1)
    }

    @Test func whatCannotBeChosenIsNamed() throws {
        let samples = Self.whole(Self.ramp(50))
        let good = try miniSEED([("HNE", samples), ("HNN", samples), ("HNZ", samples)])
        let other = try miniSEED([("HNE", samples), ("HNN", samples), ("HNZ", samples)], station: "ROOF")
        let place = try miniSEED([("HNZ", samples)], location: "10")
        let slow = try miniSEED([("HNZ", samples)], rate: 50)
        let flat = try miniSEED([("HNE", samples), ("HNN", samples)])
        let cases: [(bytes: [UInt8], parts: [String])] = [
            (good + other, ["several channels for x", "FDSN:XX_BASE_00_H_N_E", "FDSN:XX_ROOF_00_H_N_E"]),
            (good + place, ["several channels for z", "FDSN:XX_BASE_10_H_N_Z"]),
            (flat, ["no channel for z (orientation Z or 3)", "FDSN:XX_BASE_00_H_N_E, FDSN:XX_BASE_00_H_N_N"]),
            (flat + place, ["not of one station and location"]),
            (flat + slow, ["different rates", "100.0 Hz", "50.0 Hz"]),
            (good + slow, ["changes its rate from 100.0 Hz to 50.0 Hz", "record 4 at byte \(good.count)"]),
        ]
        for (bytes, parts) in cases {
            let found = try openingError(bytes, "r.mseed")
            let error = try #require(found)
            #expect(error.code == .format && error.message.hasPrefix("r.mseed: "))
            for part in parts { #expect(error.message.contains(part), "\(error.message)") }
        }
        let apart = try miniSEED([
            ("HNE", samples), ("HNN", samples), ("HNZ", [(start: 5_000_000_000, samples: Self.ramp(50))]),
        ])
        #expect(
            try openingError(apart, "r.mseed")?.message == "r.mseed: the channels x, y and z do not overlap in time")
    }

    @Test func brokenFilesNameRecordAndByte() throws {
        // The only record of a channel is wanted.
        let single = try miniSEED(
            [
                ("HNE", Self.whole(Self.ramp(20))), ("HNN", Self.whole(Self.ramp(20))),
                ("HNZ", Self.whole(Self.ramp(20))),
            ])
        let one = try openingError(Array(single.dropLast(10)), "r.mseed")
        #expect(one?.message.contains("no channel for z") == true, "\(one?.message ?? "")")
        let none = try openingError(Array(single.prefix(60)), "r.mseed")
        let cut = try #require(none)
        #expect(cut.code == .format && cut.message.contains(": record ") && cut.message.contains(" at byte "))
        #expect(cut.message.contains("are left"), "\(cut.message)")
        let text = try openingError(Array("t,x,y,z\n0,1,2,3\n0.01,1,2,3\n".utf8), "r.mseed")
        #expect(text?.message.hasPrefix("r.mseed: record 1 at byte 0: ") == true)
    }

    /// A station of the Southern California Seismic Network, see Tests/Vectors/records/README.md.
    @Test func aRealRecordEqualsItsTable() throws {
        let table = try replay([UInt8](Vectors.data("records/r10_ridgecrest38_tow2_head.csv")))
        let record = try replay([UInt8](Vectors.data("records/r10_ridgecrest38_tow2.mseed")), "r10.mseed") {
            $0.scale = PerAxis(x: 1 / 213_800.0, y: 1 / 214_142.0, z: 1 / 214_356.0)
        }
        #expect(record.description.rate == 100 && table.description.rate == 100)
        #expect(record.delivery.x.count == 7500)
        for index in 0..<300 {
            #expect(abs(record.delivery.x[index] - table.delivery.x[index]) < 1e-9)
            #expect(abs(record.delivery.y[index] - table.delivery.y[index]) < 1e-9)
            #expect(abs(record.delivery.z[index] - table.delivery.z[index]) < 1e-9)
        }
    }
}
