import Foundation
import TestSupport
import Testing

@testable import Seismology

@Suite struct JMAIntensityTests {
    private typealias Object = [String: Any]

    private func reference() throws -> Object {
        try #require(try Vectors.json("intensity/jma.json") as? Object)
    }

    private func list(_ key: String) throws -> [Object] { try #require(try reference()[key] as? [Object]) }

    private func number(_ any: Any?) throws -> Double { try #require((any as? NSNumber)?.doubleValue) }

    @Test func weightsAreThoseOfTheReference() throws {
        for entry in try list("filter_gain") {
            let (f, gain) = (try number(entry["f"]), try number(entry["gain"]))
            #expect(abs(JMAIntensity.gain(f) - gain) <= 1e-12 * max(1, gain), "\(f) Hz")
        }
    }

    @Test func reportedValuesAndGradesAreThoseOfTheNotification() throws {
        for entry in try list("class_table") {
            let reported = JMAIntensity.reported(try number(entry["raw"]))
            #expect(abs(reported - (try number(entry["reported"]))) < 1e-12, "\(entry)")
            #expect(IntensityScale.jma.grade(reported) == entry["cls"] as? String, "\(entry)")
        }
        // The agency's own example, Yonago in the Western Tottori earthquake of 2000: a₀ = 127.85 gal is 5.1, 5 upper.
        let yonago = JMAIntensity.reported(JMAIntensity.raw(a0: 1.2785))
        #expect(yonago == 5.1)
        #expect(IntensityScale.jma.grade(yonago) == "5+" && IntensityScale.jma.color(yonago) == "#ff9900")
        #expect(IntensityScale.jma.color(0.4) == nil && IntensityScale.jma.roman(4) == nil)
    }

    private func intensity(_ axes: [[Double]], rate: Double, longest: Int? = nil) -> Double {
        let count = axes[0].count
        var calculation = JMACalculation(rate: rate, longest: longest ?? count)
        calculation.begin(count: count)
        while !calculation.step({ axis, to in to.update(from: axes[axis], count: count) }) {}
        return calculation.raw
    }

    @Test func sinesHaveTheIntensitiesOfTheReference() throws {
        for (i, entry) in try list("sines").enumerated() {
            let (rate, f, amplitude) = (
                try number(entry["fs"]), try number(entry["f"]), try number(entry["amplitude"])
            )
            let n = Int(try number(entry["seconds"]) * rate)
            let still = [Double](repeating: 0, count: n)
            var axes = [still, still, still]
            for k in 0..<n { axes[i % 3][k] = amplitude * sin(2 * .pi * f * Double(k) / rate) }
            let raw = intensity(axes, rate: rate)
            #expect(abs(raw - (try number(entry["intensity_raw"]))) < 1e-9, "\(entry)")
        }
    }

    /// A length that only the chirp can do gives what the plain transform gives, also where it is one of many.
    @Test func anyLengthIsTheDefinition() {
        func axes(_ n: Int) -> [[Double]] {
            var axes: [[Double]] = []
            for axis in 1...3 {
                var x = [Double](repeating: 0, count: n)
                for i in 0..<n {
                    let t = Double(i)
                    x[i] = sin(t * Double(axis) * 0.21) * exp(-t / 200)
                    x[i] += 0.3 * sin(t * t * 1e-3)
                }
                axes.append(x)
            }
            return axes
        }
        let direct = intensity(axes(625), rate: 100)
        #expect(abs(intensity(axes(625), rate: 100, longest: 6000) - direct) < 1e-12)
        // By hand: the same definition as sums over a prime length.
        let n = 307
        var squares = [Double](repeating: 0, count: n)
        for x in axes(n) {
            var y = [Double](repeating: 0, count: n)
            for k in 1...n / 2 {
                var (re, im) = (0.0, 0.0)
                for j in 0..<n {
                    let angle = 2 * Double.pi * Double(j * k % n) / Double(n)
                    re += x[j] * cos(angle)
                    im += x[j] * sin(angle)
                }
                let gain = 2 * JMAIntensity.gain(Double(k) * 100 / Double(n)) / Double(n)
                for j in 0..<n {
                    let angle = 2 * Double.pi * Double(j * k % n) / Double(n)
                    y[j] += gain * (re * cos(angle) + im * sin(angle))
                }
            }
            for j in 0..<n { squares[j] += y[j] * y[j] }
        }
        let a0 = squares.sorted()[n - 30].squareRoot()
        let right = 2 * log10(a0 * 100) + 0.94
        #expect(abs(intensity(axes(n), rate: 100) - right) < 1e-10)
        #expect(abs(intensity(axes(n), rate: 100, longest: 6000) - right) < 1e-10)
    }

    @Test func nothingMovesIsANumber() {
        let still = [Double](repeating: 0, count: 300)
        #expect(abs(intensity([still, still, still], rate: 100) - -9.06) < 1e-9)
        #expect(IntensityScale.jma.grade(-9.1) == "0")
    }
}
