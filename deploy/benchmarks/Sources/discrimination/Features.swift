import Foundation
import Seismology

/// Features and on-site values of every trigger of recordings, for a fit in another program.
///
/// Standard input has for each recording five doubles (rate, samples, first and last sample of the onsets wanted, 0) and three
/// planes of samples (m/s²). Standard output has for each a line of JSON: `on`, spans of the triggers; `onsets`, for each its
/// `sample`, `judgings` (block, seconds, shift, features) and `onsite` (seconds, Pv, Pd, τc, whether Pv and Pd are valid).
struct FeaturePrinter {
    /// An onset whose judgings are being collected.
    private struct Open {
        let onset: Int
        var stages: EventAssessment
        var judgings: [[Double]] = []
        var estimates: [[Double]] = []
    }

    static func run() throws {
        while let head = try doubles(5) {
            let count = Int(head[1])
            guard let samples = try doubles(3 * count) else { throw Failure("the input ends within a recording") }
            let recording = Recording(rate: head[0], samples: samples)
            let line = try describe(recording, wanted: Int(head[2])...max(Int(head[2]), Int(head[3])))
            FileHandle.standardOutput.write(Data((line + "\n").utf8))
        }
    }

    /// Returns so many numbers of standard input; nil at its end.
    private static func doubles(_ count: Int) throws -> [Double]? {
        var data = Data()
        while data.count < 8 * count {
            guard let part = try FileHandle.standardInput.read(upToCount: 8 * count - data.count), !part.isEmpty else {
                if data.isEmpty { return nil }
                throw Failure("the input ends within a number")
            }
            data.append(part)
        }
        return data.withUnsafeBytes { bytes in
            (0..<count).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: Double.self) }
        }
    }

    private static func describe(_ recording: Recording, wanted: ClosedRange<Int>) throws -> String {
        let on = try recording.triggers()
        let onsets = Recording.onsets(on)
        var done: [Open] = []
        collect(recording, on, onsets.filter(wanted.contains), into: &done)
        let spans = onsets.map { onset in [onset, on[onset...].firstIndex(of: 0) ?? on.count] }
        let rows = done.map { one in
            #"{"sample":\#(one.onset),"judgings":\#(one.judgings),"onsite":\#(one.estimates)}"#
        }
        return #"{"on":\#(spans),"onsets":[\#(rows.joined(separator: ","))]}"#
    }

    /// Runs the stages over a recording once, and from each onset on a copy of them.
    private static func collect(_ recording: Recording, _ on: [UInt8], _ onsets: [Int], into done: inout [Open]) {
        guard let last = onsets.last else { return }
        let (n, rate) = (recording.count, recording.rate)
        let longest = Int(31 * rate)
        var quiet = EventAssessment(.init(classification: true, onsite: true, alarm: nil), rate: rate)
        var open: [Open] = []
        recording.samples.withUnsafeBufferPointer { raw in
            on.withUnsafeBufferPointer { on in
                guard let raw = raw.baseAddress, let on = on.baseAddress else { return }
                var wanted = onsets[...]
                for i in 0..<min(n, last + longest) {
                    if wanted.first == i {
                        wanted.removeFirst()
                        var one = Open(onset: i, stages: quiet)
                        one.stages.begin()
                        open.append(one)
                    }
                    for k in open.indices { step(&open[k], raw + i, n, on + i) }
                    done += open.filter { i - $0.onset >= longest }
                    open.removeAll { i - $0.onset >= longest }
                    quiet.process(raw + i, stride: n, count: 1)
                    quiet.skip(raw + i, stride: n, on + i, count: 1)
                }
            }
        }
        done += open
        done.sort { $0.onset < $1.onset }
    }

    private static func step(
        _ one: inout Open, _ raw: UnsafePointer<Double>, _ stride: Int, _ on: UnsafePointer<UInt8>
    ) {
        let (before, estimate) = (one.stages.discriminator?.newest, one.stages.estimate)
        one.stages.process(raw, stride: stride, count: 1)
        _ = one.stages.step(raw, stride: stride, on)
        if let newest = one.stages.discriminator?.newest, newest != before {
            one.judgings.append([Double(newest.block), newest.time, newest.shift] + newest.features)
        }
        if let new = one.stages.estimate, new != estimate {
            one.estimates.append([
                Double(new.time), new.pv, new.pd, new.tauC, new.pvIsValid ? 1 : 0, new.pdIsValid ? 1 : 0,
            ])
        }
    }
}
