import Messages
import MiniSEED
import Testing
import Values

@testable import Feed

struct TraceReadingTests {
    private let codes = ChannelCodes(network: "XX", station: "BASE", location: "00", id: "base")
    private let json = """
        {"v":1,"boot":"b","seq":1,"t":"2026-01-05T10:20:30.120000000Z","rate_hz":100,"n":2,"unit":"m/s^2",
         "x":{"raw":[0.5,-0.25]},"y":{"raw":[1,2]},"z":{"raw":[9.81,9.82],"filtered":[0.0,0.1]}}
        """

    @Test func readsJSON() throws {
        let blocks = try #require(
            TraceReading(signals: ["raw", "filtered"]).blocks(Array(json.utf8), codes: codes, unit: 1))
        #expect(blocks.map(\.source.channel) == ["HNE", "HNN", "HNZ", "HXZ"])
        #expect(blocks[0].samples == [500_000, -250_000] && blocks[2].samples == [9_810_000, 9_820_000])
        #expect(blocks[0].start == Timestamp("2026-01-05T10:20:30.12Z")?.nanoseconds)
    }

    @Test func readsRecordsInTheUnitOfAll() throws {
        var writer = try MiniSEEDWriter(format: .v2, recordLength: 256)
        let other = SourceIdentifier(network: "YY", station: "OLD", location: "10", channel: "HNZ")
        let bytes = try writer.encode((0..<400).map { Int32($0 % 7) }, start: 1_000_000_000, rate: 100, source: other)
        let blocks = try #require(TraceReading(signals: ["raw"]).blocks(bytes, codes: codes, unit: 2e-6))
        #expect(blocks.count == 1)
        let expected: [Int32] = (0..<400).map { (i: Int32) -> Int32 in 2 * (i % 7) }
        #expect(blocks[0].samples == expected)
        #expect(blocks[0].source.description == "FDSN:XX_BASE_00_H_N_Z")
    }

    @Test func refusesEverythingElse() {
        let reading = TraceReading(signals: ["raw"])
        let bad = [
            "", "{", "[]", "{\"t\":1}", json.replacing("100", with: "1e300"), json.replacing("0.5", with: "\"a\""),
            json.replacing("2026-01", with: "x"),
        ]
        for text in bad {
            #expect(reading.blocks(Array(text.utf8), codes: codes, unit: 1) == nil, "\(text.prefix(40))")
        }
        for length in 0..<300 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ length) }
            _ = reading.blocks(bytes, codes: codes, unit: 1)
        }
    }
}

extension String {
    fileprivate func replacing(_ old: String, with new: String) -> String {
        var (result, rest) = ("", self[...])
        while !rest.isEmpty {
            if rest.hasPrefix(old) {
                result += new
                rest = rest.dropFirst(old.count)
            } else {
                result.append(rest.removeFirst())
            }
        }
        return result
    }
}
