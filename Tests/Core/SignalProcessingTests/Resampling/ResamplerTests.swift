import Foundation
import Testing

@testable import SignalProcessing

@Suite struct ResamplerTests {
    /// Largest error of a sine of unit amplitude, at a frequency relative to the lower of the two Nyquist frequencies.
    private func error(from input: Double, to output: Double, frequency relative: Double) -> Double {
        let frequency = relative * min(input, output) / 2
        var resampler = Resampler(ratio: input / output, chunk: 4096)
        let count = 3000
        for n in 0..<count {
            let t = Double(n) / input
            resampler.push(sin(2 * .pi * frequency * t), cos(2 * .pi * frequency * t), 9.80665)
        }
        var worst = 0.0
        var k = 0
        while true {
            defer { k += 1 }
            let t = Double(k) / output + 0.0001234
            let place = t * input
            let index = Int(place)
            if index < resampler.reach { continue }
            if index + resampler.reach >= count { break }
            let value = resampler.value(at: index, place - Double(index))
            let phase = 2 * .pi * frequency * place / input
            worst = max(worst, abs(value.x - sin(phase)), abs(value.y - cos(phase)), abs(value.z - 9.80665) / 9.80665)
        }
        return worst
    }

    /// The stated error: −90 dB up to 0.8 of the Nyquist frequency.
    @Test(arguments: [
        (96.2, 100.0), (100.3, 100), (104, 100), (99.73, 100), (200, 100), (1024, 1000), (50, 100), (4166, 4000),
        (500, 62.5),
    ]) func theErrorIsAsStated(_ input: Double, _ output: Double) {
        for relative in [0.01, 0.1, 0.3, 0.5, 0.7, 0.8] {
            let found = error(from: input, to: output, frequency: relative)
            #expect(found < 3e-5, "\(relative) of Nyquist: \(20 * log10(found)) dB")
        }
    }

    /// From 1.2 of the output's Nyquist frequency on nothing comes through.
    @Test func nothingIsAliased() {
        for relative in [1.2, 1.5, 1.9] {
            var resampler = Resampler(ratio: 4, chunk: 4096)
            for n in 0..<3000 { resampler.push(sin(.pi * relative / 4 * Double(n) + 0.3), 0, 0) }
            let values = (100..<600).map { resampler.value(at: 4 * $0, 0.4).x }
            #expect((values.map(abs).max() ?? 1) < 3e-5, "\(relative)")
        }
    }

    @Test func aSampleItselfComesBackAtTheSameRate() {
        var resampler = Resampler(ratio: 1, chunk: 200)
        var numbers: [Double] = []
        for n in 0..<100 {
            numbers.append(sin(Double(n * n)))
            resampler.push(numbers[n], -numbers[n], 1)
        }
        for n in 20..<80 {
            let value = resampler.value(at: n, 0)
            #expect(abs(value.x - numbers[n]) < 1e-12 && abs(value.y + numbers[n]) < 1e-12)
        }
    }

    /// Whatever the cuts: one by one, odd, whole.
    @Test(arguments: [1, 7, 64, 500]) func cutsDoNotMatter(_ size: Int) {
        func run(_ size: Int) -> [Double] {
            var resampler = Resampler(ratio: 1.04, chunk: size)
            var values: [Double] = []
            var k = 0
            var pushed = 0
            while pushed < 1000 {
                for _ in 0..<min(size, 1000 - pushed) {
                    resampler.push(sin(Double(pushed) * 0.7), cos(Double(pushed)), 3)
                    pushed += 1
                }
                while true {
                    let place = Double(k) * 1.04 + 0.3
                    guard Int(place) + resampler.reach < resampler.count else { break }
                    let value = resampler.value(at: Int(place), place - Double(Int(place)))
                    values += [value.x, value.y, value.z]
                    k += 1
                }
            }
            return values
        }
        #expect(run(size) == run(1000))
    }

    @Test func theEdgesAreHeld() {
        var resampler = Resampler(ratio: 1, chunk: 50)
        for _ in 0..<50 { resampler.push(2, -3, 9.8) }
        for place in [(0, 0.0), (0, 0.5), (49, 0.0), (48, 0.9)] {
            let value = resampler.value(at: place.0, place.1)
            #expect(abs(value.x - 2) < 1e-12 && abs(value.y + 3) < 1e-12 && abs(value.z - 9.8) < 1e-12)
        }
        resampler.reset()
        #expect(resampler.count == 0 && resampler.value(at: 0, 0) == (0, 0, 0))
    }
}

@Suite struct TimeGridTests {
    @Test func everySecondHasAMomentOfItsOwnAtAWholeRate() {
        for rate in [100.0, 300, 7] {
            let grid = TimeGrid(near: 1_700_000_000_123_456_789, rate: rate)
            for second in [0, 1, 86_400 * 365] {
                #expect(grid.time(second * Int(rate)) == (1_700_000_000 + Int64(second)) * 1_000_000_000)
            }
            #expect(grid.time(1) - grid.time(0) == Int64((1e9 / rate).rounded()))
            for time: Int64 in [1_700_000_000_000_000_000, 1_700_000_000_000_000_001, 1_700_000_012_345_678_901] {
                let index = grid.index(from: time)
                #expect(grid.time(index) >= time && grid.time(index - 1) < time)
            }
        }
    }

    @Test func otherRatesBeginWithASecond() {
        let grid = TimeGrid(near: -1, rate: 62.5)
        #expect(grid.time(0) == -1_000_000_000 && grid.time(125) == 1_000_000_000)
    }
}
