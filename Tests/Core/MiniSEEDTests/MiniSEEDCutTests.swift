import Testing

@testable import MiniSEED

/// Stretches of time out of records.
@Suite struct MiniSEEDCutTests {
    private static let start: Int64 = 1_767_608_430_120_000_000
    private static let source = SourceIdentifier(
        network: "XX", station: "TEST", location: "00", band: "H", source: "N", subsource: "Z")

    private func records(_ format: MiniSEEDFormat, count: Int = 3000) throws -> [UInt8] {
        var writer = try MiniSEEDWriter(format: format)
        if format == .v3 { writer.extraHeaders = Array(#"{"seismote":{"unit_per_count":0.001}}"#.utf8) }
        return try writer.encode(
            (0..<count).map { Int32($0 * 7 % 1000) }, start: Self.start, rate: 100, source: Self.source)
    }

    private func values(_ bytes: [UInt8]) throws -> (values: [Double], start: Int64?) {
        var reader = MiniSEEDReader(bytes)
        var values: [Double] = []
        var start: Int64?
        while let record = try reader.next() {
            if start == nil { start = record.header.start }
            values += record.samples.values
        }
        return (values, start)
    }

    @Test(arguments: [MiniSEEDFormat.v2, .v3]) func allOfIt(format: MiniSEEDFormat) throws {
        let bytes = try records(format)
        var output: [UInt8] = []
        let result = try MiniSEEDCut.append(bytes, .min ... .max, to: &output)
        #expect(output == bytes)
        #expect(result.samples == 3000)
        #expect(result.first == Self.start)
        #expect(result.last == Self.start + 29_990_000_000)
        #expect(result.rate == 100)
    }

    @Test(arguments: [MiniSEEDFormat.v2, .v3], [(0, 1), (1, 2), (999, 1500), (17, 2983), (2999, 3000), (3000, 4000)])
    func aPart(format: MiniSEEDFormat, part: (from: Int, to: Int)) throws {
        let bytes = try records(format)
        var output: [UInt8] = []
        let range = Self.start + Int64(part.from) * 10_000_000...Self.start + Int64(part.to - 1) * 10_000_000
        let result = try MiniSEEDCut.append(bytes, range, to: &output)
        let expected = (part.from..<min(part.to, 3000)).map { Double($0 * 7 % 1000) }
        #expect(result.samples == expected.count)
        let found = try values(output)
        #expect(found.values == expected)
        if !expected.isEmpty { #expect(found.start == range.lowerBound) }
    }

    @Test func extraHeadersStay() throws {
        var output: [UInt8] = []
        _ = try MiniSEEDCut.append(try records(.v3), Self.start + 5_000_000_000 ... .max, to: &output)
        #expect(String(decoding: output, as: UTF8.self).contains("unit_per_count"))
    }

    @Test func damageIsAnErrorAfterWhatWasGood() throws {
        var bytes = try records(.v3)
        bytes += bytes
        bytes[bytes.count / 2 + 60] ^= 1
        var output: [UInt8] = []
        #expect(throws: MiniSEEDError.self) { _ = try MiniSEEDCut.append(bytes, .min ... .max, to: &output) }
        #expect(output.count == bytes.count / 2)
    }
}
