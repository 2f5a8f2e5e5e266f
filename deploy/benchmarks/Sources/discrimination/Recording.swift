import Foundation
import MiniSEED
import Seismology
import SignalProcessing

/// A three-axis recording in memory, m/s².
struct Recording {
    var rate: Double
    /// Three planes of `count` samples.
    var samples: [Double]
    var count: Int { samples.count / 3 }

    /// - Parameter samples: three planes.
    init(rate: Double, samples: [Double]) { (self.rate, self.samples) = (rate, samples) }

    /// miniSEED of three channels in the order of their codes, in counts of 1e-5 m/s².
    init(miniSEED path: String) throws {
        var reader = MiniSEEDReader([UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        var channels: [String: [Double]] = [:]
        rate = 0
        while let record = try reader.next() {
            guard case .integers(let counts) = record.samples else { continue }
            channels[record.header.source.description, default: []] += counts.map { Double($0) * 1e-5 }
            rate = record.header.rate
        }
        samples = channels.sorted { $0.key < $1.key }.flatMap(\.value)
    }

    /// Lines `t,x,y,z` below a header.
    init(csv path: String, rate: Double) throws {
        self.rate = rate
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
        var planes: [[Double]] = [[], [], []]
        for line in lines {
            for (axis, text) in line.split(separator: ",").dropFirst().prefix(3).enumerated() {
                planes[axis].append(Double(text) ?? .nan)
            }
        }
        samples = planes.flatMap { $0 }
    }

    /// Of each sample, 1 in a trigger of the default STA/LTA with its guard.
    func triggers() throws -> [UInt8] {
        var detection = DetectionConfiguration()
        detection.disableAll()
        detection.staLTA.enabled = true
        var bank = try DetectorBank(detection, DetectorContext(rate: rate, thresholds: (1, 1, 1)))
        let n = count
        var removed = samples
        for axis in 0..<3 { for i in 0..<n { removed[axis * n + i] -= samples[axis * n] } }
        let values = UnsafeMutablePointer<Double>.allocate(capacity: (1 + DetectorBank.count) * 3 * n)
        values.initialize(repeating: 0, count: (1 + DetectorBank.count) * 3 * n)
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: (2 + DetectorBank.count) * n)
        bytes.initialize(repeating: 0, count: (2 + DetectorBank.count) * n)
        defer {
            values.deallocate()
            bytes.deallocate()
        }
        samples.withUnsafeBufferPointer { raw in
            removed.withUnsafeBufferPointer { removed in
                guard let raw = raw.baseAddress, let removed = removed.baseAddress else { return }
                bank.process(
                    DetectorChunk(
                        count: n, stride: n, raw: raw, offsetRemoved: removed, filtered: removed, rms: removed,
                        triggered: bytes + (1 + DetectorBank.count) * n, scratch: values, validFrom: 0,
                        axisValidFrom: (0, 0, 0)),
                    DetectorMemory(on: bytes, axes: bytes + n, values: values + 3 * n, stride: n))
            }
        }
        return (0..<n).map { bytes[$0] != 0 ? 1 : 0 }
    }

    /// First samples of the triggers.
    static func onsets(_ on: [UInt8]) -> [Int] { on.indices.dropFirst().filter { on[$0] != 0 && on[$0 - 1] == 0 } }
}
