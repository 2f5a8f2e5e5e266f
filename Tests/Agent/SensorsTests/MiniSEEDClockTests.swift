import Foundation
import Instruments
import MiniSEED
import SignalProcessing
import TestSupport
import Testing

@testable import Sensors

/// Files as they come out of digitizers and networks: clocks that differ from the header, and records that cannot be read.
@Suite struct MiniSEEDClockTests {
    /// Records of three channels whose header says 100 Hz and whose times say another rate; the samples are their numbers.
    private func file(
        rate: Double, count: Int, per: Int, header: Double = 100, jitter: Double = 0, format: MiniSEEDFormat = .v2,
        names: [String] = ["HNE", "HNN", "HNZ"], missing: [String: Range<Int>] = [:],
        start: Int64 = 1_767_607_200_000_000_000
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names {
            var noise = SeededNoise(seed: 3)
            var writer = try MiniSEEDWriter(format: format, recordLength: 512)
            let source = SourceIdentifier(network: "XX", station: "S", location: "", channel: name)
            for first in stride(from: 0, to: count, by: per) {
                let late = jitter * (Double(noise.bits() % 2001) / 1000 - 1) * 1e9 / rate
                let time = start + Int64((Double(first) / rate * 1e9 + late).rounded())
                if missing[name]?.contains(first / per) == true { continue }
                bytes += try writer.encode(
                    (first..<min(first + per, count)).map { Int32($0 % 32_000) }, start: time, rate: header,
                    source: source)
            }
        }
        return bytes
    }

    private func opened(_ bytes: [UInt8], _ change: (inout ReplaySettings) -> Void = { _ in }) throws -> (
        Delivery, SensorDescription, [String]
    ) {
        try withFile(bytes, "r.mseed") { path in
            var settings = ReplaySettings(file: path)
            (settings.speed, settings.scale) = (0, PerAxis(1e-6))
            change(&settings)
            var sensor = ReplaySensor(settings)
            let description = try sensor.open()
            return (try Delivery(&sensor, block: 1000), description, sensor.notes)
        }
    }

