import MiniSEED
import Testing

@testable import Exchange

/// `seismote convert` reads files as `seismote replay` does.
@Suite struct ReadableRunsTests {
    private func file(_ rate: Double, header: Double, count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = try MiniSEEDWriter(format: .v2, recordLength: 512)
        for channel in ["HNE", "HNZ"] {
            for first in stride(from: 0, to: count, by: 100) {
                let start = 1_767_607_200_000_000_000 + Int64((Double(first) / rate * 1e9).rounded())
                bytes += try writer.encode(
                    (first..<first + 100).map { Int32($0) }, start: start, rate: header,
                    source: SourceIdentifier(network: "XX", station: "S", location: "", channel: channel))
            }
        }
        return bytes
    }

    /// A clock that runs otherwise than the header tore the series, or let it drift.
    @Test(arguments: [99.95, 99.3, 100.6, 100]) func ratesFollowTheRecords(rate: Double) throws {
        var problems: [MiniSEEDError] = []
        let runs = RecordedMessages.readableRuns(try file(rate, header: 100, count: 20_000)) { problems.append($0) }
        #expect(problems.isEmpty && runs.count == 400)
        for run in runs { #expect(abs(run.rate / rate - 1) < 1.1e-6) }
        let joined = Runs.joined(runs)
        #expect(joined.duplicates == 0 && joined.runs.reduce(0) { $0 + $1.count } == 40_000)
        for run in joined.runs {
            let place = Double(run.start - 1_767_607_200_000_000_000) / 1e9 * rate
            #expect(abs(place - Double(run.columns[0][0])) < 0.05)
        }
        // Read again beside itself with the header's rate, as an archive has it: once.
        let again = Runs.joined(runs + (try RecordedMessages.runs(file(rate, header: 100, count: 20_000))))
        #expect(again.duplicates >= 39_000, "\(again.duplicates)")
    }

    @Test func badRecordsAreLeftOut() throws {
        let good = try file(100, header: 100, count: 2000)
        let border = 512 * 7
        let zeros = [UInt8](repeating: 0, count: 700)
        let (front, back) = (Array(good[..<border]), Array(good[border...]))
        let cases: [([UInt8], Int)] = [
            (front + zeros + back, 0),
            (front + Array(back.prefix(100)) + back, 0),
            (Array(good.dropLast(50)), 100),
        ]
        for (bad, lost) in cases {
            var problems: [MiniSEEDError] = []
            let runs = RecordedMessages.readableRuns(bad) { problems.append($0) }
            #expect(problems.count == 1 && runs.reduce(0) { $0 + $1.count } == 4000 - lost, "\(problems)")
        }
        var problems = 0
        #expect(
            RecordedMessages.readableRuns([UInt8](repeating: 0, count: 1000)) { _ in problems += 1 }.isEmpty
                && problems == 1)
    }
}
