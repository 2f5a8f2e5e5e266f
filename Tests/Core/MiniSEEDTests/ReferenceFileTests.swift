import Foundation
import MiniSEED
import TestSupport
import Testing

/// Files that ObsPy and libmseed 3 wrote, see Tests/Vectors/mseed/README.md.
enum ReferenceFiles {
    struct Truth: Decodable {
        /// Of each file: source, start, samples of each record.
        var records: [String: [[Entry]]]
        var rates: [String: Double]
        var samples: [String: [Int32]]
    }
    enum Entry: Decodable {
        case text(String), number(Int)
        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else {
                self = .number(try container.decode(Int.self))
            }
        }
        var text: String { if case .text(let text) = self { text } else { "" } }
        var number: Int { if case .number(let number) = self { number } else { -1 } }
    }

    static let names = [
        "v2_steim1_512", "v2_steim2_512", "v2_steim2_4096", "v2_int32_512", "v2_float32_512", "v2_float64_512",
        "v2_steim2_512_little_endian", "v2_steim2_512_interleaved", "v3_steim1", "v3_steim2", "v3_int32", "v3_float32",
        "v3_float64",
    ]

    static func truth() throws -> Truth {
        try JSONDecoder().decode(Truth.self, from: Vectors.data("mseed/truth.json"))
    }

    static func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Vectors.data("mseed/\(name).mseed")) }

    static func records(_ bytes: [UInt8]) throws -> [MiniSEEDRecord] {
        var reader = MiniSEEDReader(bytes)
        var records: [MiniSEEDRecord] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    /// Nanoseconds of a text such as `2019-07-06T03:19:47.368300Z`.
    static func nanoseconds(_ text: String) throws -> Int64 {
        let parts = text.dropLast().split(separator: ".")
        let formatter = ISO8601DateFormatter()
        let date = try #require(formatter.date(from: parts[0] + "Z"))
        return Int64(date.timeIntervalSince1970) * 1_000_000_000 + Int64(Int(parts[1]) ?? 0) * 1000
    }
}

@Suite struct ReferenceFileTests {
    @Test(arguments: ReferenceFiles.names)
    func samplesTimesAndRatesAreThoseOfTheWriter(name: String) throws {
        let truth = try ReferenceFiles.truth()
        let listing = try #require(truth.records["\(name).mseed"])
        let records = try ReferenceFiles.records(ReferenceFiles.bytes(name))
        #expect(records.count == listing.count)
        var positions: [String: Int] = [:]
        for (record, expected) in zip(records, listing) {
            let source = record.header.source.description
            #expect(source == expected[0].text)
            let start = try ReferenceFiles.nanoseconds(expected[1].text)
            #expect(abs(record.header.start - start) <= 1000, "\(source) record \(record.number)")
            #expect(record.header.rate == truth.rates[source])
            #expect(record.samples.count == expected[2].number)
            let position = positions[source, default: 0]
            let integers = try #require(truth.samples[source])[position..<(position + record.samples.count)]
            switch record.samples {
            case .integers(let values): #expect(values == Array(integers))
            case .floats(let values): #expect(values == integers.map { Float(Double($0) / 1e6) })
            case .doubles(let values): #expect(values == integers.map { Double($0) / 1e6 })
            }
            positions[source] = position + record.samples.count
        }
    }

    @Test func everyEncodingIsAmongTheFiles() throws {
        var seen: Set<String> = []
        for name in ReferenceFiles.names {
            for record in try ReferenceFiles.records(ReferenceFiles.bytes(name)) {
                seen.insert("v\(record.header.format.rawValue) \(record.header.payload.encodingCode)")
            }
        }
        #expect(
            seen.isSuperset(of: ["v2 3", "v2 4", "v2 5", "v2 10", "v2 11", "v3 3", "v3 4", "v3 5", "v3 10", "v3 11"]))
    }

    @Test func decodingToDoublesIsTheSame() throws {
        for name in ReferenceFiles.names {
            let bytes = try ReferenceFiles.bytes(name)
            var decoder = MiniSEEDDecoder()
            var values: [Double] = []
            for record in try ReferenceFiles.records(bytes) {
                let range = record.offset..<(record.offset + record.header.length)
                try bytes.withUnsafeBytes { all in
                    try decoder.decode(
                        record.header.payload, of: UnsafeRawBufferPointer(rebasing: all[range]), into: &values)
                }
                #expect(values == record.samples.values)
            }
        }
    }
}