    /// Times and rates follow the records: 1.3 s of drift in 50 minutes, or 119 gaps of 0.7 samples.
    @Test(
        arguments: [
            (99.95, 100), (99.6, 100), (100.0, 100), (99.3, 100), (100.6, 100), (98.8, 50), (100.03, 237), (99.97, 400),
            (101.9, 40), (99.3, 400), (100.0005, 100),
        ], [0, 0.2, 0.6])
    func theRecordsAreFollowed(_ sampling: (rate: Double, per: Int), jitter: Double) throws {
        let count = 60_000
        let (delivery, description, notes) = try opened(
            file(rate: sampling.rate, count: count, per: sampling.per, jitter: jitter))
        #expect(delivery.x.count == count && delivery.marks.count == 1, "\(delivery.marks.count)")
        #expect(delivery.x == delivery.y && delivery.x == delivery.z)
        let error = abs(description.rate / sampling.rate - 1)
        #expect(error < (jitter == 0 ? 1.01e-5 : 3e-5), "\(description.rate)")
        for (index, time) in delivery.times {
            let expected = Double(index) / sampling.rate
            let off = abs(Double(time - 1_767_607_200_000_000_000) / 1e9 - expected) * sampling.rate
            #expect(off < 0.5 + jitter, "sample \(index): \(off) samples")
        }
        #expect(
            notes.contains { $0.contains("the headers say 100.0 Hz") } == (abs(sampling.rate - 100) > 0.001), "\(notes)"
        )
    }

    @Test(arguments: MiniSEEDFormat.allCases) func aRealGapStaysOne(format: MiniSEEDFormat) throws {
        let all = ["HNE": 50..<53, "HNN": 50..<53, "HNZ": 50..<53]
        for rate in [100.0, 99.3, 100.6] {
            let (delivery, _, _) = try opened(file(rate: rate, count: 12_000, per: 100, format: format, missing: all))
            #expect(delivery.marks.map(\.index) == [0, 5000], "\(rate): \(delivery.marks)")
            #expect(abs((delivery.marks.last?.lost ?? 0) - 300) <= 1 && delivery.x[5000] == delivery.z[5000])
        }
        // Where the clock is right, two samples are a gap, and one; half of one is none.
        for (late, gaps) in [(20_500_000, 2), (14_000_000, 2), (10_000_000, 2), (7_000_000, 1)] as [(Int64, Int)] {
            let samples = (0..<4000).map { Int32($0) }
            let bytes = try miniSEED(
                ["HNE", "HNN", "HNZ"].map { ($0, [(0, samples), (40_000_000_000 + late, samples)]) }, format: format)
            #expect(try opened(bytes).0.marks.count == gaps, "\(late)")
        }
    }

    /// After the gap of one channel the axes were 0.8 s apart.
    @Test func axesMeetByTime() throws {
        for rate in [100.0, 99.3] {
            for name in ["HNE", "HNN", "HNZ"] {
                let (delivery, _, _) = try opened(file(rate: rate, count: 12_000, per: 80, missing: [name: 70..<71]))
                #expect(delivery.x == delivery.y && delivery.x == delivery.z, "\(name)")
                #expect(delivery.x.count == 12_000 - 80 && delivery.marks.map(\.index) == [0, 5600])
                #expect(abs((delivery.marks.last?.lost ?? 0) - 80) <= 1)
            }
        }
    }

    /// Power cuts, noise records, cut ends, damaged samples: the rest is read, and they are counted and named.
    @Test func whatCannotBeReadIsLeftOutAndNamed() throws {
        for format in MiniSEEDFormat.allCases {
            let good = try file(rate: 100, count: 12_000, per: 100, format: format)
            var reader = MiniSEEDReader(good)
            var starts: [Int] = []
            while let record = try reader.next() { starts.append(record.offset) }
            let border = starts[50]
            let before = good[..<border], after = good[border...]
            var damaged = good
            damaged[border + (format == .v2 ? 64 + 8 : 90)] ^= 0x55
            damaged[border + (format == .v2 ? 64 + 9 : 91)] ^= 0x55
            let zeros = [UInt8](repeating: 0, count: 512),
                spaces = Array("000051".utf8) + [UInt8](repeating: 0x20, count: 506)
            let kinds: [(String, [UInt8], Int)] = [
                ("zeros", Array(before) + zeros + after, 0), ("zeros behind", good + zeros + zeros, 0),
                ("noise", before + spaces + after, 0),
                ("odd bytes", Array(before) + zeros.prefix(77) + after, 0),
                ("text", Array(before) + Array("power was cut".utf8) + after, 0),
                ("a header without an end", Array(before) + good[border..<border + 100] + after, 0),
                ("cut", Array(good.dropLast(20)), 100), ("zeros before", zeros + good, 0), ("damaged", damaged, 100),
            ]
            let whole = try opened(good)
            #expect(whole.2.isEmpty && whole.0.x.count == 12_000)
            for (name, bytes, lost) in kinds {
                let (delivery, _, notes) = try opened(bytes)
                #expect(delivery.x.count == 12_000 - lost, "\(format) \(name): \(delivery.x.count)")
                #expect(lost > 0 || delivery == whole.0, "\(format) \(name)")
                #expect(
                    notes.count == 1 && notes[0].contains("left out: record") && notes[0].contains("at byte"),
                    "\(format) \(name): \(notes)")
            }
        }
    }

    private func refusal(_ bytes: [UInt8], _ name: String = "r.mseed") throws -> String {
        try withFile(bytes, name) { path in
            var sensor = ReplaySensor(ReplaySettings(file: path))
            do throws(SensorError) {
                _ = try sensor.open()
                return ""
            } catch { return error.message.replacingOccurrences(of: path, with: name) }
        }
    }

    /// A velocity that is taken for an acceleration had a PGA of 194 m/s².
    @Test(arguments: [
        ("HHZ", "high-gain seismometer"), ("BHE", "high-gain seismometer"), ("EHZ", "high-gain seismometer"),
        ("SLN", "low-gain seismometer"),
        ("EP1", "geophone"), ("HM2", "mass"), ("HJE", "rotational"), ("HDZ", "pressure"), ("HNZ", "counts"),
        ("HGZ", "counts"), ("HXZ", "counts"),
    ]) func channelsThatAreNoAcceleration(_ code: String, _ meaning: String) throws {
        let names = ["E", "N", "Z"].map { String(code.prefix(2)) + $0 }
        let bytes = try file(rate: 100, count: 200, per: 100, names: names)
        let message = try refusal(bytes)
        for part in [meaning, "XX_S__\(code.prefix(1))_\(code.dropFirst().first ?? " ")_", "--scale", "--stationxml"] {
            #expect(message.contains(part), "\(message)")
        }
        // Who says what a count is is believed, and told what it looks like.
        let (_, _, notes) = try opened(bytes)
        #expect(notes.isEmpty == (meaning == "counts"), "\(notes)")
        // Above 5 g there is a word in any case.
        let far = try opened(bytes) { $0.scale = PerAxis(1) }
        #expect(far.2.contains { $0.contains("199.0 m/s² (20.29 g)") }, "\(far.2)")
    }

    @Test func otherFormatsAreNamed() throws {
        var sac = [UInt8](repeating: 0, count: 1000)
        sac.replaceSubrange(304..<308, with: [6, 0, 0, 0])
        sac.replaceSubrange(280..<284, with: [0, 0, 0, 0])
        for big in [false, true] {
            var bytes = sac
            if big { bytes.replaceSubrange(304..<308, with: [0, 0, 0, 6]) }
            #expect(try refusal(bytes, "r.sac").contains("this is SAC: convert it"))
        }
        for (text, name) in [
            ("WID2 2026/01/05 10:00:00.000 XX    HNZ      CM6     1000   100.000000", "GSE2"),
            ("BEGIN GSE2.0\nMSG_TYPE DATA\n", "GSE2"),
            ("<?xml version=\"1.0\"?>\n<FDSNStationXML xmlns=\"x\">", "StationXML"),
            ("<?xml version=\"1.0\"?><q:quakeml>", "QuakeML"),
            ("PK\u{3}\u{4}abcdefgh", "a ZIP archive"), ("000001V 0100083081.", "full SEED"),
            ("RIFFabcdWAVEfmt ", "WAV"),
            ("Origin Time       2011/03/11 14:46:00\nLat.  38.103", "K-NET"), ("{\"a\": 1}", "JSON"),
            (
                "TIMESERIES XX_S__HNZ_R, 100 samples, 100 sps, 2026-01-05T10:00:00, SLIST, INTEGER, Counts\n1 2 3",
                "SLIST"
            ),
            ("\u{89}HDF\r\n", "HDF5"),
        ] {
            let message = try refusal(Array(text.unicodeScalars.map { UInt8($0.value) }), "r.dat")
            #expect(message.hasPrefix("r.dat: this is \(name)"), "\(name): \(message)")
        }
        #expect(try refusal([0x1F, 0x8B, 8, 0, 0, 0], "r.gz").contains("this is gzip"))
    }
}
