import Foundation
import TestSupport
import Testing

@testable import MiniSEED

@Suite struct HostileInputTests {
    @Test func truncatedFilesNameTheRecord() throws {
        for name in ReferenceFiles.names {
            let bytes = try ReferenceFiles.bytes(name)
            let whole = try ReferenceFiles.records(bytes)
            let third = whole[2]
            for kept in [1, 20, 47, 60, third.header.length - 1] {
                var reader = MiniSEEDReader(Array(bytes[..<(third.offset + kept)]))
                _ = try reader.next()
                _ = try reader.next()
                let error = miniSEEDError { _ = try reader.next() }
                #expect(error?.code == .truncated, "\(name) \(kept)")
                let text = error?.description ?? ""
                #expect(text.hasPrefix("record 3 at byte \(third.offset): "))
            }
        }
    }

    @Test func everyFlippedByteOfVersion3IsNoticed() throws {
        let bytes = Array(try ReferenceFiles.bytes("v3_steim2").prefix(961))
        #expect(try ReferenceFiles.records(bytes).count == 1)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x10
            #expect(throws: MiniSEEDError.self, "byte \(index)") { try ReferenceFiles.records(damaged) }
        }
    }

    @Test func damagedSteimFramesAreNoticed() throws {
        var bytes = Array(try ReferenceFiles.bytes("v2_steim2_512").prefix(512))
        bytes[200] ^= 0x01
        let error = miniSEEDError { _ = try ReferenceFiles.records(bytes) }
        #expect(error?.code == .samples)
    }

    @Test func lyingCountsAreNoticed() throws {
        for (name, code) in [("v2_int32_512", MiniSEEDError.Code.samples), ("v2_steim2_512", .samples)] {
            var bytes = Array(try ReferenceFiles.bytes(name).prefix(512))
            (bytes[30], bytes[31]) = (0xFF, 0xFF)
            let error = miniSEEDError { _ = try ReferenceFiles.records(bytes) }
            #expect(error?.code == code)
        }
        var bytes = Array(try ReferenceFiles.bytes("v3_steim2").prefix(961))
        for index in 24..<28 { bytes[index] = 0xFF }
        HeaderV3.seal(&bytes, from: 0)
        let error = miniSEEDError { _ = try ReferenceFiles.records(bytes) }
        #expect(error?.code == .samples)
    }

    @Test func unknownEncodingIsNamed() throws {
        var bytes = Array(try ReferenceFiles.bytes("v2_steim2_512").prefix(512))
        let blockette = try #require((48..<100).first { bytes[$0] == 0x03 && bytes[$0 + 1] == 0xE8 })
        bytes[blockette + 4] = 31
        let error = miniSEEDError { _ = try ReferenceFiles.records(bytes) }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("encoding 31") == true)
    }

    private static let words: [(encoding: UInt8, words: [UInt16], wanted: [Double]?)] = [
        (13, [0x0000, 0x0FFF, 0x7800], [-2048, 2047, 0]), (14, [0x1FFF, 0xF000, 0x3800], [1023.5, -0.0625, 0]),
        (16, [0x1FFF, 0x2000, 0x5FFE, 0xC000], [0, 1, -4, -1_048_448]),
        (30, [0x0001, 0x0FFF, 0xA7FF, 0x9800], [1024, -1024, 2047, -4096]), (30, [0xB001], nil),
        (32, [0xFFFF, 0x7FFF], [-1, 32767]),
    ]

    /// Codings of older networks: each word as libmseed has it. A gain that there is not is no sample.
    @Test(arguments: words) func olderCodings(_ encoding: UInt8, _ words: [UInt16], _ wanted: [Double]?) throws {
        for big in [true, false] {
            let bytes = words.flatMap { big ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
            let payload = MiniSEEDPayload(
                encodingCode: encoding, bigEndian: big, count: words.count, offset: 0, length: bytes.count)
            try bytes.withUnsafeBytes { raw in
                var decoder = MiniSEEDDecoder()
                var values: [Double] = []
                let error = miniSEEDError { try decoder.decode(payload, of: raw, into: &values) }
                #expect(wanted == nil ? error?.code == .samples : error == nil && values == wanted)
                if wanted != nil, encoding != 13, encoding != 14 {
                    guard case .integers(let whole) = try decoder.samples(payload, of: raw) else {
                        Issue.record("no integers")
                        return
                    }
                    #expect(whole.map(Double.init) == wanted)
                }
                // What is promised and is not there is noticed.
                var short = payload
                short.count += 1
                #expect(miniSEEDError { try decoder.decode(short, of: raw, into: &values) } != nil)
            }
        }
    }

    /// A header without samples has any encoding; the text of a log says what it is.
    @Test func headersAloneAndTexts() throws {
        var decoder = MiniSEEDDecoder()
        try [UInt8](repeating: 65, count: 64).withUnsafeBytes { raw in
            var values = [1.0]
            try decoder.decode(
                MiniSEEDPayload(encodingCode: 0, bigEndian: true, count: 0, offset: 0, length: 0), of: raw,
                into: &values)
            #expect(values.isEmpty)
            let text = miniSEEDError {
                try decoder.decode(
                    MiniSEEDPayload(encodingCode: 0, bigEndian: true, count: 64, offset: 0, length: 64), of: raw,
                    into: &values)
            }
            #expect(text?.code == .encoding && text?.description.contains("the text of a log") == true)
        }
    }

    @Test func otherFilesAreNoRecords() {
        for text in [
            "", "t,x,y,z\n0,1,2,3\n", String(repeating: "\0", count: 600),
            "MS\u{4}" + String(repeating: "x", count: 99),
        ] {
            let bytes = Array(text.utf8)
            guard !bytes.isEmpty else { continue }
            let error = miniSEEDError { _ = try ReferenceFiles.records(bytes) }
            #expect(error?.code == (bytes.count < 40 ? .truncated : .signature))
        }
    }

    /// 20 000 damaged files: read to the end or refused with an error, never a crash. `Tests` run with
    /// `--sanitize=address` see reads beyond the bytes as well.
    @Test func damageNeverCrashes() throws {
        var numbers = SplitMix64(state: 2026)
        let originals = try ReferenceFiles.names.map { name in
            let bytes = try ReferenceFiles.bytes(name)
            let records = try ReferenceFiles.records(bytes)
            let end = records.count > 3 ? records[3].offset : bytes.count
            return (bytes: Array(bytes[..<end]), starts: records.prefix(3).map(\.offset))
        }
        var refused = 0
        for _ in 0..<20_000 {
            let original = originals[Int.random(in: 0..<originals.count, using: &numbers)]
            var bytes = original.bytes
            for _ in 0..<Int.random(in: 1...4, using: &numbers) {
                let start = original.starts[Int.random(in: 0..<original.starts.count, using: &numbers)]
                // Headers are where damage tells, so half of it goes there.
                let place =
                    Bool.random(using: &numbers)
                    ? start + Int.random(in: 0..<80, using: &numbers) : Int.random(in: 0..<bytes.count, using: &numbers)
                guard place < bytes.count else { continue }
                let interesting: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
                bytes[place] =
                    Bool.random(using: &numbers)
                    ? interesting[Int.random(in: 0..<5, using: &numbers)] : UInt8.random(in: 0...255, using: &numbers)
            }
            if Int.random(in: 0..<10, using: &numbers) == 0 {
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &numbers))
            }
            // A right check sum lets the damage through to what comes behind it.
            if Bool.random(using: &numbers) { Self.sealAll(&bytes, at: original.starts) }
            do {
                _ = try ReferenceFiles.records(bytes)
            } catch let error as MiniSEEDError {
                refused += 1
                #expect(error.record >= 1 && error.offset < bytes.count)
            }
        }
        #expect(refused > 10_000)
    }

    private static func sealAll(_ bytes: inout [UInt8], at starts: [Int]) {
        for start in starts where start + 40 <= bytes.count && bytes[start] == 0x4D {
            let length = bytes.withUnsafeBytes { all in
                (try? HeaderV3.recordLength(UnsafeRawBufferPointer(rebasing: all[start...]), 1, 0)) ?? 0
            }
            guard length >= 40, start + length <= bytes.count else { continue }
            var record = Array(bytes[start..<(start + length)])
            HeaderV3.seal(&record, from: 0)
            bytes.replaceSubrange(start..<(start + length), with: record)
        }
    }

    @Test func libmseedStaysSilent() throws {
        // A frame with an impossible code, on which libmseed complains by itself.
        var frames = [Int32](repeating: 0, count: 16)
        frames[0] = Int32(bitPattern: 0x02AA_AAAA)
        var samples = [Int32](repeating: 0, count: 5)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("silence-\(getpid())")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: file) }
        let descriptor = open(file.path, O_RDWR)
        fflush(nil)
        let saved = (dup(1), dup(2))
        dup2(descriptor, 1)
        dup2(descriptor, 2)
        let count = frames.withUnsafeMutableBufferPointer { frames in
            samples.withUnsafeMutableBufferPointer { samples in
                Steim.decode(frames, steim2: true, swapped: false, into: samples)
            }
        }
        fflush(nil)
        dup2(saved.0, 1)
        dup2(saved.1, 2)
        for open in [descriptor, saved.0, saved.1] { close(open) }
        #expect(count == nil)
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("Steim"))
    }
}
