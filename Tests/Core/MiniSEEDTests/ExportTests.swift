import Foundation
import MiniSEED
import Testing

/// Files by our writer for other readers: `deploy/checks/waveform` sets `SEISMOTE_EXPORT` to a folder and has
/// ObsPy and pymseed compare them with what `expected.json` says.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SEISMOTE_EXPORT"] != nil)) struct ExportTests {
    private struct Expected: Encodable {
        var file: String
        var format: Int
        var source: String
        var start: Int64
        var rate: Double
        var samples: [Int32]
    }

    @Test func filesForOtherReaders() throws {
        let folder = URL(fileURLWithPath: try #require(ProcessInfo.processInfo.environment["SEISMOTE_EXPORT"]))
        var list: [Expected] = []
        var jump = WriterTests.walk(3000, seed: 12)
        for index in stride(from: 1000, to: 1010, by: 2) { (jump[index], jump[index + 1]) = (.max, .min) }
        let series: [(name: String, samples: [Int32], rate: Double)] = [
            ("walk", WriterTests.walk(5000, seed: 11), 100), ("slow", WriterTests.walk(800, seed: 14), 31.25),
            ("odd", WriterTests.walk(800, seed: 15), 100.0123), ("period", WriterTests.walk(300, seed: 16), 0.1),
            ("jump", jump, 200), ("one", [-7], 100), ("flat", [Int32](repeating: 5, count: 10_000), 1000),
        ]
        for (name, samples, rate) in series {
            for format in MiniSEEDFormat.allCases {
                for length in [nil, 256, 1024] as [Int?] {
                    var writer = try MiniSEEDWriter(format: format, recordLength: length)
                    let bytes = try writer.encode(
                        samples, start: WriterTests.start, rate: rate, source: WriterTests.source)
                    let file = "\(name).v\(format.rawValue).\(length ?? 0).mseed"
                    try Data(bytes).write(to: folder.appendingPathComponent(file))
                    list.append(
                        Expected(
                            file: file, format: Int(format.rawValue), source: WriterTests.source.description,
                            start: WriterTests.start, rate: rate, samples: samples))
                }
            }
        }
        try JSONEncoder().encode(list).write(to: folder.appendingPathComponent("expected.json"))
    }
}
