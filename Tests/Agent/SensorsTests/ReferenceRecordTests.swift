import Foundation
import SignalProcessing
import Testing

@testable import Sensors

/// The whole collection of recordings, where it lies beside the repository (`SEISMOTE_REFERENCE`, or
/// `../shared/reference`): its terms do not allow to bring all of it.
enum ReferenceRecords {
    static let folder: URL? = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let named = ProcessInfo.processInfo.environment["SEISMOTE_REFERENCE"].map { URL(fileURLWithPath: $0) }
        let folder = (named ?? package.deletingLastPathComponent().appendingPathComponent("shared/reference"))
            .appendingPathComponent("records")
        return FileManager.default.fileExists(atPath: folder.appendingPathComponent("index.json").path) ? folder : nil
    }()
}

@Suite(.enabled(if: ReferenceRecords.folder != nil)) struct ReferenceRecordTests {
    private struct Record: Decodable {
        var id: String
        var fs: Double
        var n: Int
        var counts: [String: Double]

        enum CodingKeys: String, CodingKey {
            case id, fs, n
            case counts = "counts_per_m_s2"
        }
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: try #require(ReferenceRecords.folder).appendingPathComponent(name)))
    }

    private func records() throws -> [Record] {
        try JSONDecoder().decode([Record].self, from: Data(bytes("index.json")))
    }

    private func difference(_ a: Delivery, _ b: Delivery) -> Double {
        zip([a.x, a.y, a.z].joined(), [b.x, b.y, b.z].joined()).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }

    @Test func tablesAndRecordsAgree() throws {
        for record in try records() {
            let table = try replay(bytes("\(record.id).csv"))
            #expect(table.description.rate == record.fs, "\(record.id)")
            #expect(table.delivery.x.count == record.n && table.delivery.marks.count == 1, "\(record.id)")
            let counts = record.counts
            let mseed = try replay(bytes("\(record.id).mseed"), "r.mseed") {
                $0.scale = PerAxis(x: 1 / (counts["x"] ?? 0), y: 1 / (counts["y"] ?? 0), z: 1 / (counts["z"] ?? 0))
            }
            #expect(mseed.description.rate == record.fs)
            #expect(mseed.delivery.x.count == record.n && mseed.delivery.marks.count == 1, "\(record.id)")
            // The tables have ten significant digits.
            #expect(difference(table.delivery, mseed.delivery) < 1e-8, "\(record.id)")
        }
    }

    /// The tables were made by straight lines; here samples are put onto the grid as what they are. The two differ by the
    /// error of straight lines, h²/8·|f″| at most: the second difference d of a sine at half the rate is 0.4 of h²·|f″|, and
    /// an interval that is not yet sparse is 1.6 h, so 1.6²/8/0.4·d = 0.8 d.
    @Test func irregularPhonesAreNearTheirRegularTables() throws {
        for (name, rate) in [
            ("r13_phone_walking", 50.0 as Double?), ("r14_phone_rest_tremor", nil), ("r15_phone_leg_agility", nil),
        ] {
            let regular = try replay(bytes("\(name).csv"))
            let irregular = try replay(bytes("\(name)_irregular.csv"), rate: rate)
            #expect(irregular.description.rate == regular.description.rate)
            #expect(irregular.delivery.x.count == regular.delivery.x.count)
            #expect(irregular.delivery.marks == regular.delivery.marks)
            for (a, b) in [
                (regular.delivery.x, irregular.delivery.x), (regular.delivery.y, irregular.delivery.y),
                (regular.delivery.z, irregular.delivery.z),
            ] {
                var bend: [Double] = []
                for index in 1..<(a.count - 1) { bend.append(abs(a[index + 1] - 2 * a[index] + a[index - 1])) }
                for index in 1..<(a.count - 1) {
                    let near = bend[max(0, index - 9)...min(bend.count - 1, index + 7)].max() ?? 0
                    // The values' text has six digits; the tables were made before the times were rounded to 1 µs.
                    let steep = max(abs(a[index + 1] - a[index]), abs(a[index] - a[index - 1])) * 100
                    let allowed: Double = 1.5e-6 + 2 * steep * 1e-6 + 0.8 * near
                    #expect(abs(a[index] - b[index]) < allowed, "\(name) sample \(index)")
                }
            }
        }
    }

    @Test func gIsConverted() throws {
        let si = try replay(bytes("r14_phone_rest_tremor.csv"))
        let g = try replay(bytes("r14_phone_rest_tremor_g.csv")) { $0.unit = .g }
        #expect(difference(si.delivery, g.delivery) < 1e-8)
    }
}
