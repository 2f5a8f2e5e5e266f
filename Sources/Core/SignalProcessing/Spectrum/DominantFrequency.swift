#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The strongest frequency of a record of three axes, in parts of bounded work: mean removed, periodic Hann window,
/// padded with zeros to a power of two, Fourier transform, the largest amplitude between a lowest frequency and 0.4 of the
/// rate, and a parabola through the logarithms of it and its neighbours. Of the three axes the one with the largest
/// amplitude counts.
public struct DominantFrequency: Sendable {
    private enum Part { case window, horizontal, horizontalPeaks, vertical, verticalPeaks, done }

    /// Hz; nil when the record has nothing in the band.
    public private(set) var frequency: Double?
    /// The amplitude of a sine of that frequency that gives the same peak, in the samples' unit.
    public private(set) var amplitude = 0.0
    private let rate: Double
    private let lowest: Double
    private let plan: FourierPlan
    private var part = Part.done
    private var count = 0
    private var best = 0.0
    private var window: [Double]
    private var windowed = 0
    private var input: [Double]
    private var output: [Double]

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - longest: the longest record, samples.
    ///   - lowest: Hz.
    public init(rate: Double, longest: Int, lowest: Double) {
        self.rate = rate
        self.lowest = lowest
        var length = 8
        while length < longest { length *= 2 }
        plan = FourierPlan(length: length)
        window = [Double](repeating: 0, count: longest)
        input = [Double](repeating: 0, count: 2 * length)
        output = input
    }

    /// Begins with a record of so many samples.
    public mutating func begin(count: Int) {
        self.count = count
        (frequency, amplitude, best) = (nil, 0, 0)
        part = count == windowed ? .horizontal : .window
    }

    /// Does the next part; true when all is done.
    /// - Parameter copy: writes the record's samples of an axis (0, 1, 2) to a pointer.
    public mutating func step(_ copy: (Int, UnsafeMutablePointer<Double>) -> Void) -> Bool {
        switch part {
        case .window:
            for i in 0..<count { window[i] = 0.5 - 0.5 * cos(2 * Double.pi * Double(i) / Double(count)) }
            windowed = count
            part = .horizontal
        case .horizontal:
            for i in 2 * count..<2 * plan.length { input[i] = 0 }
            load(0, copy, to: 0)
            load(1, copy, to: 1)
            plan.transform(input, &output)
            part = .horizontalPeaks
        case .horizontalPeaks:
            look(sign: 1)
            look(sign: -1)
            part = .vertical
        case .vertical:
            load(2, copy, to: 0)
            for i in 0..<count { input[2 * i + 1] = 0 }
            plan.transform(input, &output)
            part = .verticalPeaks
        case .verticalPeaks:
            look(sign: 1)
            part = .done
        case .done: break
        }
        return part == .done
    }

    private mutating func load(_ axis: Int, _ copy: (Int, UnsafeMutablePointer<Double>) -> Void, to place: Int) {
        copy(axis, &output)
        var sum = 0.0
        for i in 0..<count { sum += output[i] }
        let mean = sum / Double(count)
        for i in 0..<count { input[2 * i + place] = (output[i] - mean) * window[i] }
    }

    /// The squared amplitude of the axis in the real (sign 1) or the imaginary (−1) parts of the input at a frequency.
    @inline(__always)
    private func power(_ k: Int, _ sign: Double) -> Double {
        let mirror = k == 0 ? 0 : plan.length - k
        let re = output[2 * k] + sign * output[2 * mirror]
        let im = output[2 * k + 1] - sign * output[2 * mirror + 1]
        return (re * re + im * im) / 4
    }

    private mutating func look(sign: Double) {
        let n = Double(plan.length)
        let first = max(1, Int((lowest * n / rate).rounded(.up)))
        let last = Int((0.4 * n).rounded(.down))
        var (peak, place) = (best, 0)
        if first <= last {
            for k in first...last {
                let p = power(k, sign)
                if p > peak { (peak, place) = (p, k) }
            }
        }
        guard place > 0 else { return }
        best = peak
        // Logarithms of powers are twice those of amplitudes, and the parabola's place is the same.
        let (below, middle, above) = (power(place - 1, sign), peak, power(place + 1, sign))
        var shift = 0.0
        if below > 0, above > 0 {
            let (a, b, c) = (log(below), log(middle), log(above))
            let curvature = a - 2 * b + c
            if curvature < 0 { shift = min(0.5, max(-0.5, (a - c) / (2 * curvature))) }
        }
        frequency = (Double(place) + shift) * rate / n
        amplitude = 4 * peak.squareRoot() / Double(count) / response(shift * Double(count) / n)
    }

    /// The Hann window's spectrum, 1 at its middle, so many 1/length away from it (at most a half).
    private func response(_ distance: Double) -> Double {
        guard abs(distance) > 1e-6 else { return 1 }
        let x = Double.pi * distance
        return sin(x) / x / (1 - distance * distance)
    }
}
