import Foundation
import Testing

@testable import SignalProcessing

@Suite struct DecimatorTests {
    /// Gain at a frequency in cycles per input sample; real, since the filter is symmetric about its centre.
    private func gain(_ filter: DecimationFilter, _ frequency: Double) -> Double {
        var sum = filter.coefficients[0]
        for n in 1..<filter.coefficients.count {
            sum += 2 * filter.coefficients[n] * cos(2 * .pi * frequency * Double(n))
        }
        return sum
    }

    @Test(arguments: [2, 3, 5, 10, 50, 100])
    func passBandAndStopBandAreAsPromised(factor: Int) {
        let filter = DecimationFilter(factor: factor)
        let nyquist = 0.5 / Double(factor)
        for k in 0...200 {
            let pass = gain(filter, 0.8 * nyquist * Double(k) / 200)
            #expect(abs(20 * log10(abs(pass))) < 0.1)
            let stop = gain(filter, nyquist + (0.5 - nyquist) * Double(k) / 200)
            #expect(20 * log10(abs(stop) + 1e-300) < -80, "\(factor): \(20 * log10(abs(stop)))")
        }
    }

    @Test func aDecimatedTraceLiesOnTheOriginal() {
        let signal = (0..<3000).map { 3 + sin(2 * .pi * 0.021 * Double($0)) }
        var decimator = Decimator(filter: DecimationFilter(factor: 5))
        var out: [Double] = []
        for value in signal { if let y = decimator.push(value) { out.append(y) } }
        for _ in 0..<decimator.filter.halfLength { if let y = decimator.repeatLast() { out.append(y) } }
        #expect(out.count == 600)
        let edge = decimator.filter.halfLength / 5 + 1
        for k in edge..<(600 - edge) { #expect(abs(out[k] - signal[5 * k]) < 2e-4) }
    }

    @Test func aConstantHasNoRamp() {
        var decimator = Decimator(filter: DecimationFilter(factor: 4))
        for _ in 0..<500 {
            if let y = decimator.push(9.80665) { #expect(abs(y - 9.80665) < 1e-13) }
        }
    }

    @Test func factorOneIsTheSignalItself() {
        var decimator = Decimator(filter: DecimationFilter(factor: 1))
        #expect([1.5, -2, 7].map { decimator.push($0) } == [1.5, -2, 7])
    }

    @Test func aResetDecimatorIsLikeANewOne() {
        var noise = Noise(seed: 10)
        let signal = noise.samples(400)
        var decimator = Decimator(filter: DecimationFilter(factor: 3))
        let first = signal.map { decimator.push($0) }
        decimator.reset()
        #expect(signal.map { decimator.push($0) } == first)
    }
}
