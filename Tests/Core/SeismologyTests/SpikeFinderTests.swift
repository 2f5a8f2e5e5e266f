import Foundation
import Testing

@testable import Seismology

@Suite struct SpikeFinderTests {
    /// Where spikes are found on x, and how high.
    private func found(_ signal: [Double], least: Double = 0) -> [Int: Double] {
        let n = signal.count
        var finder = SpikeFinder(rate: 100, least: least)
        var spikes = [Double](repeating: 99, count: 3 * n)
        var lone = [Double](repeating: 0, count: n)
        guard
            finder.process(
                signal + signal.map { -2 * $0 } + Array(repeating: 1, count: n), &spikes, stride: n, count: n,
                lone: &lone
            ).spike
        else { return [:] }
        var found: [Int: Double] = [:]
        for i in 0..<n where spikes[i] != 0 {
            found[i] = spikes[i]
            #expect(abs(spikes[n + i] + 2 * spikes[i]) < 1e-12 && spikes[2 * n + i] == 0)
        }
        return found
    }

    private let noise: [Double] = (0..<400).map { (i: Int) -> Double in
        let step = i * 7919 % 101 - 50
        return 0.01 * Double(step) / 50
    }

    private func with(_ change: (inout [Double]) -> Void) -> [Double] {
        var signal = noise
        change(&signal)
        return signal
    }

    @Test func aSpikeIsKnownOneSampleLaterWithItsHeight() {
        let spikes = found(with { $0[250] += 3 })
        #expect(spikes.keys.sorted() == [251])
        #expect(abs(spikes[251]! - 3) < 0.02)
        #expect(found(with { for i in [250, 253, 300] { $0[i] -= 3 } }).keys.sorted() == [251, 254, 301])
        #expect(found(with { $0[250] += 3 }, least: 3.1).isEmpty)
    }

    /// A spike is lone 0.1 s later, and so is the larger of two; the first swing of what goes on is not.
    @Test func whatNothingFollowsIsLone() {
        func lone(_ signal: [Double]) -> [Int: Double] {
            let n = signal.count
            let quiet = [Double](repeating: 0, count: n)
            var finder = SpikeFinder(rate: 100, least: 0)
            var (spikes, lone) = ([Double](repeating: 0, count: 3 * n), [Double](repeating: 0, count: n))
            let found = finder.process(quiet + signal + quiet, &spikes, stride: n, count: n, lone: &lone)
            #expect(found.lone == lone.contains { $0 != 0 })
            return Dictionary(uniqueKeysWithValues: lone.indices.filter { lone[$0] != 0 }.map { ($0, lone[$0]) })
        }
        let one = lone(with { $0[250] -= 3 })
        #expect(one.keys.sorted() == [261] && abs((one[261] ?? 0) - 3) < 0.02)
        let two = lone(with { ($0[250], $0[254]) = (3, -2) })
        #expect(two.keys.sorted() == [265] && abs((two[265] ?? 0) - 3) < 0.02)
        let shaking = with {
            $0[250] += 3
            for i in 252..<300 { $0[i] += sin(Double(i)) }
        }
        #expect(lone(shaking).isEmpty)
    }

    /// What is known of the noise goes on, but not with spikes of another height: those of before would be left out.
    @Test func anotherHeightBeginsAnew() {
        let n = noise.count
        let quiet = [Double](repeating: 0, count: n)
        func finds(_ finder: SpikeFinder, at place: Int) -> Bool {
            var (finder, signal) = (finder, noise)
            signal[place] += 0.5
            var (spikes, lone) = ([Double](repeating: 0, count: 3 * n), [Double](repeating: 0, count: n))
            return finder.process(signal + quiet + quiet, &spikes, stride: n, count: n, lone: &lone).spike
        }
        var old = SpikeFinder(rate: 100, least: 1)
        var (spikes, lone) = ([Double](repeating: 0, count: 3 * n), [Double](repeating: 0, count: n))
        _ = old.process(noise + quiet + quiet, &spikes, stride: n, count: n, lone: &lone)
        var (same, lower) = (SpikeFinder(rate: 100, least: 1), SpikeFinder(rate: 100, least: 0.1))
        same.takeOver(old)
        lower.takeOver(old)
        #expect(!finds(same, at: 250), "too low for it")
        #expect(finds(lower, at: 250))
        #expect(!finds(lower, at: 50), "in the first second nobody knows the noise")
    }

    @Test func nothingElseIsOne() {
        #expect(found(noise).isEmpty)
        #expect(found(with { $0[50] += 3 }).isEmpty, "in the first second nobody knows the noise")
        #expect(found(with { for i in 250..<400 { $0[i] += 3 } }).isEmpty, "a step")
        #expect(found(with { for i in 250..<252 { $0[i] += 3 } }).isEmpty, "two samples")
        #expect(
            found(
                with {
                    $0[250] += 3; $0[251] += 1.5
                }
            ).isEmpty, "a decay")
        for period in 3..<40 {
            let waves = with { for i in 250..<400 { $0[i] += 3 * sin(2 * .pi * Double(i - 250) / Double(period)) } }
            // Of waves at a quarter of the rate the first crest looks like one, until the next comes.
            #expect(found(waves).count <= (period == 4 ? 1 : 0), "waves of \(period) samples")
        }
    }
}
