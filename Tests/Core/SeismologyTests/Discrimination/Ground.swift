import Foundation
import MiniSEED
import SignalProcessing
import TestSupport

@testable import Seismology

/// Samples for the assessment of events, and the stages run over them.
struct Ground {
    var rate: Double
    var axes: [[Double]]
    /// In a trigger.
    var on: [UInt8]

    init(rate: Double, axes: [[Double]], triggers: [Range<Int>]) {
        (self.rate, self.axes) = (rate, axes)
        on = axes[0].indices.map { i in triggers.contains { $0.contains(i) } ? 1 : 0 }
    }

    /// Noise (about 1 mm/s²) on gravity of a tilted sensor, and after `quiet` seconds shaking of some frequencies that grows
    /// within `rise` seconds and fades within `fall`.
    static func shaken(
        rate: Double = 100, seconds: Double = 90, quiet: Double = 40, rise: Double, fall: Double,
        _ frequencies: [Double],
        amplitude: Double
    ) -> Ground {
        var state: UInt64 = 11
        let n = Int(seconds * rate)
        let axes = (0..<3).map { axis -> [Double] in
            (0..<n).map { i -> Double in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let noise = (Double(state >> 40) / Double(1 << 24) - 0.5) * 4e-3
                let t = Double(i) / rate - quiet
                guard t >= 0 else { return noise + Double(axis) * 3 }
                let envelope = min(1, t / rise) * exp(-t / fall)
                // (In short steps: Swift 6.0 does not find the types of longer ones.)
                let stretch = 1 + 0.1 * Double(axis)
                var wave = 0.0
                for (number, frequency) in frequencies.enumerated() {
                    let turn: Double = 2 * .pi * frequency * t * stretch
                    wave += sin(turn + Double(number + axis))
                }
                let share = axis == 2 ? 0.6 : 1
                let shaking: Double = amplitude * envelope * wave * share
                return noise + Double(axis) * 3 + shaking
            }
        }
        return Ground(rate: rate, axes: axes, triggers: [])
    }

    /// What is published of an event, and when.
    struct Told: Equatable {
        var sample: Int
        var result: EventClass
        var estimate: OnsiteEstimate?
        var alarm: Bool
    }

    struct Run: Equatable {
        var told: [Told] = []
        var judged: [Discriminator.Judged] = []
        var noise: [Double] = []
    }

    /// - Parameters:
    ///   - event: samples of an open event.
    ///   - gap: a sample before which some are missing.
    func run(
        _ event: Range<Int>, _ settings: AssessmentSettings = .init(classification: true, onsite: true, alarm: 0.005),
        cuts: [Int] = [128], gap: Int = .max
    ) -> Run {
        var (found, stages) = (Run(), EventAssessment(settings, rate: rate))
        let (n, planes) = (axes[0].count, axes.flatMap { $0 })
        planes.withUnsafeBufferPointer { raw in
            on.withUnsafeBufferPointer { on in
                guard let raw = raw.baseAddress, let on = on.baseAddress else { return }
                var (start, turn) = (0, 0)
                while start < n {
                    if start == gap { stages.reset() }
                    let count = min(cuts[turn % cuts.count], (start < gap ? min(n, gap) : n) - start)
                    stages.process(raw + start, stride: n, count: count)
                    for i in start..<start + count {
                        guard event.contains(i) else {
                            stages.skip(raw + i, stride: n, on + i, count: 1)
                            continue
                        }
                        if i == event.lowerBound { stages.begin() }
                        let before = stages.discriminator?.newest
                        if stages.step(raw + i, stride: n, on + i) {
                            found.told.append(
                                Told(
                                    sample: i, result: stages.discriminator?.result ?? EventClass(),
                                    estimate: stages.estimate, alarm: stages.isAlarm))
                        }
                        if let newest = stages.discriminator?.newest, newest != before {
                            if found.judged.isEmpty { found.noise = stages.discriminator?.noise ?? [] }
                            found.judged.append(newest)
                        }
                        if i == event.upperBound - 1 { stages.end() }
                    }
                    start += count
                    turn += 1
                }
            }
        }
        return found
    }
}

extension Ground {
    /// The earthquake of deploy/recordings, in a trigger from a sample on.
    static func ridgecrest(onset: Int) throws -> Ground {
        let path = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("deploy/recordings/ridgecrest-2019-07-06-clc.mseed")
        var reader = MiniSEEDReader([UInt8](try Data(contentsOf: path)))
        var channels: [String: [Double]] = [:]
        while let record = try reader.next() {
            guard case .integers(let counts) = record.samples else { continue }
            channels[record.header.source.channel, default: []] += counts.map { Double($0) }
        }
        let scales = ["HNE": 213945.0, "HNN": 213808, "HNZ": 213740]
        let axes = scales.keys.sorted().map { code in (channels[code] ?? []).map { $0 / (scales[code] ?? 1) } }
        return Ground(rate: 100, axes: axes, triggers: [onset..<axes[0].count])
    }
}
